"""Sections with figures: transfer (Figure 3), scores by layer (retrieval, Figures 4 to 8), learning curves, growth."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from isoglot.pipeline.cells import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, GROWTH, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.bars import embedding_bars, transfer_picture
from isoglot.report.figures.emergence_figures import emergence_figures
from isoglot.report.figures.growth_figures import growth_figures, growth_picture
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.line_charts import LineFigure, line_picture, on_one_axis
from isoglot.report.figures.similarity_pictures import published_similarity_map, similarity_map, similarity_scatters
from isoglot.report.findings.layer_scores import CENTRED_RETRIEVAL, second_models
from isoglot.report.growth.predictions import Prediction
from isoglot.report.growth.rows import Growth
from isoglot.report.page.section import NONE, Absences, Figure, Section
from isoglot.report.report_scores import ReportScores
from isoglot.report.tables.condition_words import conditions_of
from isoglot.report.training_curves import Curve, learning_curve_figures
from isoglot.study.searches import NewVectors
from isoglot.study.study import Study

UNSEEN = "None of these sentences stands in the text of the main domain that models are trained on."
SAME_WORDS = "Both are asked for the same words, from the first language into the second."
BARS = "A condition has the same colour in every figure; the numbers stand in Table 1."
UNFINISHED = "Models still in training are shown as far as their last checkpoint."


def figure_3_section(study: Study, scores: ReportScores, *, absences: Absences) -> Section | None:
    """The scores of Table 1 as bars."""
    picture = transfer_picture(
        scores.tasks,
        conditions=[condition.name for condition in conditions_of(study, TABLE_1)],
        missing=lambda name, pair, task: absences.get((TABLE_1, name, pair, task), NONE),
    )
    if picture is None:
        return None
    return Section(anchor="figure-3", first=[Figure(picture, notes=[BARS])], has_published=picture.has_published)


def emergence_sections(measurements: Sequence[Measurement], *, is_made_up: bool) -> Iterator[Section]:
    """Retrieval without a map: sentences, then words."""
    for metric, found in groupby(emergence_figures(measurements), key=itemgetter(0)):
        # Sentences of made-up text are known not to be in the training text.
        more = [UNSEEN] if is_made_up and metric == CENTRED_RETRIEVAL else []
        figures = [_figure(each, notes=[*each.notes, *each.seed_notes(), *more]) for _, each in found]
        yield Section(anchor=metric.removesuffix("_p1").replace("_", "-"), figures=figures)


def figure_sections(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[Section]:
    """In the paper's order; after Figure 7, how its CKA goes with the retrieval of Figure 6."""
    all_figures = list(layer_figures(measurements, new_vectors=new_vectors))
    for exhibit in (FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8):
        figures = [each for each in all_figures if each.name.startswith(f"{exhibit}.")]
        if not figures:
            continue
        here = [_figure(each, notes=[*each.notes, *each.seed_notes()]) for each in on_one_axis(figures)]
        section = Section(anchor=exhibit, figures=here, values={"is_picture_in_paper": True})
        if exhibit == FIGURE_4 and (bars := embedding_bars(measurements)) is not None:
            section = replace(section, first=[Figure(bars, notes=[SAME_WORDS])])
        if exhibit != FIGURE_7:
            yield section
            continue
        pairs = dict.fromkeys(each.languages for each in measurements if each.exhibit == FIGURE_7)
        papers, has_our_pairs = published_similarity_map(pairs)
        ours = similarity_map(measurements)
        first = [] if ours is None else [Figure(ours, notes=list(second_models(pairs)))]
        yield replace(
            section,
            template="figure_7.html",
            first=[*first, Figure(papers)],
            values={"has_our_pairs": has_our_pairs},
            has_published=True,
        )
        if scatters := [Figure(picture, notes=notes) for picture, notes in similarity_scatters(measurements)]:
            yield Section(anchor="cka-retrieval", figures=scatters)


def learning_curves_section(curves: Sequence[Curve]) -> Section | None:
    """Perplexity by language and update."""
    unfinished = [] if all(curve.is_finished for curve in curves) else [UNFINISHED]
    figures = [
        _figure(each, notes=[*each.seed_notes(), *unfinished, *each.notes]) for each in learning_curve_figures(curves)
    ]
    return Section(anchor="learning-curves", figures=figures) if figures else None


def growth_section(rows: Sequence[Growth], predicted: Sequence[Prediction]) -> Section | None:
    """Scores by tokens read, where they lead, and where a shorter run led."""
    figures = [
        Figure(
            growth_picture(figure, drawn, predicted=predicted),
            notes=[*figure.seed_notes(), *figure.notes],
            charts=figure.charts,
        )
        for figure, drawn in growth_figures(rows)
    ]
    has_published = any(figure.picture.has_published for figure in figures)
    return Section(anchor=GROWTH, figures=figures, has_published=has_published) if figures else None


def _figure(figure: LineFigure, *, notes: Sequence[str]) -> Figure:
    return Figure(line_picture(figure), notes=notes, charts=figure.charts)
