"""What a run wrote down each time it looked at its dev text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isoglot.pretraining.run import LOG
from isoglot.store.record import damaged


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One line of a model's log."""

    update: int
    perplexity: Mapping[str, float]
    """Of each language's dev text."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Evaluation:
        return cls(
            update=int(row["update"]),
            perplexity={language: float(value) for language, value in row["perplexity"].items()},
        )


def evaluations(folder: Path) -> list[Evaluation]:
    """Of a finished model, in the order of its updates; none where it was deleted once its scores were known."""
    try:
        lines = (folder / LOG).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    return [_evaluation(line, folder=folder, number=number) for number, line in enumerate(lines, start=1)]


def _evaluation(line: bytes, *, folder: Path, number: int) -> Evaluation:
    try:
        return Evaluation.of(json.loads(line))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(folder / LOG, fault=f"has no evaluation in line {number}", folder=folder) from error


def chosen_evaluation(found: Sequence[Evaluation], *, source: str) -> Evaluation:
    """Of the update whose model speaks for the run: the first with the source language's lowest perplexity."""
    return min(found, key=lambda each: each.perplexity[source])
