"""Sections with figures: transfer (Figure 3), scores by layer (retrieval and Figures 4 to 8), and training."""

from collections.abc import Iterator, Sequence
from functools import partial

from isoglot.pipeline.cells import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import HEADING, LINES_OF_RETRIEVAL, agreement_lines
from isoglot.report.condition_words import conditions_of
from isoglot.report.figures.bars import embedding_bars, transfer_picture
from isoglot.report.figures.layer_figures import emergence_figures, layer_figures
from isoglot.report.figures.layer_series import LayerFigure, pairs_of, second_models, seed_notes
from isoglot.report.figures.pictures import (
    layer_picture,
    published_similarity_map,
    similarity_map,
    similarity_scatters,
)
from isoglot.report.figures.training_figures import TrainingFigure, learning_curve_figures, structure_figures
from isoglot.report.layer_scores import METRIC_TITLES, RETRIEVAL
from isoglot.report.layer_scores import Section as Scores
from isoglot.report.page.section import Absences, Block, Figure, Folded, Group, Listing, Section, Table, Text, beside
from isoglot.report.quantities import mean_and_range
from isoglot.report.report_scores import ReportScores
from isoglot.report.training_curves import Curve
from isoglot.study.conditions import condition_named
from isoglot.study.searches import NewVectors
from isoglot.study.study import Study

UNSEEN = "None of these sentences stands in the text of the main domain that models are trained on."
BOTH_WAYS = "Both are asked for the same words, from the first language into the second; back: the other way."
AS_PICTURE = "The paper gives this figure as a picture alone; its values are left out here, not guessed."
BARS = "A condition has the same colour in every figure; the numbers stand in Table 1."
UNFINISHED = "Models still in training are shown as far as their last checkpoint."


def figure_3_section(study: Study, scores: ReportScores, *, absences: Absences) -> Section | None:
    """The scores of Table 1 as bars."""
    picture = transfer_picture(
        scores.tasks,
        conditions=[condition.name for condition in conditions_of(study, TABLE_1)],
        missing=partial(absences.why, TABLE_1),
    )
    if picture is None:
        return None
    return Section(anchor="figure-3", blocks=[Figure(picture, notes=[BARS])], has_published=picture.has_published)


def emergence_sections(measurements: Sequence[Measurement], *, is_made_up: bool) -> Iterator[Section]:
    """Sentences, then words; sentences of made-up text are known not to be in the training text."""
    figures = list(emergence_figures(measurements))
    for metric in METRIC_TITLES:
        is_unseen = is_made_up and metric == RETRIEVAL
        here = [
            Figure(
                layer_picture(drawn),
                notes=[*_seed_notes(drawn), *_score_notes(scores), *([UNSEEN] if is_unseen else [])],
                numbers=[_score_table(scores)],
                below=list(_order(scores)),
            )
            for of_metric, scores, drawn in figures
            if of_metric == metric
        ]
        if here:
            yield Section(
                anchor=metric.removesuffix("_p1").replace("_", "-"),
                blocks=list(beside(here)),
            )


