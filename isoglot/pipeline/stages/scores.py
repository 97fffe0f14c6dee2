"""Scores as an artifact keeps them."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

SCORES = "scores.json"


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number of a pair of languages, of one of its languages, of one layer or of one moment of its training."""

    metric: str
    value: float
    layer: int | None = None
    language: str | None = None
    update: int | None = None
    """After which the model was scored, where that is not the one that was chosen."""


def write_scores(folder: Path, scores: Iterable[Score]) -> None:
    rows = [asdict(score) | {"value": round(score.value, 4)} for score in scores]
    for row in rows:
        # Only where there is one: stages that know of none go on writing the bytes they always wrote.
        if row["update"] is None:
            del row["update"]
    (folder / SCORES).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def read_scores(folder: Path) -> list[Score]:
    return [Score(**row) for row in json.loads((folder / SCORES).read_text(encoding="utf-8"))]
