"""The paper's own numbers: Table 1 and Figure 7, as printed."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from statistics import fmean
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import FIGURE_7, OF_PRIME, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

TITLE_OF_TASK = {"nli": "XNLI", "ner": "NER", "parsing": "Parsing"}
SOURCE, TARGETS = "en", ("fr", "ru", "zh")

# Scores by condition and task, in the order of TARGETS; similarities by pair and kind of model, layer by layer.
_PRINTED = tomllib.loads((files("isoglot.report.findings") / "published.toml").read_text(encoding="utf-8"))
TABLE_1_SCORES: dict[str, dict[str, tuple[float, ...]]] = {
    condition: {task: tuple(scores) for task, scores in of_tasks.items()}
    for condition, of_tasks in _PRINTED["table-1"].items()
}
FIGURE_7_CKA: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    (SOURCE, target): {kind: tuple(by_layer) for kind, by_layer in kinds.items()}
    for target, kinds in _PRINTED["figure-7"].items()
}


def published_delta(condition: str, *, task: str) -> float:
    """The table's delta column: the mean over languages, less that of Default."""
    return fmean(TABLE_1_SCORES[condition][task]) - fmean(TABLE_1_SCORES["default"][task])


def published_score(condition: str, *, task: str, languages: tuple[str, str]) -> float:
    """The paper's score of a pair that it has, or the mean over its pairs."""
    printed = papers_score(condition, task=task, languages=languages)
    return fmean(TABLE_1_SCORES[condition][TITLE_OF_TASK[task]]) if printed is None else printed


def papers_score(condition: str, *, task: str, languages: tuple[str, str]) -> float | None:
    """The score of this very pair and task; None where the paper has no such cell."""
    source, target = languages
    if condition not in TABLE_1_SCORES or task not in TITLE_OF_TASK or source != SOURCE or target not in TARGETS:
        return None
    return TABLE_1_SCORES[condition][TITLE_OF_TASK[task]][TARGETS.index(target)]


def published_measurements() -> Iterator[Measurement]:
    """Table 1 and Figure 7; the other figures are printed without their numbers."""
    place: dict[str, Any]
    blank: dict[str, Any] = {"study": "paper", "task": None, "layer": None, "seed": 0, "stage": ""}
    for condition, of_tasks in TABLE_1_SCORES.items():
        for task, title in TITLE_OF_TASK.items():
            for target, score in zip(TARGETS, of_tasks[title], strict=True):
                place = {"exhibit": TABLE_1, "condition": condition, "languages": (SOURCE, target), "language": target}
                yield Measurement(**blank | place | {"task": task, "metric": task_named(task).metric, "value": score})
    for languages, by_kind in FIGURE_7_CKA.items():
        # There a second English, en', counts as a language of its own.
        bilingual = OF_PRIME if languages[1].endswith(PRIME) else DEFAULT
        for kind, values in by_kind.items():
            place = {"exhibit": FIGURE_7, "languages": languages, "language": languages[1], "metric": "cka"}
            place["condition"] = bilingual.name if kind == "bilingual" else MONOLINGUAL.name
            place["variant"] = UNTRAINED if kind == "untrained" else None
            for layer, value in enumerate(values):
                yield Measurement(**blank | place | {"layer": layer, "value": value})
