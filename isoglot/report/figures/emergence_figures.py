"""Retrieval with no map as figures by layer, one for each metric and pair of languages."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import LayerFigure, series
from isoglot.report.layer_scores import METRIC_TITLES, Section, sections
from isoglot.study.conditions import label_of


def emergence_figures(measurements: Sequence[Measurement]) -> Iterator[tuple[str, Section, LayerFigure]]:
    """The metric, all that is said of it, and its figure."""
    for section in sections(measurements):
        metric = next(name for name, title in METRIC_TITLES.items() if section.title.startswith(title))
        languages = section.rows[0].languages
        found = (
            series(
                measurements,
                label=label_of(row.condition),
                exhibit=EMERGENCE,
                metric=metric,
                condition=row.condition,
                languages=languages,
            )
            for row in section.rows
        )
        yield (
            metric,
            section,
            LayerFigure(
                name=f"{metric.removesuffix('_p1').replace('_', '-')}.{'-'.join(languages)}",
                title=section.title,
                unit="precision at 1 (%)",
                decimals=1,
                rows=tuple(row for row in found if row is not None),
                summary_title="best",
                summary=lambda row: row.best,
                references=() if section.chance is None else (("chance", section.chance),),
            ),
        )
