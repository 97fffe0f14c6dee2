"""The numbers that the paper prints, as if a study had measured them: what its own claims are held against."""

from collections.abc import Iterator

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.figures import FIGURE_7, OF_PRIME
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import FIGURE_7_CKA, SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME


def published_measurements() -> Iterator[Measurement]:
    """Table 1 and Figure 7; the other figures are printed without their numbers."""
    for condition, of_tasks in TABLE_1_SCORES.items():
        for task, title in TITLE_OF_TASK.items():
            for target, score in zip(TARGETS, of_tasks[title], strict=True):
                yield _printed(
                    TABLE_1, condition, (SOURCE, target), task_named(task).metric, score, task=task, layer=None
                )
    for languages, by_kind in FIGURE_7_CKA.items():
        bilingual = OF_PRIME if languages[1].endswith(PRIME) else DEFAULT
        kinds = {
            "bilingual": (bilingual.name, "cka"),
            "monolingual": (MONOLINGUAL.name, "cka"),
            "untrained": (MONOLINGUAL.name, "cka" + UNTRAINED),
        }
        for kind, values in by_kind.items():
            condition, metric = kinds[kind]
            for layer, value in enumerate(values):
                yield _printed(FIGURE_7, condition, languages, metric, value, task=None, layer=layer)


def _printed(
    exhibit: str,
    condition: str,
    languages: tuple[str, str],
    metric: str,
    value: float,
    *,
    task: str | None,
    layer: int | None,
) -> Measurement:
    return Measurement(
        study="paper",
        exhibit=exhibit,
        condition=condition,
        languages=languages,
        language=languages[1],
        task=task,
        metric=metric,
        layer=layer,
        seed=0,
        value=value,
        stage="",
    )
