"""The log of a finished model: its evaluations, which of them was chosen, and whether it learned anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isoglot.pipeline.stages.scores import Score
from isoglot.pretraining.run import LOG, UNIGRAM

OVER_UNIGRAM = "perplexity_over_unigram"
UNLEARNED_FIX = "train longer, or lower optimization.learning_rate"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One line of a model's log: perplexities of dev text by language."""

    update: int
    perplexity: Mapping[str, float]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Evaluation:
        perplexity = {language: float(value) for language, value in row["perplexity"].items()}
        return cls(update=int(row["update"]), perplexity=perplexity)


def evaluations(folder: Path) -> list[Evaluation]:
    """The log of a finished model; empty where the model was deleted once its scores were known."""
    try:
        lines = (folder / LOG).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    return [Evaluation.of(json.loads(line)) for line in lines]


def chosen_evaluation(rows: Sequence[Evaluation], *, source: str) -> Evaluation:
    """The evaluation of the chosen model: the first with the source language's lowest perplexity."""
    return min(rows, key=lambda each: each.perplexity[source])


def unlearned(folder: Path, *, source: str) -> dict[str, float]:
    """The languages of which a finished model knows no more than how frequent words are.

    With each goes its dev perplexity as a multiple of what frequencies alone give. Older models have no note of that.
    """
    try:
        unigram = json.loads((folder / UNIGRAM).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    chosen = chosen_evaluation(evaluations(folder), source=source).perplexity
    times = {language: chosen[language] / value for language, value in unigram.items()}
    return {language: value for language, value in times.items() if value >= 1}


def unlearned_scores(folder: Path, *, source: str, layer: int | None = None) -> list[Score]:
    """A mark for whoever reads a score of such a model; of a sound model there is nothing to say."""
    found = unlearned(folder, source=source)
    return [Score(metric=OVER_UNIGRAM, layer=layer, language=each, value=times) for each, times in found.items()]
