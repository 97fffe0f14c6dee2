"""Every table of a study in the terminal: what was done to each model, Table 1, then scores by layer."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from textwrap import fill

from rich.console import Group, RenderableType
from rich.text import Text

from isoglot.report.agreement import HEADING, LINES_OF_RETRIEVAL, agreement_lines, rank_sentences
from isoglot.report.condition_words import DESCRIPTION, described
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.layer_series import LineFigure
from isoglot.report.figures.training_figures import structure_figures
from isoglot.report.grid import DELTA, Grid, side_by_side, terminal_table
from isoglot.report.layer_scores import Section, sections
from isoglot.report.quantities import mean_and_range
from isoglot.report.report_scores import ReportScores
from isoglot.report.table_1 import TRANSFER_HEADING, Table1, task_grid
from isoglot.report.verdicts import Verdict
from isoglot.report.vocabulary import CAPTION, vocabulary_tables
from isoglot.study.conditions import MONOLINGUAL, PAPER_DEPTH, Condition, condition_named
from isoglot.study.scales import Scale

VERDICT_STYLES = {Verdict.AGREES: "green", Verdict.DISAGREES: "red", Verdict.TOO_CLOSE: "yellow"}
WIDTH = 100
"""The longest line of prose, and of tasks side by side."""
PADDING = 3


def results(scores: ReportScores, *, scale: Scale, conditions: Sequence[Condition] = ()) -> RenderableType:
    """Every table of a study, and what they say of the paper's order of conditions."""
    measurements = scores.measurements
    names = dict.fromkeys(each.condition for each in measurements if each.condition != MONOLINGUAL.name)
    shown = [condition_named(name, among=conditions) for name in names]
    parts: list[RenderableType] = [terminal_table(condition_grid(shown, scale=scale), numbers_right=False), ""]
    if scores.table_1 is not None:
        parts += _table_1(scores.table_1)
    parts += _spaced(
        replace(grid, notes=("; ".join((CAPTION, *grid.notes)),)) for grid in vocabulary_tables(measurements)
    )
    for section in sections(measurements):
        parts += _spaced([score_grid(section)])
        if section.agreements:
            lines = agreement_lines(section.agreements, most=LINES_OF_RETRIEVAL)
            parts += [Text(HEADING, style="bold"), *_verdicts(lines), ""]
    layers = layer_figures(measurements, new_vectors=scale.alignment.new_vectors)
    for figure in chain(structure_figures(measurements), layers):
        parts += _spaced(figure_grids(figure))
    return Group(*parts)


def _spaced(grids: Iterable[Grid]) -> Iterator[RenderableType]:
    for grid in grids:
        yield from (terminal_table(grid), "")


def condition_grid(conditions: Sequence[Condition], *, scale: Scale) -> Grid:
    """The left half of Table 1: what was done to each model."""
    notes = []
    if any(condition.separate.embeddings for condition in conditions):
        notes.append("0*: each language has embeddings of its own, so that no subword is in common.")
    if scale.shape.layers != PAPER_DEPTH:
        notes.append(
            f"Models are named as in the paper, where they have {PAPER_DEPTH} layers; these have {scale.shape.layers}."
        )
    lines = [(condition.label, *described(condition, scale=scale)) for condition in conditions]
    return Grid.of_texts("What the languages of a model share", DESCRIPTION, lines, notes=notes)


def score_grid(section: Section) -> Grid:
    """One metric of one language pair."""
    of_pair = section.rows
    several = "means over seeds, and (lowest-highest) of best; " if len(of_pair[0].best) > 1 else ""
    note = f"{several}untr.: best layer of the same model before training; {DELTA}: best less Default's best"
    if section.chance is not None:
        note += f"; chance {section.chance:.1f}"
    if section.coverage is not None:
        note += f"; {section.coverage:.0f}% of the dictionary's pairs are met in the held-out text"
    default = next((row.mean_best for row in of_pair if row.condition == "default"), None)
    lines = [
        (
            condition_named(row.condition).label,
            *(f"{score:.1f}" for score in row.layers),
            mean_and_range(row.best),
            f"{row.mean_untrained_best:.1f}",
            "" if default is None else f"{row.mean_best - default:+.1f}",
        )
        for row in of_pair
    ]
    headings = ("Model", *(f"L{layer}" for layer in range(len(of_pair[0].layers))), "best", "untr.", DELTA)
    return Grid.of_texts(section.title, headings, lines, notes=[note])


def figure_grids(figure: LineFigure) -> Iterator[Grid]:
    """A figure as numbers: a column for each layer, or for each update at which a model was kept."""
    for chart in figure.charts:
        notes = [f"{chart.title}, {chart.y_title}; columns are updates"] if chart.updates else figure.notes
        yield Grid.of_texts(figure.title, ("Model", *chart.headings), chart.texts, notes=notes)


def _table_1(table: Table1) -> Iterator[RenderableType]:
    yield Text(table.title, style="bold")
    grids = [task_grid(scores, table.models) for scores in table.tasks]
    beside = side_by_side(grids)
    fits = sum(beside.widths) + PADDING * len(beside.widths) <= WIDTH
    for grid in [beside] if fits else grids:
        yield terminal_table(grid.without_empty_baselines())
    for note in (*table.notes, "In red: no transfer.", *rank_sentences(table.ranks)):
        yield Text(fill(note, WIDTH, subsequent_indent="  "))
    yield ""
    if table.agreement:
        yield Text(TRANSFER_HEADING, style="bold")
        yield from _verdicts(table.agreement)
        yield ""


def _verdicts(lines: Iterable[tuple[str, Verdict]]) -> Iterator[Text]:
    for line, verdict in lines:
        yield Text(fill(line, WIDTH, initial_indent="  ", subsequent_indent="    "), style=VERDICT_STYLES[verdict])
