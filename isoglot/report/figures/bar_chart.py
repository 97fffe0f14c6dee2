"""Percentages as bars in SVG text: a row for each thing that is compared, a panel for each way to measure it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from isoglot.report.figures.chart_axis import Axis
from isoglot.report.figures.drawing import (
    FAINT,
    INK,
    MUTED,
    Colour,
    coloured,
    element,
    hover,
    number,
    picture,
    published,
    shortened,
    shown_text,
    text_width,
    wrapped,
)

MARGIN, GAP = 22, 22
TITLE_SIZE, PANEL_SIZE, LABEL_SIZE, VALUE_SIZE = 15, 13, 13, 12
LINE_HEIGHT, ROW_HEIGHT, BAR_HEIGHT = 20, 26, 16
VALUE_ROOM = 46
"""Right of the longest bar, for numbers."""
AXIS_HEIGHT, LEGEND_HEIGHT = 26, 20
DIAMOND = 5.0
PALE = 0.3


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A value with the range of its seeds, and the paper's beside it; None where there is none."""

    value: float | None
    range: tuple[float, float] | None = None
    floor: float | None = None
    """What is there for nothing: so much of the bar is pale."""
    published: float | None = None
    missing: str = "none"
    """Said where there is no value."""

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        *,
        floor: float | None = None,
        published: float | None = None,
        missing: str = "none",
    ) -> "Bar":
        """The mean over seeds, and their range; what is missing, where there are none."""
        if not values:
            return cls(value=None, published=published, missing=missing)
        ends = (min(values), max(values)) if len(values) > 1 else None
        return cls(value=fmean(values), range=ends, floor=floor, published=published)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One way to measure all rows."""

    title: str
    bars: Sequence[Bar]
    level: tuple[str, float] | None = None
    """What it is and where, as chance."""


@dataclass(frozen=True, kw_only=True)
class BarChart:
    title: str
    rows: Sequence[tuple[str, Colour]]
    panels: Sequence[Panel]
    decimals: int = 1
    floor: str = ""
    """What the floors of bars are."""
    shown: tuple[float, ...] = (0.0, 100.0)
    """Values that every panel has room for; with them, bars of all panels are alike."""

    @property
    def has_published(self) -> bool:
        return any(bar.published is not None for panel in self.panels for bar in panel.bars)


def bar_chart(chart: BarChart, *, columns: int, width: float) -> str:
    """A whole SVG document, with so many panels side by side."""
    drawing = _Drawing(chart=chart, columns=min(columns, len(chart.panels)), width=width)
    return picture(drawing.drawn(), width=width, height=drawing.height, title=chart.title, description=_in_words(chart))


def _in_words(chart: BarChart) -> str:
    panels = []
    for panel in chart.panels:
        bars = ", ".join(
            f"{label} {'none' if bar.value is None else f'{bar.value:.{chart.decimals}f}'}"
            for (label, _), bar in zip(chart.rows, panel.bars, strict=True)
        )
        panels.append(f"{panel.title}: {bars}")
    return f"In percent. {'; '.join(panels)}."


@dataclass(frozen=True, kw_only=True)
class _Drawing:
    chart: BarChart
    columns: int
    width: float

    @property
    def _lines_of_title(self) -> list[str]:
        return wrapped(self.chart.title, width=self.width - 2 * MARGIN, size=TITLE_SIZE)

    @property
    def _top(self) -> float:
        return LINE_HEIGHT * len(self._lines_of_title) + 16

    @cached_property
    def _left(self) -> float:
        """Names of rows take no more than a third."""
        widest = max(text_width(label, size=LABEL_SIZE) for label, _ in self.chart.rows)
        return MARGIN + min(widest + 1, self.width / 3) + 10

    @cached_property
    def _panel_width(self) -> float:
        return (self.width - self._left - MARGIN - GAP * (self.columns - 1)) / self.columns

    @property
    def _panel_height(self) -> float:
        return self._heading_height + ROW_HEIGHT * len(self.chart.rows) + AXIS_HEIGHT + 12

    @cached_property
    def _heading_height(self) -> float:
        return LINE_HEIGHT * max(len(self._heading(panel)) for panel in self.chart.panels) + 6

    def _heading(self, panel: Panel) -> list[str]:
        return wrapped(panel.title, width=self._panel_width, size=PANEL_SIZE)

    @property
    def _panels_height(self) -> float:
        return -(-len(self.chart.panels) // self.columns) * self._panel_height

    @property
    def height(self) -> float:
        num_lines = len(self._lines_of_legend) + (self.chart.has_published and self.columns == 1)
        return self._top + self._panels_height + LEGEND_HEIGHT * num_lines + 6

    @cached_property
    def _lines_of_legend(self) -> list[str]:
        shown = ["in percent"]
        bars = [bar for panel in self.chart.panels for bar in panel.bars if bar.value is not None]
        if any(bar.range for bar in bars):
            alone = "" if all(bar.range for bar in bars) else ", one seed where there is none"
            shown.append(f"thin line: lowest to highest seed{alone}")
        if any(bar.floor is not None for bar in bars):
            shown.append(f"pale: {self.chart.floor}")
        if any(panel.level for panel in self.chart.panels):
            shown.append(f"dashes: {next(panel.level[0] for panel in self.chart.panels if panel.level)}")
        return wrapped("; ".join(shown), width=self.width - 2 * MARGIN, size=VALUE_SIZE)

    @cached_property
    def _axis(self) -> Axis:
        bars = [bar for panel in self.chart.panels for bar in panel.bars]
        values = [
            value for bar in bars for value in (bar.value, bar.published, *(bar.range or ())) if value is not None
        ]
        return Axis.around([*self.chart.shown, *values])

    def drawn(self) -> Iterator[str]:
        for place, line in enumerate(self._lines_of_title):
            shown = shown_text(line, x=MARGIN, y=LINE_HEIGHT * place + 26, size=TITLE_SIZE, font_weight="600")
            yield coloured(INK, shown)
        for place, panel in enumerate(self.chart.panels):
            row, column = divmod(place, self.columns)
            y = self._top + row * self._panel_height + self._heading_height
            if column == 0:
                yield coloured(INK, "".join(self._labels(y)))
            yield from self._panel(panel, x=self._left + column * (self._panel_width + GAP), y=y)
        yield from self._legend(self._top + self._panels_height + 8)

    def _labels(self, y: float) -> Iterator[str]:
        for place, (label, _) in enumerate(self.chart.rows):
            room = self._left - MARGIN - 10
            shown = shortened(label, width=room, size=LABEL_SIZE)
            yield shown_text(shown, x=self._left - 10, y=y + ROW_HEIGHT * (place + 0.5) + 4.5, anchor="end")

    def _panel(self, panel: Panel, *, x: float, y: float) -> Iterator[str]:
        heading = self._heading(panel)
        for place, line in enumerate(heading):
            above = y - 10 - LINE_HEIGHT * (len(heading) - 1 - place)
            yield coloured(INK, shown_text(line, x=x, y=above, size=PANEL_SIZE, font_weight="600"))
        bottom = y + ROW_HEIGHT * len(self.chart.rows)
        ticks = self._axis.ticks
        # Some of them alone where panels are narrow.
        step = -(-len(ticks) * 26 // int(self._panel_width))
        for tick in ticks[::step]:
            line = _upright(x=self._x(x, tick), top=y, bottom=bottom, stroke_width=1)
            label = shown_text(self._axis.label(tick), x=self._x(x, tick), y=bottom + 16, size=11, anchor="middle")
            yield coloured(FAINT, line) + coloured(MUTED, label)
        for place, ((label, colour), bar) in enumerate(zip(self.chart.rows, panel.bars, strict=True)):
            yield self._bar(bar, said=f"{label}, {panel.title}", x=x, y=y + ROW_HEIGHT * place, colour=colour)
        if panel.level is not None:
            label, value = panel.level
            said = hover(f"{label}: {self._said(value)}")
            across = self._x(x, value)
            yield coloured(
                MUTED, _upright(said, x=across, top=y, bottom=bottom, stroke_width=2, stroke_dasharray="5 4")
            )

    def _x(self, left: float, value: float) -> float:
        return left + (self._panel_width - VALUE_ROOM) * self._axis.share(value)

    def _number(self, value: float) -> str:
        return f"{value:.{self.chart.decimals}f}"

    def _said(self, value: float) -> str:
        return f"{self._number(value)}%"

    def _bar(self, bar: Bar, *, said: str, x: float, y: float, colour: Colour) -> str:
        middle = y + ROW_HEIGHT / 2
        if bar.value is None:
            start = self._x(x, max(0.0, self._axis.ticks[0]))
            shown = shown_text(bar.missing, x=start + 4, y=middle + 4, size=VALUE_SIZE, font_style="italic")
            return coloured(MUTED, shown)
        said += f": {self._said(bar.value)}"
        parts = ""
        if bar.range is not None and bar.range[0] != bar.range[1]:
            low, high = bar.range
            said += f" ({self._said(low)} to {self._said(high)})"
            ends = f"M{number(self._x(x, low))} {number(middle)}H{number(self._x(x, high))}"
            parts = coloured(INK, element("path", d=ends, stroke="currentColor", stroke_width=1.5, fill="none"))
        if bar.floor is not None:
            said += f", {self.chart.floor}: {self._said(bar.floor)}"
        # All in one column: behind a diamond, a number would look like the paper's.
        value = shown_text(
            self._number(bar.value), x=x + self._panel_width, y=middle + 4, size=VALUE_SIZE, anchor="end"
        )
        return (
            coloured(colour, self._filled(bar, bar.value, said=said, x=x, middle=middle))
            + parts
            + coloured(INK, value)
            + self._published(bar, x=x, middle=middle, said=said)
        )

    def _filled(self, bar: Bar, value: float, *, said: str, x: float, middle: float) -> str:
        """From 0 to the value, pale as far as the floor."""
        start, end = self._x(x, max(0.0, self._axis.ticks[0])), self._x(x, value)

        def box(left: float, right: float, **more: float) -> str:
            sides = {"x": min(left, right), "y": middle - BAR_HEIGHT / 2, "width": max(abs(right - left), 1.0)}
            return element("rect", hover(said), height=BAR_HEIGHT, rx=1.5, fill="currentColor", **sides, **more)

        if bar.floor is None or bar.floor <= 0:
            return box(start, end)
        pale = self._x(x, min(bar.floor, max(value, 0.0)))
        return box(start, pale, fill_opacity=PALE) + (box(pale, end) if value > bar.floor else "")

    def _published(self, bar: Bar, *, x: float, middle: float, said: str) -> str:
        if bar.published is None:
            return ""
        said = f"{said.partition(':')[0]}, the paper: {self._said(bar.published)}"
        return published(_diamond(self._x(x, bar.published), middle, said))

    def _legend(self, y: float) -> Iterator[str]:
        for place, line in enumerate(self._lines_of_legend):
            yield coloured(MUTED, shown_text(line, x=MARGIN, y=y + 4 + LEGEND_HEIGHT * place, size=VALUE_SIZE))
        if self.chart.has_published:
            # In a narrow picture below the rest.
            y += LEGEND_HEIGHT * len(self._lines_of_legend) if self.columns == 1 else 0
            x = self.width - MARGIN - text_width("the paper", size=VALUE_SIZE)
            key = _diamond(x - 10, y, "the paper")
            yield published(key + coloured(INK, shown_text("the paper", x=x, y=y + 4, size=VALUE_SIZE)))


def _upright(content: str = "", *, x: float, top: float, bottom: float, **more: str | float) -> str:
    return element("line", content, x1=x, x2=x, y1=top, y2=bottom, stroke="currentColor", **more)


def _diamond(x: float, y: float, said: str) -> str:
    """On a ground of its own, as it may lie on a bar."""
    corners = f"{number(x)},{number(y - DIAMOND)} {number(x + DIAMOND)},{number(y)} "
    corners += f"{number(x)},{number(y + DIAMOND)} {number(x - DIAMOND)},{number(y)}"
    return element("polygon", hover(said), points=corners, fill="#ffffff", stroke="#1c2128", stroke_width=1.75)
