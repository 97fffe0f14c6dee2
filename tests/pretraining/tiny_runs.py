"""Runs of a few updates on two languages of a dozen letters, and a machine for them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream, write_stream
from isoglot.corpora.vocabulary import Vocabulary, build_vocabulary
from isoglot.machine import Machine
from isoglot.pretraining.loop import Trainer, pretrain
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.study.conditions import TableKind
from isoglot.study.scales import NormPlacement, Optimization
from isoglot.study.separate import Separate
from tests.model.tiny_models import tiny_shape
from tests.oracles import text_of

CPU = Machine(device=torch.device("cpu"))
MOMENTS = ("exp_avg", "exp_avg_sq")
LETTERS = {"en": "abcdefghijkl", "fr": "lkjihgfedcba"}
LINES = {"en": 300, "fr": 100}
EVERYTHING = Separate(embeddings=True, layers=frozenset({1, 2}))
RUN = PretrainingRun(
    languages=("en", "fr"),
    separate=Separate(),
    shape=replace(tiny_shape(NormPlacement.PRE), layers=2, width=16, heads=2, feed_forward=32, positions=16),
    optimization=Optimization(learning_rate=5e-3, warmup_updates=2, weight_decay=0.1, clip_norm=1.0),
    window=12,
    batch=8,
    updates=8,
    evaluations=2,
    mask_rate=0.2,
    language_draws=1,
    language_exponent=0.7,
    seed=0,
)


def tiny_run(*, dropout: float = 0.0, learning_rate: float = 5e-3, **changes: Any) -> PretrainingRun:
    return replace(
        RUN,
        shape=replace(RUN.shape, dropout=dropout, attention_dropout=dropout),
        optimization=replace(RUN.optimization, learning_rate=learning_rate),
        **changes,
    )


def lines_of(language: str, *, count: int, seed: int) -> list[list[str]]:
    """Letters in the language's order, from anywhere on: each follows from its neighbours."""
    starts = np.random.default_rng(seed).integers(0, 12, count)
    return [[LETTERS[language][(start + step) % 12] for step in range(7)] for start in starts]


def _texts(kind: TableKind) -> tuple[dict[str, NumberedText], Bpe, Vocabulary]:
    bpe = Bpe(merges=())
    texts = {
        language: text_of(
            {
                Split.TRAIN: lines_of(language, count=count, seed=1),
                Split.DEV: lines_of(language, count=15, seed=2),
                Split.TEST: lines_of(language, count=5, seed=3),
            }
        )
        for language, count in LINES.items()
    }
    counts = {language: bpe.subword_counts(text.word_counts(Split.TRAIN)) for language, text in texts.items()}
    return texts, bpe, build_vocabulary(kind, counts=counts)


def write_streams(folder: Path, *, kind: TableKind = TableKind.JOINT) -> dict[str, TokenStream]:
    texts, bpe, vocabulary = _texts(kind)
    return {
        language: write_stream(folder / language, language=language, text=text, bpe=bpe, vocabulary=vocabulary)
        for language, text in texts.items()
    }


def switchable_texts() -> dict[str, SwitchableText]:
    """The training lines of the streams; in both languages half of the letters translate into one another."""
    texts, bpe, vocabulary = _texts(TableKind.JOINT)
    return {
        language: SwitchableText.of(
            text,
            language=language,
            translations={a: [Translation(language=other, word=b)] for a, b in zip("abcdef", "ghijkl", strict=True)},
            bpe=dict.fromkeys(LINES, bpe),
            vocabulary=vocabulary,
        )
        for (language, text), other in zip(texts.items(), ("fr", "en"), strict=True)
    }


def pretrained(run: PretrainingRun, streams: dict[str, TokenStream], *, folder: Path) -> list[UpdateRecord]:
    """Records of a whole run in this process."""
    folder.mkdir(parents=True, exist_ok=True)
    records: list[UpdateRecord] = []
    pretrain(run, streams, folder=folder, machine=CPU, report=records.extend)
    return records


def trainer_of(run: PretrainingRun, streams: dict[str, TokenStream], **settings: Any) -> Trainer:
    return Trainer(run, streams, **{"machine": CPU, **settings})


def learnt(trainer: Trainer) -> dict[str, list[Tensor]]:
    """Copies of each weight of the model and, once it has been learnt, its moments and its count of updates."""
    optimizer, found = trainer.updates.optimizer, {}
    flat_by_storage = {flat.untyped_storage().data_ptr(): flat for flat in trainer.updates.weights.parameters()}
    for name, weight in trainer.model.named_parameters():
        state = optimizer.state.get(flat_by_storage[weight.untyped_storage().data_ptr()], {})
        own = slice(weight.storage_offset(), weight.storage_offset() + weight.numel())
        moments = [state[moment][own].view_as(weight) for moment in MOMENTS if state]
        counts = [state["step"]] if state else []
        found[name] = [tensor.detach().clone() for tensor in (weight, *moments, *counts)]
    return found
