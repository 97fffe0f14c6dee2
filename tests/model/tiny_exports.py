"""Models of a few thousand random weights, with vocabularies and BPE of a few words, ready to export."""

from collections import Counter
from collections.abc import Mapping, Sequence

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.vocabulary import Vocabulary, build_vocabulary
from isoglot.model.interchange.own_model import OwnModel
from isoglot.study.conditions import AnchorOrder, KeptAnchors, Separate, TableKind
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import NormPlacement
from tests.model.tiny_models import EVERYTHING, tiny_model, tiny_shape

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
    is_separate: bool = False,
    kind: TableKind = TableKind.UNION,
    splitting: WordSplitting = WHITESPACE,
) -> OwnModel:
    bpe, vocabulary = learned(TEXTS, kind=TableKind.SEPARATE if is_separate else kind, merges=12)
    model = tiny_model(
        tiny_shape(norm, dropout=0.3),
        separate=EVERYTHING if is_separate else Separate(),
        table_sizes={each: vocabulary.size(each) for each in TEXTS},
    )
    return OwnModel(
        model=model, language=language, bpe=bpe[language], vocabulary=vocabulary, splitting=splitting, window=8
    )
