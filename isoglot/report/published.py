"""The paper's own numbers: Table 1 and Figure 7, as printed."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.figures import FIGURE_7, OF_PRIME
from isoglot.pipeline.measurements import Measurement
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME

TITLE_OF_TASK = {"nli": "XNLI", "ner": "NER", "parsing": "Parsing"}
TASKS = tuple(TITLE_OF_TASK.values())
SOURCE, TARGETS = "en", ("fr", "ru", "zh")

# Columns of each task: TARGETS. XNLI is accuracy, NER is F1, Parsing is LAS, all in percent.
TABLE_1_SCORES: dict[str, dict[str, tuple[float, float, float]]] = {
    "default": {"XNLI": (73.6, 68.7, 68.3), "NER": (79.8, 60.9, 63.6), "Parsing": (73.2, 56.6, 28.8)},
    "wiki-cc": {"XNLI": (74.2, 65.8, 66.5), "NER": (74.0, 49.6, 61.9), "Parsing": (71.3, 54.8, 25.2)},
    "no-anchors": {"XNLI": (72.1, 67.5, 67.7), "NER": (74.0, 57.9, 65.0), "Parsing": (72.3, 56.2, 27.4)},
    "default-anchors": {"XNLI": (74.0, 68.1, 68.9), "NER": (76.8, 56.3, 61.2), "Parsing": (73.0, 57.0, 28.3)},
    "extra-anchors": {"XNLI": (74.0, 69.8, 72.1), "NER": (76.1, 59.7, 66.8), "Parsing": (73.3, 56.9, 29.2)},
    "sep-emb": {"XNLI": (72.7, 63.6, 60.8), "NER": (75.5, 57.5, 59.0), "Parsing": (71.7, 54.0, 27.5)},
    "sep-l1-3": {"XNLI": (72.4, 65.0, 63.1), "NER": (74.0, 53.3, 60.8), "Parsing": (69.7, 54.1, 26.4)},
    "sep-l1-6": {"XNLI": (61.9, 43.6, 37.4), "NER": (61.2, 23.7, 3.1), "Parsing": (61.7, 31.6, 12.0)},
    "sep-emb-l1-3": {"XNLI": (69.2, 61.7, 56.4), "NER": (73.8, 46.8, 53.5), "Parsing": (68.2, 53.6, 23.9)},
    "sep-emb-l1-6": {"XNLI": (51.6, 35.8, 34.4), "NER": (56.5, 5.4, 1.0), "Parsing": (50.9, 6.4, 1.5)},
}

# Figure 7: CKA at layers 0 to 8 of models of both languages, of one each, and of the source's with an untrained one.
FIGURE_7_CKA: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {
    ("en", "en-prime"): {
        "bilingual": (0.76, 0.75, 0.74, 0.75, 0.73, 0.69, 0.64, 0.48, 0.55),
        "monolingual": (0.75, 0.77, 0.74, 0.71, 0.66, 0.58, 0.48, 0.24, 0.4),
        "untrained": (0.52, 0.6, 0.58, 0.58, 0.6, 0.52, 0.44, 0.32, 0.3),
    },
    ("en", "fr"): {
        "bilingual": (0.61, 0.74, 0.71, 0.73, 0.73, 0.72, 0.71, 0.67, 0.62),
        "monolingual": (0.65, 0.71, 0.7, 0.7, 0.64, 0.59, 0.5, 0.34, 0.4),
        "untrained": (0.46, 0.55, 0.52, 0.53, 0.55, 0.48, 0.41, 0.31, 0.28),
    },
    ("en", "de"): {
        "bilingual": (0.66, 0.76, 0.72, 0.73, 0.73, 0.74, 0.7, 0.6, 0.64),
        "monolingual": (0.64, 0.7, 0.69, 0.69, 0.63, 0.6, 0.52, 0.39, 0.43),
        "untrained": (0.46, 0.54, 0.52, 0.54, 0.56, 0.49, 0.42, 0.31, 0.28),
    },
    ("en", "ru"): {
        "bilingual": (0.56, 0.67, 0.64, 0.65, 0.65, 0.64, 0.63, 0.6, 0.5),
        "monolingual": (0.56, 0.65, 0.63, 0.64, 0.61, 0.56, 0.5, 0.34, 0.39),
        "untrained": (0.42, 0.5, 0.47, 0.48, 0.5, 0.44, 0.37, 0.29, 0.26),
    },
    ("en", "zh"): {
        "bilingual": (0.56, 0.65, 0.61, 0.59, 0.58, 0.59, 0.57, 0.5, 0.51),
        "monolingual": (0.6, 0.67, 0.65, 0.64, 0.6, 0.56, 0.51, 0.37, 0.4),
        "untrained": (0.44, 0.51, 0.49, 0.5, 0.52, 0.46, 0.39, 0.3, 0.27),
    },
}


def published_delta(condition: str, *, task: str) -> float:
    """The table's delta column: the mean over languages, less that of Default."""
    return fmean(TABLE_1_SCORES[condition][task]) - fmean(TABLE_1_SCORES["default"][task])


def published_order(better: str, worse: str) -> bool:
    """Whether all three tasks put one condition above the other, on the mean over languages."""
    return all(published_delta(better, task=task) > published_delta(worse, task=task) for task in TASKS)


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
