"""Heat maps as SVG text: a number in every cell, on a colour that lightness alone tells as well."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, radians, sin

from isoglot.report.figures.colour_scale import ink_on, scale_colour
from isoglot.report.figures.drawing import (
    FAINT,
    INK,
    coloured,
    element,
    hover,
    level,
    number,
    picture,
    shortened,
    shown_text,
    text_width,
    wrapped,
)

WIDTH = 800
MARGIN, ROW_HEIGHT, GROUP_GAP, SUMMARY_GAP = 22, 27, 12, 8
TITLE_SIZE, TITLE_HEIGHT, LABEL_SIZE, COLUMN_SIZE = 16, 20, 13, 12
WIDEST_CELL = 96
NUM_COLOURS, COLOUR_WIDTH = 50, 4
SLANT = 40


@dataclass(frozen=True, kw_only=True)
class Column:
    """One number a row; None leaves the cell empty."""

    label: str
    values: Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Columns under one heading."""

    label: str
    columns: Sequence[Column]


def heat_map(
    *,
    title: str,
    rows: Sequence[str],
    groups: Sequence[Group],
    quantity: str,
    summary_rows: int = 0,
    least: float = 0.0,
    most: float = 1.0,
    decimals: int = 2,
    width: float = WIDTH,
) -> str:
    """A matrix as a whole SVG document; the last `summary_rows`, as an average, stand a little apart.

    `quantity` says what the numbers are; colours go from `least` to `most`.
    """
    map_ = _HeatMap(
        title=title,
        rows=rows,
        groups=groups,
        quantity=quantity,
        summary_rows=summary_rows,
        least=least,
        most=most,
        decimals=decimals,
        width=width,
    )
    description = f"{quantity} by {', '.join(rows)}. {map_.in_words()}"
    return picture(map_.drawn(), width=width, height=map_.height, title=title, description=description)


