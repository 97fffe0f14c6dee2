"""One neutral table, and how it is written for a terminal, Markdown, LaTeX and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich import box
from rich.table import Table
from rich.text import Text

MISSING = "-"
DELTA = "Δ"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The text of one place; every renderer writes the same text."""

    text: str
    is_lost: bool = False
    """Whether the score shows no transfer."""


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    cells: tuple[Cell, ...]
    group: str = ""
    """The heading it stands under in print, or an empty text."""
    is_baseline: bool = False
    """Whether it stands apart, and is left out where it has no numbers."""

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.name, *(cell.text for cell in self.cells))


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table; the first heading stands over the names of the rows."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    name: str = ""
    """A short name for labels in files."""

    @classmethod
    def of_texts(
        cls, title: str, headings: Sequence[str], lines: Sequence[Sequence[str]], *, notes: Sequence[str] = ()
    ) -> Grid:
        rows = tuple(Row(name=name, cells=tuple(Cell(text=text) for text in texts)) for name, *texts in lines)
        return cls(title=title, headings=tuple(headings), rows=rows, notes=tuple(notes))

    @property
    def lines(self) -> list[tuple[str, ...]]:
        return [row.texts for row in self.rows]

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of characters of each column."""
        columns = zip(self.headings, *self.lines, strict=True)
        return tuple(max(len(line) for text in column for line in text.split("\n")) for column in columns)

    def without_empty_baselines(self) -> Grid:
        kept = (row for row in self.rows if not row.is_baseline or any(cell.text != MISSING for cell in row.cells))
        return replace(self, rows=tuple(kept))


def side_by_side(grids: Sequence[Grid]) -> Grid:
    """One grid from several of the same rows; the title of each stands over its first column."""
    headings = [f"\n{grids[0].headings[0]}"]
    for grid in grids:
        _, first, *others = grid.headings
        headings += [f"{grid.title}\n{first}", *(f"\n{each}" for each in others)]
    rows = zip(*(grid.rows for grid in grids), strict=True)
    return replace(
        grids[0],
        title="",
        headings=tuple(headings),
        rows=tuple(replace(row[0], cells=tuple(cell for each in row for cell in each.cells)) for row in rows),
    )


def terminal_table(grid: Grid, *, numbers_right: bool = True) -> Table:
    """A Rich table, which exceeds the window rather than cutting numbers off."""
    table = Table(
        title=Text(grid.title) if grid.title else None,
        caption="\n".join(grid.notes) or None,
        title_style="bold",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for place, (heading, width) in enumerate(zip(grid.headings, grid.widths, strict=True)):
        table.add_column(
            Text(heading),
            justify="right" if place and numbers_right else "left",
            style="bold" if heading.strip() in ("best", DELTA) else "",
            no_wrap=True,
            min_width=width,
        )
    for above, row in zip((None, *grid.rows), grid.rows, strict=False):
        if above is not None and above.is_baseline != row.is_baseline:
            table.add_section()
        table.add_row(row.name, *(Text(cell.text, style="red" if cell.is_lost else "") for cell in row.cells))
    return table


def csv_text(grid: Grid) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(grid.headings)
    writer.writerows(grid.lines)
    return text.getvalue()


def markdown_text(grid: Grid) -> str:
    """The table alone, names to the left and numbers to the right."""
    rule = ["---", *("---:" for _ in grid.headings[1:])]
    return "\n".join(map(markdown_row, (grid.headings, rule, *grid.lines)))


def markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def markdown_escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


WIDTH_POINTS = 345
"""The width of a line in LaTeX's article class."""
SEPARATION_POINTS = 2.5
# How wide a character is, in points.
SIZES = {"small": 4.6, "footnotesize": 4.25, "scriptsize": 3.9, "tiny": 3.1}
SIZES_SIDE_BY_SIDE = ("small", "footnotesize", "scriptsize")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # At the start of a row these would be the argument of the line break before.
    **{character: f"{{{character}}}" for character in "[]*"},
    DELTA: r"$\Delta$",
    # In text mode it would need a font that plain installations must draw first.
    "§": r"$\S$",
}


