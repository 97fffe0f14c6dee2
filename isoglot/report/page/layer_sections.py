"""Sections of scores by layer: Figures 4 to 8, retrieval with no map, and CKA against retrieval."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import HEADING, LINES_OF_RETRIEVAL, agreement_lines
from isoglot.report.figures.embedding_bars import embedding_bars
from isoglot.report.figures.emergence_figures import emergence_figures
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.layer_series import LayerFigure, pairs_of, second_models
from isoglot.report.figures.pictures import layer_picture, published_similarity_map, similarity_map
from isoglot.report.figures.seed_notes import seed_notes
from isoglot.report.figures.similarity_scatter import similarity_scatters
from isoglot.report.layer_scores import RETRIEVAL
from isoglot.report.layer_scores import Section as Scores
from isoglot.report.page import explanations
from isoglot.report.page.figure import figure
from isoglot.report.page.figures_beside import Shown, figures_beside
from isoglot.report.page.markup import Html, folded, joined, listed, tag
from isoglot.report.page.number_table import number_table
from isoglot.report.page.section import Section
from isoglot.report.quantities import mean_and_range
from isoglot.study.conditions import condition_named
from isoglot.study.searches import NewVectors

TITLES = {
    FIGURE_4: ("Figure 4: words of two models, after a map", "Figure 4", explanations.FIGURE_4),
    FIGURE_5: ("Figure 5: tasks from each layer, after a map", "Figure 5", explanations.FIGURE_5),
    FIGURE_6: ("Figure 6: sentences of two models, after a map", "Figure 6", explanations.FIGURE_6),
    FIGURE_7: ("Figure 7: how alike models are inside", "Figure 7", explanations.FIGURE_7),
    FIGURE_8: ("Figure 8: tasks from each layer, models of both mapped as well", "Figure 8", explanations.FIGURE_8),
}
UNSEEN = "None of these sentences stands in the text of the main domain that models are trained on."
BOTH_WAYS = "Both are asked for the same words, from the first language into the second; back: the other way."
AS_PICTURE = "The paper gives this figure as a picture alone; its values are left out here, not guessed."


def emergence_sections(measurements: Sequence[Measurement], *, is_made_up: bool) -> Iterator[Section]:
    """Sentences, then words; of text that is made up it is known that none of them was trained on."""
    titles = {
        RETRIEVAL: ("Do sentences find their translations?", "Retrieval", explanations.EMERGENCE),
        "word_translation_p1": ("Do words find their translations?", "Words", explanations.WORD_TRANSLATION),
    }
    found = list(emergence_figures(measurements))
    for metric, (title, short_title, explanation) in titles.items():
        here = [(scores, drawn) for of_metric, scores, drawn in found if of_metric == metric]
        if here:
            yield Section(
                anchor=metric.removesuffix("_p1").replace("_", "-"),
                title=title,
                short_title=short_title,
                explanation=explanation,
                body=figures_beside(
                    [_emergence(scores, drawn, is_unseen=is_made_up and metric == RETRIEVAL) for scores, drawn in here]
                ),
                pictures=tuple(layer_picture(drawn) for _, drawn in here),
            )


def figure_sections(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[Section]:
    """In the paper's order; after Figure 7, how its CKA goes with the retrieval of Figure 6."""
    drawn = list(layer_figures(measurements, new_vectors=new_vectors))
    for exhibit, (title, short_title, explanation) in TITLES.items():
        here = [each for each in drawn if each.name.startswith(f"{exhibit}.")]
        if not here:
            continue
        # Pairs of languages are held against each other by eye, which takes one axis.
        room = max(each.highest for each in here)
        pictures = [layer_picture(each, room=room) for each in here]
        charts = figures_beside(
            [
                Shown(picture=picture, numbers=_layer_table(each), notes=tuple(_notes_of_layers(each)))
                for picture, each in zip(pictures, here, strict=True)
            ]
        )
        body = [charts, tag("p", AS_PICTURE, class_="remark")]
        if exhibit == FIGURE_4 and (bars := embedding_bars(measurements)) is not None:
            pictures.insert(0, bars)
            body.insert(0, figure(bars, notes=(BOTH_WAYS,)))
        if exhibit == FIGURE_7 and (map_ := similarity_map(measurements)) is not None:
            pairs = pairs_of(measurements, FIGURE_7)
            papers = published_similarity_map(pairs)
            pictures += [map_, papers.picture]
            lines = folded("Line by line: every kind of model", charts)
            beside = figure(papers.picture)
            beside = beside if papers.has_our_pairs else folded("The paper's own, of other languages", beside)
            body = [figure(map_, notes=tuple(second_models(pairs))), tag("div", beside, class_="published"), lines]
        yield Section(
            anchor=exhibit,
            title=title,
            short_title=short_title,
            explanation=explanation,
            body=joined(body),
            pictures=tuple(pictures),
            has_published=exhibit == FIGURE_7,
        )
        if exhibit == FIGURE_7:
            yield from _scatter_section(measurements)


