"""Measurements as a study might yield them, made up by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import BASELINES, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement

BLANK = Measurement(
    study="mine",
    exhibit="emergence",
    condition="default",
    languages=("ela", "oru"),
    language="oru",
    task=None,
    metric="",
    layer=None,
    seed=0,
    value=0.0,
    stage="0" * 64,
)


def measurement(
    condition: str, value: float, *, languages: tuple[str, str] = BLANK.languages, **fields: Any
) -> Measurement:
    """One number of the target language."""
    return replace(BLANK, condition=condition, value=value, languages=languages, language=languages[1], **fields)


def measured(
    condition: str, by_layer: Sequence[float], *, metric: str = "retrieval_p1", **fields: Any
) -> list[Measurement]:
    """Scores of one model, from layer 0 up."""
    return [measurement(condition, value, metric=metric, layer=layer, **fields) for layer, value in enumerate(by_layer)]


def transferred(
    condition: str, scores: Mapping[str, float], *, task: str = "ner", metric: str = "f1", **fields: Any
) -> list[Measurement]:
    """One metric of one model's zero-shot transfer, by language; with a variant, of a baseline."""
    exhibit = BASELINES if fields.get("variant") else TABLE_1
    return [
        replace(measurement(condition, value, task=task, metric=metric, exhibit=exhibit, **fields), language=language)
        for language, value in scores.items()
    ]


def scored(scores: Mapping[str, float], *, task: str = "ner", target: str = "oru", **fields: Any) -> list[Measurement]:
    """By condition, the score of a task in one target language."""
    kind = {"task": task, "metric": task_named(task).metric, "languages": (BLANK.languages[0], target), **fields}
    return [each for name, score in scores.items() for each in transferred(name, {target: score}, **kind)]


def with_open_gates(found: Sequence[Measurement], *, source: float = 95.0, untrained: float = 0.0) -> list[Measurement]:
    """The same with what a verdict needs: each task learned in the source language, and scored without pretraining."""
    return [
        *found,
        *(
            replace(each, **change)
            for each in found
            if each.exhibit == TABLE_1 and each.task and each.metric == task_named(each.task).metric
            for change in (
                {"language": each.languages[0], "value": source},
                {"exhibit": BASELINES, "variant": UNTRAINED, "value": untrained},
            )
        ),
    ]