def figure_sections(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[Section]:
    """In the paper's order; after Figure 7, how its CKA goes with the retrieval of Figure 6."""
    all_figures = list(layer_figures(measurements, new_vectors=new_vectors))
    for exhibit in (FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8):
        here = [each for each in all_figures if each.name.startswith(f"{exhibit}.")]
        if not here:
            continue
        # Pairs of languages are compared by eye, which takes one axis.
        room = max(each.highest for each in here)
        charts = list(
            beside(
                [
                    Figure(layer_picture(each, room=room), notes=list(_layer_notes(each)), numbers=[_layer_table(each)])
                    for each in here
                ]
            )
        )
        blocks: list[Block] = [*charts, Text(AS_PICTURE, "remark")]
        if exhibit == FIGURE_4 and (bars := embedding_bars(measurements)) is not None:
            blocks.insert(0, Figure(bars, notes=[BOTH_WAYS]))
        if exhibit == FIGURE_7 and (cka_map := similarity_map(measurements)) is not None:
            pairs = pairs_of(measurements, FIGURE_7)
            papers, has_our_pairs = published_similarity_map(pairs)
            papers_map: Block = Figure(papers)
            if not has_our_pairs:
                papers_map = Folded("The paper's own, of other languages", [papers_map])
            blocks = [
                Figure(cka_map, notes=list(second_models(pairs))),
                Group([papers_map], "published"),
                Folded("Line by line: every kind of model", charts),
            ]
        yield Section(anchor=exhibit, blocks=blocks, has_published=exhibit == FIGURE_7)
        if exhibit == FIGURE_7 and (scatters := list(similarity_scatters(measurements))):
            yield Section(
                anchor="cka-retrieval",
                blocks=list(beside([Figure(each.picture, notes=each.notes) for each in scatters])),
            )


def training_sections(measurements: Sequence[Measurement], curves: Sequence[Curve]) -> Iterator[Section]:
    """Learning curves by language, and when structure came up."""
    notes = [] if all(curve.is_finished for curve in curves) else [UNFINISHED]
    if learned := list(learning_curve_figures(curves)):
        yield Section(
            anchor="learning-curves", blocks=list(beside([_training_figure(each, notes=notes) for each in learned]))
        )
    if emerged := list(structure_figures(measurements)):
        yield Section(
            anchor="structure-over-training", blocks=list(beside([_training_figure(each) for each in emerged]))
        )


def _training_figure(figure: TrainingFigure, *, notes: Sequence[str] = ()) -> Figure:
    tables = [
        Table(
            headings=("Updates", *chart.x_labels),
            lines=[
                (line.label, *("-" if value is None else f"{value:.{chart.decimals}f}" for value in line.values))
                for line in chart.series
            ],
            caption=f"{chart.title}: {chart.y_title}",
        )
        for chart in figure.charts
    ]
    return Figure(figure.picture, notes=[*seed_notes(figure.has_several), *notes, *figure.notes], numbers=tables)


def _layer_notes(figure: LayerFigure) -> Iterator[str]:
    yield from figure.notes
    yield from figure.summary_notes()
    yield from _seed_notes(figure)


def _seed_notes(figure: LayerFigure) -> Iterator[str]:
    return seed_notes({row.label: any(row.ranges) for row in figure.rows if not row.is_published})


def _score_notes(scores: Scores) -> Iterator[str]:
    if scores.chance is not None:
        yield f"Chance is {scores.chance:.1f}%."
    if scores.coverage is not None:
        yield f"{scores.coverage:.0f}% of the dictionary's pairs are met in the held-out text."


def _order(scores: Scores) -> Iterator[Block]:
    if scores.agreements:
        sentences = [line for line, _ in agreement_lines(scores.agreements, most=LINES_OF_RETRIEVAL)]
        yield Folded("Is the order of conditions that of the paper?", [Text(HEADING), Listing(sentences)])


def _score_table(scores: Scores) -> Table:
    lines = [
        (
            condition_named(row.condition).label,
            *(f"{score:.1f}" for score in row.layers),
            mean_and_range(row.best),
            f"{row.mean_untrained_best:.1f}",
        )
        for row in scores.rows
    ]
    layers = [f"L{layer}" for layer in range(len(scores.rows[0].layers))]
    headings = ("Model", *layers, "best", "before training")
    return Table(headings=headings, lines=lines, caption="Precision at 1 in percent, by layer")


def _layer_table(figure: LayerFigure) -> Table:
    return Table(
        headings=["Model", *(f"L{layer}" for layer in range(figure.num_states)), figure.summary_title],
        lines=[(row.label, *figure.texts(row), figure.summary_text(row)) for row in figure.rows],
        caption=f"{figure.unit[:1].upper()}{figure.unit[1:]}, by layer",
        published=frozenset(place for place, row in enumerate(figure.rows) if row.is_published),
    )
