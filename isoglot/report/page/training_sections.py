"""Sections of training: learning curves by language, and when structure came up."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.seed_notes import seed_notes
from isoglot.report.figures.training_figures import TrainingFigure, learning_curve_figures, structure_figures
from isoglot.report.page import explanations
from isoglot.report.page.figures_beside import Shown, figures_beside
from isoglot.report.page.markup import Html, joined
from isoglot.report.page.number_table import number_table
from isoglot.report.page.section import Section
from isoglot.report.training_curves import Curve


def training_sections(measurements: Sequence[Measurement], curves: Sequence[Curve]) -> Iterator[Section]:
    unfinished = {curve.condition for curve in curves if not curve.is_finished}
    yield from _section(
        list(learning_curve_figures(curves)),
        anchor="learning-curves",
        title="How well did models learn their languages?",
        short_title="Learning curves",
        explanation=explanations.LEARNING_CURVES,
        notes=("Models still in training are shown as far as their last checkpoint.",) if unfinished else (),
    )
    yield from _section(
        list(structure_figures(measurements)),
        anchor="structure-over-training",
        title="When does structure emerge?",
        short_title="Over training",
        explanation=explanations.STRUCTURE,
    )


def _section(
    found: Sequence[TrainingFigure],
    *,
    anchor: str,
    title: str,
    short_title: str,
    explanation: str,
    notes: tuple[str, ...] = (),
) -> Iterator[Section]:
    if found:
        yield Section(
            anchor=anchor,
            title=title,
            short_title=short_title,
            explanation=explanation,
            body=figures_beside(
                [
                    Shown(
                        picture=each.picture,
                        numbers=_tables(each),
                        notes=(*seed_notes(each.has_several), *notes, *each.notes),
                    )
                    for each in found
                ]
            ),
            pictures=tuple(each.picture for each in found),
        )


def _tables(found: TrainingFigure) -> Html:
    return joined(
        number_table(
            ("Updates", *chart.x_labels),
            [
                (line.label, *("-" if value is None else f"{value:.{chart.decimals}f}" for value in line.values))
                for line in chart.series
            ],
            caption=f"{chart.title}: {chart.y_title}",
        )
        for chart in found.charts
    )
