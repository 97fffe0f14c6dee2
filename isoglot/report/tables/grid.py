"""One neutral table, and how it is written for a terminal, Markdown, LaTeX and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich import box
from rich.table import Table
from rich.text import Text

MISSING = "-"
DELTA = "Δ"
# Lines of this group stand apart, and are left out where they have no numbers.
NEVER_PRETRAINED = "Never pretrained"


class Lost(str):
    """The text of a score that shows no transfer."""


@dataclass(frozen=True)
class Grid:
    """A table; the first heading stands over the names of the lines."""

    title: str
    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    groups: Sequence[str] = ()
    """The heading that each line stands under in print, where lines are grouped."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of characters of each column."""
        columns = zip(self.headings, *self.lines, strict=True)
        return tuple(max(len(line) for text in column for line in text.split("\n")) for column in columns)

    def without_empty_baselines(self) -> Grid:
        grouped = zip(self.groups, self.lines, strict=True)
        kept = [each for each in grouped if each[0] != NEVER_PRETRAINED or {*each[1][1:]} != {MISSING}]
        return replace(self, groups=[group for group, _ in kept], lines=[line for _, line in kept])


def grid_of_columns(title: str, columns: Sequence[tuple[str, Sequence[str]]]) -> Grid:
    return Grid(title, [heading for heading, _ in columns], list(zip(*(texts for _, texts in columns), strict=True)))


def side_by_side(grids: Sequence[Grid]) -> Grid:
    """One grid from several of the same lines; the title of each stands over its first column."""
    headings = [f"\n{grids[0].headings[0]}"]
    for grid in grids:
        _, first, *others = grid.headings
        headings += [f"{grid.title}\n{first}", *(f"\n{each}" for each in others)]
    beside = zip(*(grid.lines for grid in grids), strict=True)
    lines = [(parts[0][0], *(text for part in parts for text in part[1:])) for parts in beside]
    return replace(grids[0], title="", headings=headings, lines=lines)


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
    for place, (name, *texts) in enumerate(grid.lines):
        if NEVER_PRETRAINED in grid.groups and place == grid.groups.index(NEVER_PRETRAINED) > 0:
            table.add_section()
        table.add_row(name, *(Text(text, style="red" if isinstance(text, Lost) else "") for text in texts))
    return table


def csv_text(grid: Grid) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([grid.headings, *grid.lines])
    return text.getvalue()


def markdown_text(grid: Grid) -> str:
    """The table alone, names to the left and numbers to the right."""
    rule = ["---", *("---:" for _ in grid.headings[1:])]
    return "\n".join(map(markdown_row, (grid.headings, rule, *grid.lines)))


def markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def markdown_escaped(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


# In points: the width of a line in LaTeX's article class, the room beside a column, and the width of a character.
WIDTH_POINTS, SEPARATION_POINTS = 345, 2.5
SIZES = {"small": 4.6, "footnotesize": 4.25, "scriptsize": 3.9, "tiny": 3.1}
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


def latex_text(grids: dict[str, Grid], *, title: str, notes: Sequence[str], label: str) -> str:
    """Tables for \\input in any document: the grids, by name, side by side where a line holds them, else one each."""
    panels = {label: [*grids.values()]}
    size = next((name for name in SIZES if _fits(panels[label], size=name)), "tiny")
    # Nobody likes to read a tiny table, if several larger ones hold the same.
    if size == "tiny":
        size = next((name for name in SIZES if all(_fits([grid], size=name) for grid in grids.values())), "tiny")
        panels = {f"{label}-{name}": [grid.without_empty_baselines()] for name, grid in grids.items()}
    lines = ["% Table 1 of a study, written by isoglot: put it where you want it with \\input. It needs no package."]
    for place, (name, panel) in enumerate(panels.items()):
        heading = title if len(panels) == 1 else f"{title}: {panel[0].title}"
        caption = " ".join([f"{heading}.", *([] if place else notes)])
        lines += [
            r"\begin{table}",
            r"\centering",
            rf"\{size}",
            rf"\setlength{{\tabcolsep}}{{{SEPARATION_POINTS}pt}}",
            r"\renewcommand{\arraystretch}{1.15}",
            *_tabular(panel),
            rf"\caption[{latex_escaped(heading)}]{{{latex_escaped(caption)}}}",
            rf"\label{{{name}}}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def latex_escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


def _tabular(grids: Sequence[Grid]) -> Iterator[str]:
    whole = side_by_side(grids)
    headings = [heading.partition("\n")[2] for heading in whole.headings]
    num_scores = [len(grid.headings) - 1 for grid in grids]
    # Grids stand apart, and so does the last column of each.
    columns = "".join(r"@{\qquad}" + "r" * (count - 1) + r"@{\quad}r" for count in num_scores)
    yield rf"\begin{{tabular}}{{l{columns}}}"
    yield r"\hline"
    titles = zip(num_scores, grids, strict=True)
    yield _latex_row(["", *(rf"\multicolumn{{{count}}}{{c}}{{{latex_escaped(grid.title)}}}" for count, grid in titles)])
    yield _latex_row(map(latex_escaped, headings))
    yield r"\hline"
    for group, alike in groupby(zip(whole.groups, whole.lines, strict=True), key=lambda line: line[0]):
        if group:
            yield _latex_row([rf"\multicolumn{{{len(headings)}}}{{l}}{{\emph{{{latex_escaped(group)}}}}}"])
        for _, (name, *texts) in alike:
            yield _latex_row([latex_escaped(name), *map(_latex_cell, texts, headings[1:])])
    yield r"\hline"
    yield r"\end{tabular}"


def _latex_cell(text: str, heading: str) -> str:
    escaped = latex_escaped(text)
    if heading == DELTA:
        # A sign is set as mathematics, so that minus is no hyphen.
        return f"${text[0]}${latex_escaped(text[1:])}" if len(text) > 1 else escaped
    # Two hyphens are the dash of a range; a lone one stands for a missing score.
    escaped = escaped.replace("-", "--") if "(" in escaped else escaped
    return rf"\textit{{{escaped}}}" if isinstance(text, Lost) else escaped


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _fits(grids: Sequence[Grid], *, size: str) -> bool:
    characters = grids[0].widths[0]
    characters += sum(max(sum(grid.widths[1:]), len(grid.title)) + 4 for grid in grids)
    num_columns = 1 + sum(len(grid.headings) - 1 for grid in grids)
    return characters * SIZES[size] + num_columns * 2 * SEPARATION_POINTS <= WIDTH_POINTS
