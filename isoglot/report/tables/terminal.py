"""Tables in the terminal: all that a study can name, and every table of what one has found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from textwrap import fill

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.figures.emergence_figures import emergence_figures
from isoglot.report.figures.growth_figures import growth_figures
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.findings.rank_correlation import rank_sentences
from isoglot.report.growth.rows import growths
from isoglot.report.quantities import short_number
from isoglot.report.report_scores import ReportScores
from isoglot.report.tables.condition_words import DESCRIPTION, condition_notes, described, in_words
from isoglot.report.tables.grid import Grid, side_by_side, terminal_table
from isoglot.report.tables.table_1 import POINTS, Table1, task_grid
from isoglot.report.tables.transfer_notes import with_window
from isoglot.report.tables.vocabulary import CAPTION, vocabulary_tables
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL, Condition, condition_named, conditions_in_use
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.languages import LANGUAGES
from isoglot.study.real_text import task_names
from isoglot.study.scales import SCALES, Scale
from isoglot.study.study_file import builtin_study_names, read_study
from isoglot.study.synthetic_languages import Synthetic

# The longest line of prose, and of tasks side by side.
WIDTH = 100
PADDING = 3


def listing() -> Iterator[RenderableType]:
    """Title and table of each kind of name that a study can ask for; and isoglot's own studies."""
    studies = [read_study(name) for name in builtin_study_names()]
    tasks = [task_named(name) for name in task_names()]
    made_up = [language for each in studies if isinstance(each.text, Synthetic) for language in each.text.languages]
    names: Mapping[str, Mapping[str, str]] = {
        "Studies": {
            each.name: f"{'-'.join(each.languages)}, {len(each.conditions)} conditions, scale {each.scale.name}"
            for each in studies
        },
        "Conditions (and anchors-25, for 25% of shared subwords; anchors-25-random; sep-emb-equal; default-own-bias)": {
            each.name: f"{_sentence(in_words(each, scale=SCALES['paper']))} ({each.label}, section {each.section})."
            for each in CONDITIONS.values()
        },
        "Exhibits": EXHIBITS,
        "Tasks": {each.name: f"{each.title}, {each.metric_titles[each.metric]}" for each in tasks},
        "Scales": {name: _scale_in_brief(scale) for name, scale in SCALES.items()},
        "Languages (and any other code; a run says how it finds the words)": {
            code: f"{language.name}, words by {language.splitter.value}" for code, language in LANGUAGES.items()
        },
        "Made-up languages": {
            each.name: f"{each.order.value}, adpositions {each.adpositions.value}, {each.script.value} script"
            for each in made_up
        },
    }
    for title, rows in names.items():
        table = Table.grid(padding=(0, 2))
        for name, text in rows.items():
            table.add_row(f"  {name}", text)
        yield from (Text(title, style="bold"), table)


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _scale_in_brief(scale: Scale) -> str:
    parameters = short_number(scale.shape.num_parameters(table_size=scale.merges))
    return (
        f"{scale.summary}: {scale.shape.layers} layers of {scale.shape.width}, {parameters} parameters with "
        f"{short_number(scale.merges)} subwords, {short_number(scale.tokens)} tokens a model"
    )


def results(scores: ReportScores, *, scale: Scale, conditions: Sequence[Condition] = ()) -> RenderableType:
    """The conditions, Table 1, then scores by layer."""
    with conditions_in_use(conditions):
        return Group(*_results(scores, scale=scale))


def _results(scores: ReportScores, *, scale: Scale) -> list[RenderableType]:
    measurements = scores.measurements
    names = dict.fromkeys(each.condition for each in measurements if each.condition != MONOLINGUAL.name)
    shown = [condition_named(name) for name in names]
    parts: list[RenderableType] = [terminal_table(_condition_grid(shown, scale=scale), numbers_right=False), ""]
    if scores.table_1 is not None:
        parts += _table_1(scores.table_1, window=scale.window)
    for grid in vocabulary_tables(measurements, scale=scale):
        parts += [terminal_table(replace(grid, notes=["; ".join((CAPTION, *grid.notes))])), ""]
    layers = layer_figures(measurements, new_vectors=scale.alignment.new_vectors)
    emergence = (figure for _, figure in emergence_figures(measurements))
    growth = (figure for figure, _ in growth_figures(growths(measurements, scale=scale)))
    for figure in chain(emergence, growth, layers):
        # A column for each layer, or for each moment at which a model was kept.
        for chart in figure.charts:
            unit = chart.x_title.partition(" ")[0]
            notes = [f"{chart.title}, {chart.y_title}; columns are {unit}"] if chart.updates else figure.notes
            parts += [terminal_table(Grid(figure.title, ("Model", *chart.headings), chart.texts, notes)), ""]
    return parts


def _condition_grid(conditions: Sequence[Condition], *, scale: Scale) -> Grid:
    """The left half of Table 1: what was done to each model."""
    lines = [(condition.label, *described(condition, scale=scale)) for condition in conditions]
    notes = [*condition_notes(conditions, scale=scale)]
    return Grid("What the languages of a model share", DESCRIPTION, lines, notes)


def _table_1(table: Table1, *, window: int) -> Iterator[RenderableType]:
    yield Text(table.title, style="bold")
    # Three tasks of three targets are too wide for most windows, and are then shown one below the other.
    grids = [task_grid(scores, table) for scores in table.tasks]
    beside = side_by_side(grids)
    fits = sum(beside.widths) + PADDING * len(beside.widths) <= WIDTH
    for grid in [beside] if fits else grids:
        yield terminal_table(grid.without_empty_baselines())
    for grid in table.leads:
        yield terminal_table(replace(grid, title=f"{grid.title}. {POINTS}"))
    marked = ["In red: transfer dies."] if table.lost else []
    for note in (*with_window(table.notes, window=window), *marked, *rank_sentences(table.ranks)):
        yield Text(fill(note, WIDTH, subsequent_indent="  "))
    yield ""