def _scatter_section(measurements: Sequence[Measurement]) -> Iterator[Section]:
    found = list(similarity_scatters(measurements))
    if found:
        yield Section(
            anchor="cka-retrieval",
            title="Does likeness foretell retrieval?",
            short_title="CKA and retrieval",
            explanation=explanations.SCATTER,
            body=figures_beside([Shown(picture=each.picture, notes=each.notes) for each in found]),
            pictures=tuple(each.picture for each in found),
        )


def _emergence(scores: Scores, drawn: LayerFigure, *, is_unseen: bool) -> Shown:
    return Shown(
        picture=layer_picture(drawn),
        numbers=_score_table(scores),
        notes=(*_notes_of_seeds(drawn), *_notes(scores), *((UNSEEN,) if is_unseen else ())),
        below=joined(_order(scores)),
    )


def _notes_of_layers(drawn: LayerFigure) -> Iterator[str]:
    yield from drawn.notes
    yield from drawn.summary_notes()
    yield from _notes_of_seeds(drawn)


def _notes_of_seeds(drawn: LayerFigure) -> Iterator[str]:
    return seed_notes({row.label: any(row.ranges) for row in drawn.rows if not row.is_published})


def _notes(scores: Scores) -> Iterator[str]:
    if scores.chance is not None:
        yield f"Chance is {scores.chance:.1f}%."
    if scores.coverage is not None:
        yield f"{scores.coverage:.0f}% of the dictionary's pairs are met in the held-out text."


def _order(scores: Scores) -> Iterator[Html]:
    if not scores.agreements:
        return
    sentences = listed([line for line, _ in agreement_lines(scores.agreements, most=LINES_OF_RETRIEVAL)])
    yield folded("Is the order of conditions that of the paper?", tag("p", HEADING), sentences)


def _score_table(scores: Scores) -> Html:
    layers = [f"L{layer}" for layer in range(len(scores.rows[0].layers))]
    lines = [
        (
            condition_named(row.condition).label,
            *(f"{score:.1f}" for score in row.layers),
            mean_and_range(row.best),
            f"{row.mean_untrained_best:.1f}",
        )
        for row in scores.rows
    ]
    headings = ("Model", *layers, "best", "before training")
    return number_table(headings, lines, caption="Precision at 1 in percent, by layer")


def _layer_table(drawn: LayerFigure) -> Html:
    headings = ["Model", *(f"L{layer}" for layer in range(drawn.num_states)), drawn.summary_title]
    lines = [(row.label, *drawn.texts(row), drawn.summary_text(row)) for row in drawn.rows]
    published = frozenset(place for place, row in enumerate(drawn.rows) if row.is_published)
    return number_table(
        headings, lines, caption=f"{drawn.unit[:1].upper()}{drawn.unit[1:]}, by layer", published=published
    )
