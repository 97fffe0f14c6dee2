"""Scores as an artifact keeps them."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

SCORES = "scores.json"


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number of a pair of languages, of one of its languages or of one layer."""

    metric: str
    value: float
    layer: int | None = None
    language: str | None = None


def write_scores(folder: Path, scores: Iterable[Score]) -> None:
    rows = [asdict(score) | {"value": round(score.value, 4)} for score in scores]
    (folder / SCORES).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def read_scores(folder: Path) -> list[Score]:
    return [Score(**row) for row in json.loads((folder / SCORES).read_text(encoding="utf-8"))]