def latex_text(grids: Sequence[Grid], *, title: str, notes: Sequence[str], label: str) -> str:
    """Tables for \\input in any document: the grids side by side where a line holds them, else a table each.

    All grids have the same rows.
    """
    size = next((name for name in SIZES_SIDE_BY_SIDE if _fits(grids, size=name)), None)
    panels = [list(grids)]
    if size is None:
        panels = [[grid.without_empty_baselines()] for grid in grids]
        size = next((name for name in SIZES if all(_fits([grid], size=name) for grid in grids)), "tiny")
    lines = ["% Table 1 of a study, written by isoglot: put it where you want it with \\input. It needs no package."]
    for place, panel in enumerate(panels):
        is_alone = len(panels) == 1
        heading = title if is_alone else f"{title}: {panel[0].title}"
        caption = " ".join([f"{heading}.", *([] if place else notes)])
        lines += [
            r"\begin{table}",
            r"\centering",
            rf"\{size}",
            rf"\setlength{{\tabcolsep}}{{{SEPARATION_POINTS}pt}}",
            r"\renewcommand{\arraystretch}{1.15}",
            *_tabular(panel),
            rf"\caption[{latex_escaped(heading)}]{{{latex_escaped(caption)}}}",
            rf"\label{{{label}{'' if is_alone else f'-{panel[0].name}'}}}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def latex_escaped(text: str) -> str:
    """Text as LaTeX prints it, whatever characters it has."""
    return "".join(SPECIAL.get(character, character) for character in text)


def _tabular(grids: Sequence[Grid]) -> Iterator[str]:
    num_scores = [len(grid.headings) - 1 for grid in grids]
    # Grids stand apart, and so does the last column of each.
    columns = "".join(r"@{\qquad}" + "r" * (count - 1) + r"@{\quad}r" for count in num_scores)
    yield rf"\begin{{tabular}}{{l{columns}}}"
    yield r"\hline"
    spans = [
        rf"\multicolumn{{{count}}}{{c}}{{{latex_escaped(grid.title)}}}"
        for count, grid in zip(num_scores, grids, strict=True)
    ]
    yield _latex_row(["", *spans])
    headings = (grids[0].headings[0], *(heading for grid in grids for heading in grid.headings[1:]))
    yield _latex_row([latex_escaped(heading) for heading in headings])
    yield r"\hline"
    for group, alike in groupby(zip(*(grid.rows for grid in grids), strict=True), key=lambda rows: rows[0].group):
        if group:
            yield _latex_row([rf"\multicolumn{{{1 + sum(num_scores)}}}{{l}}{{\emph{{{latex_escaped(group)}}}}}"])
        for rows in alike:
            cells = (cell for row in rows for cell in row.cells)
            texts = (_latex_cell(cell, heading) for cell, heading in zip(cells, headings[1:], strict=True))
            yield _latex_row([latex_escaped(rows[0].name), *texts])
    yield r"\hline"
    yield r"\end{tabular}"


def _latex_cell(cell: Cell, heading: str) -> str:
    text = latex_escaped(cell.text)
    if heading == DELTA:
        # A sign is set as mathematics, so that minus is no hyphen.
        return f"${cell.text[0]}${latex_escaped(cell.text[1:])}" if len(cell.text) > 1 else text
    text = text.replace("-", "--") if "(" in text else text
    return rf"\textit{{{text}}}" if cell.is_lost else text


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _fits(grids: Sequence[Grid], *, size: str) -> bool:
    characters = max(len(row.name) for row in grids[0].rows)
    characters += sum(max(sum(grid.widths[1:]), len(grid.title)) + 4 for grid in grids)
    num_columns = 1 + sum(len(grid.headings) - 1 for grid in grids)
    return characters * SIZES[size] + num_columns * 2 * SEPARATION_POINTS <= WIDTH_POINTS
