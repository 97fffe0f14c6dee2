"""The places of an exhibit: cells, each filled by the scores of one stage, and gaps where data is missing."""

from __future__ import annotations

from dataclasses import dataclass

from isoglot.store import Stage

EMERGENCE = "emergence"
VOCABULARY = "vocabulary"
WORD_TRANSLATION = "word translation"
"""A part of emergence, which is shown without it where its dictionary is missing."""
TABLE_1 = "table-1"
BASELINES = "baselines"
TRAINING = "training"
UNTRAINED = "untrained"
FROZEN = "untrained-frozen"
"""An untrained encoder that fine-tuning leaves as it is."""
MAPPED = "mapped"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A place in an exhibit; its stage holds several scores."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    stage: Stage
    seed: int | None = None
    task: str | None = None
    variant: str | None = None
    """UNTRAINED, FROZEN or MAPPED; None is the pretrained model as it is."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Cells that stay empty, as the study lacks a file they need."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    reason: str