@dataclass(frozen=True, kw_only=True)
class _HeatMap:
    title: str
    rows: Sequence[str]
    groups: Sequence[Group]
    quantity: str
    summary_rows: int
    least: float
    most: float
    decimals: int
    width: float

    def in_words(self) -> str:
        columns = (
            f"{group.label} {column.label}: {', '.join(map(self._number, column.values))}"
            for group in self.groups
            for column in group.columns
        )
        return "; ".join(columns) + "."

    @property
    def _lines_of_title(self) -> list[str]:
        return wrapped(self.title, width=self.width - 2 * MARGIN, size=TITLE_SIZE)

    @property
    def _left(self) -> float:
        return MARGIN + max((text_width(row, size=LABEL_SIZE) for row in self.rows), default=0) + 10

    @property
    def _columns(self) -> list[Column]:
        return [column for group in self.groups for column in group.columns]

    @property
    def _longest_heading(self) -> float:
        return max(text_width(column.label, size=COLUMN_SIZE) for column in self._columns)

    def _cell_width_within(self, room: float) -> float:
        return min(WIDEST_CELL, (room - GROUP_GAP * (len(self.groups) - 1)) / len(self._columns))

    @property
    def _slanted(self) -> bool:
        """Headings of columns lie aslant where they are wider than a cell could be."""
        return self._longest_heading > self._cell_width_within(self.width - self._left - MARGIN) - 2

    @property
    def _cell_width(self) -> float:
        """Headings that lie aslant reach beyond the last column."""
        beyond = self._longest_heading * cos(radians(SLANT)) if self._slanted else MARGIN
        return self._cell_width_within(self.width - self._left - beyond)

    @property
    def _top(self) -> float:
        heading = self._longest_heading * sin(radians(SLANT)) + 18 if self._slanted else 24
        return TITLE_HEIGHT * len(self._lines_of_title) + 44 + heading

    @property
    def _bottom(self) -> float:
        return self._row_y(len(self.rows) - 1) + ROW_HEIGHT

    @property
    def height(self) -> float:
        return self._bottom + 62

    def _row_y(self, row: int) -> float:
        apart = SUMMARY_GAP if row >= len(self.rows) - self.summary_rows else 0
        return self._top + ROW_HEIGHT * row + apart

    def _number(self, value: float | None) -> str:
        return "none" if value is None else f"{value:.{self.decimals}f}"

    def drawn(self) -> Iterator[str]:
        for place, line in enumerate(self._lines_of_title):
            shown = shown_text(line, x=MARGIN, y=TITLE_HEIGHT * place + 26, size=TITLE_SIZE, font_weight="600")
            yield coloured(INK, shown)
        for place, row in enumerate(self.rows):
            shown = shown_text(row, x=self._left - 10, y=self._row_y(place) + ROW_HEIGHT / 2 + 4.5, anchor="end")
            yield coloured(INK, shown)
        x = self._left
        for group in self.groups:
            width = self._cell_width * len(group.columns)
            yield from self._heading(group, x=x, width=width)
            for place, column in enumerate(group.columns):
                yield from self._column(group, column, x=x + place * self._cell_width)
            x += width + GROUP_GAP
        yield from self._scale()

    def _heading(self, group: Group, *, x: float, width: float) -> Iterator[str]:
        y = TITLE_HEIGHT * len(self._lines_of_title) + 34
        label = shortened(group.label, width=width, size=LABEL_SIZE)
        shown = shown_text(label, x=x + width / 2, y=y, anchor="middle", font_weight="600")
        yield coloured(INK, shown)
        yield coloured(FAINT, level(x=x + 2, width=width - 4, y=y + 7, thickness=1))

    def _column(self, group: Group, column: Column, *, x: float) -> Iterator[str]:
        middle = x + self._cell_width / 2
        if self._slanted:
            turned = f"translate({number(middle + 4)} {number(self._top - 8)}) rotate(-{SLANT})"
            yield coloured(INK, shown_text(column.label, x=0, y=0, size=COLUMN_SIZE, transform=turned))
        else:
            yield coloured(INK, shown_text(column.label, x=middle, y=self._top - 8, size=COLUMN_SIZE, anchor="middle"))
        for row, value in enumerate(column.values):
            said = hover(f"{group.label}, {column.label}, {self.rows[row]}: {self._number(value)}")
            yield element("g", said + self._cell(value, x=x, y=self._row_y(row)))

    def _cell(self, value: float | None, *, x: float, y: float) -> str:
        def filled(**how: str) -> str:
            width, height = self._cell_width - 1.5, ROW_HEIGHT - 1.5
            return element("rect", x=x + 0.75, y=y + 0.75, width=width, height=height, **how)

        if value is None:
            return coloured(FAINT, filled(fill="none", stroke="currentColor", pointer_events="all"))
        colour = scale_colour((value - self.least) / (self.most - self.least))
        middle, baseline = x + self._cell_width / 2, y + ROW_HEIGHT / 2 + 4.5
        shown = shown_text(self._number(value), x=middle, y=baseline, anchor="middle", fill=ink_on(colour))
        return filled(fill=colour) + shown

    def _scale(self) -> Iterator[str]:
        x, y, width = self._left, self._bottom + 18, NUM_COLOURS * COLOUR_WIDTH
        strips = []
        for place in range(NUM_COLOURS):
            colour = scale_colour(place / (NUM_COLOURS - 1))
            strips.append(element("rect", x=x + place * COLOUR_WIDTH, y=y, width=COLOUR_WIDTH, height=12, fill=colour))
        # Else seams show where two strips meet within a pixel.
        yield element("g", "".join(strips), shape_rendering="crispEdges")
        yield coloured(INK, shown_text(self._number(self.least), x=x, y=y + 28))
        yield coloured(INK, shown_text(self._number(self.most), x=x + width, y=y + 28, anchor="end"))
        yield coloured(INK, shown_text(self.quantity, x=x + width + 16, y=y + 11))
