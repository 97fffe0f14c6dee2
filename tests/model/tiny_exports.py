"""Models of a few thousand random weights, with vocabularies and BPE of a few words, ready to export."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import UNK, Vocabulary, build_vocabulary
from isoglot.model.interchange.own_model import OwnModel, token_names
from isoglot.model.interchange.tokenizer_files import write_tokenizer
from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import ALL_SHARED, Separate
from tests.model.tiny_models import tiny_model, tiny_shape

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import AutoTokenizer

TEXTS = {
    language: line.split()
    for language, line in {
        "en": "the theme of the thesis is there then the others bathe in the weather",
        "fr": "le thème de la thèse est là et les autres se baignent par ce temps the théâtre",
    }.items()
}
WHITESPACE = WordSplitting(splitter=Splitter.WHITESPACE, language="fr")


def learned(texts: Mapping[str, Sequence[str]], *, kind: TableKind, merges: int) -> tuple[dict[str, Bpe], Vocabulary]:
    """As the conditions do: one BPE for a joint table, one for each language otherwise."""
    counts = {language: Counter(words) for language, words in texts.items()}
    if kind is TableKind.JOINT:
        bpe = dict.fromkeys(texts, learn_bpe(sum(counts.values(), Counter()), merges=merges))
    else:
        bpe = {language: learn_bpe(words, merges=merges) for language, words in counts.items()}
    kept = KeptAnchors(share=0.5, order=AnchorOrder.FREQUENT) if kind is TableKind.PARTIAL else None
    subwords = {language: bpe[language].subword_counts(words) for language, words in counts.items()}
    return bpe, build_vocabulary(kind, counts=subwords, kept=kept)


def own_model(
    norm: NormPlacement,
    *,
    language: str = "fr",
    separate: Separate = ALL_SHARED,
    kind: TableKind = TableKind.UNION,
    splitting: WordSplitting = WHITESPACE,
    texts: Mapping[str, Sequence[str]] = TEXTS,
) -> OwnModel:
    bpe, vocabulary = learned(texts, kind=TableKind.SEPARATE if separate.embeddings else kind, merges=12)
    model = tiny_model(
        tiny_shape(norm, dropout=0.3),
        separate=separate,
        table_sizes={each: vocabulary.size(each) for each in texts},
    )
    return OwnModel(
        model=model, language=language, bpe=bpe[language], vocabulary=vocabulary, splitting=splitting, window=8
    )


def exported(language: str, *, bpe: Bpe, vocabulary: Vocabulary, splitting: WordSplitting = WHITESPACE) -> Any:
    with TemporaryDirectory() as folder:
        names = token_names(language, bpe=bpe, vocabulary=vocabulary)
        assert len(set(names)) == len(names)
        write_tokenizer(Path(folder), names=names, bpe=bpe, splitting=splitting, window=77)
        return AutoTokenizer.from_pretrained(folder)


def check_same_ids(
    lines: Sequence[Sequence[str]], *, language: str, bpe: Bpe, vocabulary: Vocabulary, tokenizer: Any
) -> None:
    sentences = encoded_sentences(lines, language=language, bpe=bpe, vocabulary=vocabulary)
    ours = [list(sentence.ids) for sentence in sentences]
    spaced = tokenizer([" ".join(words) for words in lines], split_special_tokens=True)["input_ids"]
    as_words = tokenizer([list(words) for words in lines], is_split_into_words=True, split_special_tokens=True)
    size = vocabulary.size(language)
    for theirs in (spaced, as_words["input_ids"]):
        # What the model does not know has ids after its table, one for each spelling.
        assert [[id if id < size else UNK for id in ids] for ids in theirs] == ours
