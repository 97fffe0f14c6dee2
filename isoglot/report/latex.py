"""Table 1 for a paper: a LaTeX table that needs no package."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from isoglot.report.condition_words import GROUPS
from isoglot.report.table_1 import DELTA, Table1, TaskColumns
from isoglot.report.transfer_scores import Model
from isoglot.study.conditions import condition_named

WIDTH_POINTS = 345
"""Of a line of the article class."""
SEPARATION_POINTS = 2.5
# How wide a character is, in points.
SIZES = {"small": 4.6, "footnotesize": 4.25, "scriptsize": 3.9, "tiny": 3.1}
SIZES_SIDE_BY_SIDE = ("small", "footnotesize", "scriptsize")
UNTRAINED_HEADING = "Never pretrained"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # At the start of a row it would be the argument of the line break before.
    **{character: f"{{{character}}}" for character in "[]*"},
    DELTA: r"$\Delta$",
    # In text it would be of a font that plain installations must draw first.
    "§": r"$\S$",
}


def latex_table(table: Table1) -> str:
    """A table environment, for \\input in any document; one for each task where a line is too short for all."""
    size = next((name for name in SIZES if _fits(table.tasks, table.models, size=name)), None)
    if size in SIZES_SIDE_BY_SIDE:
        panels = [table.tasks]
    else:
        panels = [(task,) for task in table.tasks]
        size = next((name for name in SIZES if all(_fits(each, table.models, size=name) for each in panels)), "tiny")
    lines = ["% Table 1 of a study, written by isoglot: put it where you want it with \\input. It needs no package."]
    for place, tasks in enumerate(panels):
        is_alone = len(panels) == 1
        title = _title(table) if is_alone else f"{_title(table)}: {tasks[0].title}"
        caption = f"{title}." + ("" if place else _notes(table))
        lines += [
            r"\begin{table}",
            r"\centering",
            rf"\{size}",
            rf"\setlength{{\tabcolsep}}{{{SEPARATION_POINTS}pt}}",
            r"\renewcommand{\arraystretch}{1.15}",
            *_tabular(table.models_of(tasks), tasks),
            rf"\caption[{escaped(title)}]{{{escaped(caption)}}}",
            rf"\label{{tab:transfer{'' if is_alone else f'-{tasks[0].name}'}}}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX prints it, whatever characters it has."""
    return "".join(SPECIAL.get(character, character) for character in text)


def _title(table: Table1) -> str:
    """LaTeX numbers its tables itself."""
    title = table.title.removeprefix("Table 1: ")
    return title[:1].upper() + title[1:]


def _notes(table: Table1) -> str:
    is_lost = any(task.lost for task in table.tasks)
    return "".join(f" {each}" for each in (*table.notes, *(["In italics: no transfer."] if is_lost else [])))


def _tabular(models: Sequence[Model], tasks: Sequence[TaskColumns]) -> Iterator[str]:
    num_columns = 1 + sum(len(task.headings) for task in tasks)
    # Tasks stand apart, and so does the source's own score.
    columns = "".join(r"@{\qquad}" + "r" * (len(task.headings) - 1) + r"@{\quad}r" for task in tasks)
    yield rf"\begin{{tabular}}{{l{columns}}}"
    yield r"\hline"
    spans = [rf"\multicolumn{{{len(task.headings)}}}{{c}}{{{escaped(task.title)}}}" for task in tasks]
    yield _row(["", *spans])
    yield _row(["Model", *(escaped(heading) for task in tasks for heading in task.headings)])
    yield r"\hline"
    for group, alike in groupby(models, key=_group):
        if group:
            yield _row([rf"\multicolumn{{{num_columns}}}{{l}}{{\emph{{{escaped(group)}}}}}"])
        for model in alike:
            yield _row([escaped(model.label), *(cell for task in tasks for cell in _cells(task, model))])
    yield r"\hline"
    yield r"\end{tabular}"


def _group(model: Model) -> str:
    """As in the paper: "Anchor points (§4.2)", and none for Default."""
    if not model.is_pretrained:
        return UNTRAINED_HEADING
    section = condition_named(model.condition).section
    return f"{GROUPS[section]} (§{section})" if section in GROUPS else ""


def _cells(task: TaskColumns, model: Model) -> Iterator[str]:
    for heading, cell in zip(task.headings, task.cells[model], strict=True):
        if heading == DELTA:
            yield f"${cell[0]}${escaped(cell[1:])}" if cell[0] in "+-" and len(cell) > 1 else escaped(cell)
        else:
            text = escaped(cell).replace("-", "--") if "(" in cell else escaped(cell)
            yield rf"\textit{{{text}}}" if (model, heading) in task.lost else text


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _fits(tasks: Sequence[TaskColumns], models: Sequence[Model], *, size: str) -> bool:
    characters = max(len(model.label) for model in models)
    num_columns = 1
    for task in tasks:
        columns = [
            [heading, *(task.cells[model][place] for model in models)] for place, heading in enumerate(task.headings)
        ]
        characters += max(sum(max(map(len, column)) for column in columns), len(task.title)) + 4
        num_columns += len(columns)
    return characters * SIZES[size] + num_columns * 2 * SEPARATION_POINTS <= WIDTH_POINTS
