"""Figures 5 and 8: transfer of tasks from every frozen layer, by a map or without."""

from collections.abc import Iterator, Sequence

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED
from isoglot.pipeline.figures import FIGURE_5
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import LayerFigure, Series, pair_title, pairs_of, series
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, label_of
from isoglot.study.searches import NewVectors

ROWS = (
    ("Monolingual, mapped", MONOLINGUAL.name, MAPPED),
    ("Default, both languages in one model", DEFAULT.name, ""),
    ("Default, mapped as well", DEFAULT.name, MAPPED),
)


def layer_transfer_figures(
    measurements: Sequence[Measurement], *, exhibit: str, new_vectors: NewVectors
) -> Iterator[LayerFigure]:
    here = [each for each in measurements if each.exhibit == exhibit]
    for languages in pairs_of(here, exhibit):
        for task in dict.fromkeys(each.task for each in here if each.languages == languages and each.task):
            rows = tuple(_rows(here, exhibit=exhibit, task=task, languages=languages))
            if rows:
                title = task_named(task).title
                number = "5" if exhibit == FIGURE_5 else "8"
                yield LayerFigure(
                    name=f"{exhibit}.{task}.{'-'.join(languages)}",
                    title=f"Figure {number}: {title} transfer from each frozen layer ({pair_title(languages)})",
                    unit=f"{task_named(task).metric_titles[task_named(task).metric]} (%)",
                    decimals=1,
                    rows=rows,
                    summary_title="best",
                    summary=lambda row: row.best,
                    notes=(
                        "New layers and the task's own were trained on each frozen layer of the source's model. States "
                        f"are mapped {new_vectors.value}.",
                    ),
                )


def _rows(
    measurements: Sequence[Measurement], *, exhibit: str, task: str, languages: tuple[str, str]
) -> Iterator[Series]:
    """The target's scores, and the source's own for what could be had at best."""
    for language in reversed(languages):
        for label, condition, suffix in ROWS:
            row = series(
                measurements,
                label=label if language == languages[1] else f"{label_of(condition)}, {language} itself",
                exhibit=exhibit,
                metric=task_named(task).metric + suffix,
                condition=condition,
                languages=languages,
                task=task,
                language=language,
            )
            # A map changes nothing of what the source's model says of the source.
            if row is not None and (language == languages[1] or (condition, suffix) != ROWS[2][1:]):
                yield row
