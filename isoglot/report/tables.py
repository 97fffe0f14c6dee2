"""What a study found, in the terminal: what was done to each model, Table 1, then scores by layer."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import HEADING, LINES_OF_RETRIEVAL, agreement_lines
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.layer_series import LayerFigure
from isoglot.report.figures.training_figures import TrainingFigure, structure_figures
from isoglot.report.quantities import mean_and_range
from isoglot.report.sections import Section, sections
from isoglot.report.table_1 import table_1
from isoglot.report.table_1_layout import VERDICT_STYLES, Table1Layout
from isoglot.report.vocabulary import HEADINGS, VocabularyTable, vocabulary_tables
from isoglot.study.conditions import MONOLINGUAL, PAPER_DEPTH, Anchors, Condition, Domain, Segmentation, condition_named
from isoglot.study.scales import Scale

DESCRIPTION = ("Model", "Domain", "BPE merges", "Anchor pts", "Share param.", "Softmax")


def results(
    measurements: Sequence[Measurement], *, scale: Scale, conditions: Sequence[Condition] = ()
) -> RenderableType:
    """Every table of a study, and what they say of the paper's order of conditions."""
    names = dict.fromkeys(each.condition for each in measurements if each.condition != MONOLINGUAL.name)
    shown = [condition_named(name, among=conditions) for name in names]
    parts: list[RenderableType] = [condition_table(shown, scale=scale), ""]
    if (transfer := table_1(measurements)) is not None:
        parts += [Table1Layout(table=transfer), ""]
    for each in vocabulary_tables(measurements):
        parts += [vocabulary_table(each), ""]
    for section in sections(measurements):
        parts += [score_table(section), ""]
        if section.agreements:
            parts.append(Text(HEADING, style="bold"))
            lines = agreement_lines(section.agreements, most=LINES_OF_RETRIEVAL)
            parts += [Text(f"  {line}", style=VERDICT_STYLES[verdict]) for line, verdict in lines]
            parts.append("")
    for moments in structure_figures(measurements):
        parts += [part for table in training_tables(moments) for part in (table, "")]
    for figure in layer_figures(measurements, new_vectors=scale.alignment.new_vectors):
        parts += [layer_table(figure), ""]
    return Group(*parts)


def condition_table(conditions: Sequence[Condition], *, scale: Scale) -> Table:
    """The left half of Table 1: what was done to each model."""
    table = _plain_table("What the languages of a model share")
    for heading in DESCRIPTION:
        table.add_column(heading)
    for condition in conditions:
        table.add_row(condition.label, *described(condition, scale=scale))
    notes = []
    if any(condition.separate.embeddings for condition in conditions):
        notes.append("0*: each language has embeddings of its own, so that no subword is in common.")
    if scale.shape.layers != PAPER_DEPTH:
        notes.append(
            f"Models are named as in the paper, where they have {PAPER_DEPTH} layers; these have {scale.shape.layers}."
        )
    table.caption = "\n".join(notes)
    return table


def vocabulary_table(counted: VocabularyTable) -> Table:
    """What the two languages of each model have in common."""
    table = _plain_table(counted.title)
    table.caption = counted.caption
    _add_columns(table, HEADINGS, counted.lines)
    return table


def score_table(section: Section) -> Table:
    """The right half: one metric of one language pair."""
    of_pair = section.rows
    table = _plain_table(section.title)
    several = "means over seeds, and (lowest-highest) of best; " if len(of_pair[0].best) > 1 else ""
    table.caption = f"{several}untr.: best layer of the same model before training; Δ: best less Default's best"
    if section.chance is not None:
        table.caption += f"; chance {section.chance:.1f}"
    if section.coverage is not None:
        table.caption += f"; {section.coverage:.0f}% of the dictionary's pairs are met in the held-out text"
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
    headings = ("Model", *(f"L{layer}" for layer in range(len(of_pair[0].layers))), "best", "untr.", "Δ")
    _add_columns(table, headings, lines)
    return table


def training_tables(figure: TrainingFigure) -> Iterator[Table]:
    """Structure over training: a column for each update at which a model was kept."""
    for chart in figure.charts:
        table = _plain_table(figure.title)
        table.caption = f"{chart.title}, {chart.y_title}; columns are updates"
        lines = [
            (line.label, *("-" if value is None else f"{value:.{chart.decimals}f}" for value in line.values))
            for line in chart.series
        ]
        _add_columns(table, ("Model", *chart.x_labels), lines)
        yield table


def layer_table(figure: LayerFigure) -> Table:
    """A figure of the paper as numbers."""
    table = _plain_table(figure.title)
    table.caption = "\n".join((*figure.notes, *figure.summary_notes()))
    lines = [(row.label, *figure.texts(row), figure.summary_text(row)) for row in figure.rows]
    headings = ("Model", *(f"L{layer}" for layer in range(figure.num_states)), figure.summary_title)
    _add_columns(table, headings, lines)
    return table


def _add_columns(table: Table, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    for heading, column in zip(headings, zip(*lines, strict=True), strict=True):
        table.add_column(
            heading,
            justify="left" if heading == "Model" else "right",
            style="bold" if heading == "best" else "",
            no_wrap=True,
            # Rather wider than the window than with numbers cut off.
            min_width=max(len(heading), *map(len, column)),
        )
    for line in lines:
        table.add_row(*line)


def _plain_table(title: str) -> Table:
    return Table(
        title=title,
        title_style="bold",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1),
    )


def described(condition: Condition, *, scale: Scale) -> tuple[str, ...]:
    """A condition in the words of Table 1, after its name."""
    separate = condition.separate.at_depth(scale.shape.layers)
    joint = condition.segmentation is Segmentation.JOINT
    own = ["Emb"] if separate.embeddings else []
    own += [layer_names(separate.layers)] if separate.layers else []
    anchors = {Anchors.NATURAL: "all", Anchors.NONE: "0", Anchors.EXTRA: "extra"}[condition.anchors]
    if condition.kept_anchors is not None:
        anchors = f"{100 * condition.kept_anchors.share:g}%"
    return (
        "same" if condition.target_domain is Domain.MAIN else "other",
        _merges(scale.merges) if joint else "/".join([_merges(scale.merges // 2)] * 2),
        "0*" if separate.embeddings else anchors,
        f"Sep {' + '.join(own)}" if own else "all",
        "own" if separate.embeddings else "shared",
    )


def _merges(count: int) -> str:
    """As the paper writes them: "80k"."""
    return f"{count / 1000:g}k" if count >= 1000 else f"{count}"


def layer_names(layers: frozenset[int]) -> str:
    """ "L1-3", or "L2,4" where they do not follow each other."""
    first, last = min(layers), max(layers)
    if layers == frozenset(range(first, last + 1)) and last > first:
        return f"L{first}-{last}"
    return "L" + ",".join(str(layer) for layer in sorted(layers))
