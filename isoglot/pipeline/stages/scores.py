"""Scores as an artifact keeps them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

SCORES = "scores.json"


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number of a language pair, one language, one layer or one moment of training."""

    metric: str
    value: float
    layer: int | None = None
    language: str | None = None
    update: int | None = None  # the update of the scored model, where it is not the chosen one


def scores_of(values: Mapping[str, float], *, layer: int | None = None, language: str | None = None) -> list[Score]:
    """One score for each metric, all of one layer and language."""
    return [Score(metric=metric, value=value, layer=layer, language=language) for metric, value in values.items()]


def write_scores(folder: Path, scores: Iterable[Score]) -> None:
    rows = [asdict(score) | {"value": round(score.value, 4)} for score in scores]
    for row in rows:
        # Stages without updates keep writing the bytes they wrote before this field existed.
        if row["update"] is None:
            del row["update"]
    (folder / SCORES).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def read_scores(folder: Path) -> list[Score]:
    return [Score(**row) for row in json.loads((folder / SCORES).read_text(encoding="utf-8"))]
