"""Table 1 laid out for a terminal: all tasks side by side where that fits, else one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from rich.console import Console, ConsoleOptions
from rich.text import Text

from isoglot.report.agreement import rank_sentences
from isoglot.report.table_1 import DELTA, TRANSFER_HEADING, Table1, TaskColumns
from isoglot.report.transfer_scores import Model
from isoglot.report.verdicts import Verdict

WIDEST = 100
GAP, WIDE_GAP, BAR = "  ", "   ", " │ "
VERDICT_STYLES = {Verdict.AGREES: "green", Verdict.DISAGREES: "red", Verdict.TOO_CLOSE: "yellow"}


@dataclass(frozen=True, kw_only=True)
class Table1Layout:
    """A Rich renderable, since only the console knows how wide it is."""

    table: Table1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = min(options.max_width, WIDEST)
        yield Text(self.table.title, style="bold")
        fits = _width(self.table.models, self.table.tasks) <= width
        for tasks in [self.table.tasks] if fits else [(task,) for task in self.table.tasks]:
            yield Text()
            yield from _lines(self.table.models_of(tasks), tasks)
        yield Text()
        for note in self.table.notes:
            yield from _wrapped(note, width=width, style="italic")
        if self.table.ranks:
            yield Text()
            for sentence in rank_sentences(self.table.ranks):
                yield from _wrapped(sentence, width=width, style="")
        if self.table.agreement:
            yield Text()
            yield from _wrapped(TRANSFER_HEADING, width=width, style="bold")
            for line, verdict in self.table.agreement:
                yield from _wrapped(line, width=width, style=VERDICT_STYLES[verdict], indent="  ")


def _wrapped(text: str, *, width: int, style: str, indent: str = "") -> Iterator[Text]:
    for line in wrap(text, width, initial_indent=indent, subsequent_indent=indent + "  "):
        yield Text(line, style=style)


def _lines(models: Sequence[Model], tasks: Sequence[TaskColumns]) -> Iterator[Text]:
    first = _label_width(models)
    groups = Text(" " * (first + 1))
    headings = Text(f" {'Model':<{first}}", style="bold")
    for task in tasks:
        widths = _widths(task)
        groups.append(WIDE_GAP).append(f"{task.title:<{_group_width(task)}}", style="bold")
        headings.append_text(_cells(task.headings, widths=widths, styles=[""] * len(widths)))
    yield groups
    yield headings
    rule = Text(" " + "─" * (_width(models, tasks) - 1))
    for _, alike in groupby(models, key=lambda model: model.is_pretrained):
        yield rule
        for model in alike:
            line = Text(f" {model.label:<{first}}")
            for task in tasks:
                line.append_text(_cells(task.cells[model], widths=_widths(task), styles=_styles(task, model)))
            yield line


def _cells(cells: Sequence[str], *, widths: Sequence[int], styles: Sequence[str]) -> Text:
    """The last, which is the source's, behind a bar."""
    text = Text()
    last = len(cells) - 1
    for place, (cell, width, style) in enumerate(zip(cells, widths, styles, strict=True)):
        text.append(WIDE_GAP if place == 0 else BAR if place == last else GAP)
        text.append(f"{cell:>{width}}", style=style)
    return text


def _styles(task: TaskColumns, model: Model) -> list[str]:
    *before, _ = task.headings
    return [
        *("bold" if heading == DELTA else "red" if (model, heading) in task.lost else "" for heading in before),
        "dim",
    ]


def _widths(task: TaskColumns) -> list[int]:
    columns = zip(task.headings, *task.cells.values(), strict=True)
    widths = [max(map(len, column)) for column in columns]
    # The task's title stands over its columns.
    widths[0] += max(0, len(task.title) - _joined(widths))
    return widths


def _joined(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 2) + len(BAR)


def _group_width(task: TaskColumns) -> int:
    return _joined(_widths(task))


def _label_width(models: Sequence[Model]) -> int:
    return max(len("Model"), *(len(model.label) for model in models))


def _width(models: Sequence[Model], tasks: Sequence[TaskColumns]) -> int:
    return 1 + _label_width(models) + sum(len(WIDE_GAP) + _group_width(task) for task in tasks)
