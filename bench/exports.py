"""Exported models on raw Tatoeba lines: ids and hidden states by the code of the model card and ours. One JSON line.

The data folder is ISOGLOT_DATA; without it nothing is measured. Each language has its own small vocabulary and a model
of random weights: neither needs training to show a difference.
"""

# B = lines, L = positions, D = width

import gzip
import json
import logging
import lzma
import os
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import PAD, UNK, build_vocabulary
from isoglot.corpora.words import split_lines
from isoglot.model.cloze import ClozeModel
from isoglot.model.interchange import quiet_transformers
from isoglot.model.interchange.exporting import CARD, write_export
from isoglot.model.interchange.model_card import Origin, model_card
from isoglot.model.interchange.own_model import OwnModel
from isoglot.study.conditions import TableKind
from isoglot.study.languages import default_splitting
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate

TATOEBA = {"en": "deu-eng.eng", "de": "deu-eng.deu", "fr": "fra-eng.fra", "ru": "rus-eng.rus", "zh": "cmn-eng.cmn"}
LINES, LEARNED_LINES, MERGES = 1000, 1000, 2000
WIKIPEDIA_LINES = 20_000
WINDOW = 256


def raw_lines(data: Path, code: str) -> list[str]:
    with gzip.open(data / f"eval/tatoeba/tatoeba.{TATOEBA[code]}.gz", "rt", encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n") for line in islice(file, LINES)]


def wikipedia_lines(data: Path, code: str, *, first: int, end: int) -> list[str]:
    with lzma.open(data / f"text/wiki.{code}.txt.xz", "rt", encoding="utf-8", newline="\n") as file:
        return [line.removesuffix("\n") for line in islice(file, first, end)]


def untrained_model(data: Path, code: str) -> OwnModel:
    words = split_lines(wikipedia_lines(data, code, first=0, end=LEARNED_LINES), default_splitting(code))
    counts = Counter(word for line in words for word in line)
    bpe = learn_bpe(counts, merges=MERGES)
    vocabulary = build_vocabulary(TableKind.JOINT, counts={code: bpe.subword_counts(counts)})
    shape = EncoderShape(
        layers=3,
        width=32,
        heads=2,
        feed_forward=128,
        positions=2 * WINDOW,
        dropout=0.1,
        attention_dropout=0.1,
        norm=NormPlacement.POST,
    )
    torch.manual_seed(0)
    model = ClozeModel(shape, table_sizes={code: vocabulary.size(code)}, separate=Separate(), pad_id=PAD).eval()
    splitting = default_splitting(code)
    return OwnModel(model=model, language=code, bpe=bpe, vocabulary=vocabulary, splitting=splitting, window=WINDOW)


def run_card(folder: Path, lines: Sequence[str]) -> dict[str, Any]:
    """The names that the card's first block of code leaves behind, with these lines for its own."""
    (block, *_) = re.findall(r"```python\n(.*?)```", (folder / CARD).read_text(encoding="utf-8"), flags=re.DOTALL)
    code = block.replace('folder = "."', f"folder = {str(folder)!r}").replace('["A line of text."]', "given")
    names: dict[str, Any] = {"given": lines}
    with torch.no_grad(), quiet_transformers():
        exec(code, names)
    return names


def lines_with_our_ids(own: OwnModel, lines: Sequence[str], ids: Sequence[Sequence[int]]) -> list[bool]:
    """Which lines have the ids of isoglot; those of subwords that no table has are all the unknown symbol's."""
    words = split_lines(lines, own.splitting)
    ours = encoded_sentences(words, language=own.language, bpe=own.bpe, vocabulary=own.vocabulary)
    known = [tuple(id if id < own.table_size else UNK for id in of_line) for of_line in ids]
    return [sentence.ids == of_line for sentence, of_line in zip(ours, known, strict=True)]


@torch.no_grad()
def agreement(own: OwnModel, lines: Sequence[str], *, more: Sequence[str] = ()) -> dict[str, Any]:
    """The export of a model beside the model itself, on raw lines; on more of them the tokenizer alone."""
    origin = Origin(study="bench", condition="none", languages=(own.language,), seed=0, trained_tokens=0)
    with tempfile.TemporaryDirectory() as workdir:
        folder = Path(workdir) / "exported"
        export = write_export(own, folder, card=lambda export: model_card(own, origin=origin, export=export))
        names = run_card(folder, lines)
    token_BL, mask_BL = names["batch"]["input_ids"], names["batch"]["attention_mask"].bool()
    cut = [ids[real].tolist() for ids, real in zip(token_BL, mask_BL, strict=True)]
    same = lines_with_our_ids(own, lines, cut)
    alone, of_more = (names["tokenizer"](list(text), verbose=False)["input_ids"] for text in (lines, more or [""]))
    ours = own.model.encoder.hidden_states(own.known(token_BL), language=own.language)
    theirs = names["output"].hidden_states
    hidden = [(a_BLD - b_BLD)[mask_BL].abs().max() for a_BLD, b_BLD in zip(ours, theirs, strict=True)]
    return {
        "lines": len(lines),
        "same_ids": sum(same),
        "others": [line for line, is_same in zip(lines, same, strict=True) if not is_same],
        "same_ids_of_the_tokenizer_alone": sum(lines_with_our_ids(own, lines, alone)),
        "of_more_lines": [len(more), sum(lines_with_our_ids(own, more or [""], of_more))],
        "hidden_states_differ_by": float(max(hidden)),
        "texts_of_the_export": [export.num_texts, len(export.otherwise)],
    }


def quiet_jieba(folder: str) -> None:
    """Import jieba as the card does, without its warnings and with its cache in a folder that goes away."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.CRITICAL)
    jieba.dt.tmp_dir = folder


def main() -> None:
    data = Path(os.environ.get("ISOGLOT_DATA") or "no-data")
    measured: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        quiet_jieba(folder)
        for code in TATOEBA if (data / "eval/tatoeba").is_dir() else ():
            more = wikipedia_lines(data, code, first=LEARNED_LINES, end=LEARNED_LINES + WIKIPEDIA_LINES)
            measured[code] = agreement(untrained_model(data, code), raw_lines(data, code), more=more)
    print(json.dumps({"bench": "exports", "by_language": measured or "no eval/tatoeba in ISOGLOT_DATA"}))


if __name__ == "__main__":
    main()
