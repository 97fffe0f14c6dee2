"""Line charts by layer as SVG text: colours and markers to tell the lines apart, values on hover, no dependency."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from isoglot.report.figures.chart_axis import AnyAxis, Axis, LogAxis
from isoglot.report.figures.chart_legend import DASHES, LABEL_SIZE, LINE_HEIGHT, Legend, line_colour, markers
from isoglot.report.figures.drawing import (
    FAINT,
    INK,
    MUTED,
    coloured,
    element,
    level,
    number,
    picture,
    published,
    shortened,
    shown_text,
    tenths,
    text_width,
    wrapped,
)

WIDTH = 800
PLOT_HEIGHT = 260
HEADING_SIZE, TITLE_SIZE = 18, 15
PERCENT = "(%)"
"""In the title of an axis."""
LEFT, MARGIN, BELOW_PLOT = 66, 22, 48


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line; where a value is None, it has a gap."""

    label: str
    values: Sequence[float | None]
    ranges: Sequence[tuple[float, float] | None] = ()
    """Lowest and highest of each value's seeds, if there are several."""
    is_published: bool = False
    """Whether it is the paper's own."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One dashed level, as that of chance."""

    label: str
    value: float


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over the same places: the layers from 0, unless `x_labels` names them."""

    title: str
    series: Sequence[Line]
    y_title: str
    """With the unit."""
    references: Sequence[Reference] = ()
    x_title: str = "Layer"
    x_labels: Sequence[str] = ()
    x_unit: str = ""
    """Written behind the name of a place, as in "400 updates"."""
    x_values: Sequence[float] = ()
    """Where the places are, if not one beside the other; lines then go on over places where they have no value."""
    decimals: int = 2
    """Of the values that are shown on hover and read aloud."""
    shown: tuple[float, ...] = (0.0,)
    """Values that the axis has room for, whether a line comes there or not."""
    is_logarithmic: bool = False
    """For values above 0 alone."""


def line_chart(
    *,
    title: str,
    series: Sequence[Line],
    y_title: str,
    references: Sequence[Reference] = (),
    x_title: str = "Layer",
    x_labels: Sequence[str] = (),
    decimals: int = 2,
    shown: tuple[float, ...] = (0.0,),
    width: float = WIDTH,
) -> str:
    """One chart as a whole SVG document."""
    chart = LineChart(
        title=title,
        series=series,
        y_title=y_title,
        references=references,
        x_title=x_title,
        x_labels=x_labels,
        decimals=decimals,
        shown=shown,
    )
    return line_charts([chart], title=title, columns=1, width=width)


def line_charts(charts: Sequence[LineChart], *, title: str, columns: int = 2, width: float = WIDTH) -> str:
    """Several charts in one SVG document, in rows, under a title of their own."""
    heading = wrapped(title, width=width - 2 * MARGIN, size=HEADING_SIZE) if len(charts) > 1 else []
    parts = [
        coloured(INK, shown_text(line, x=MARGIN, y=26 * place + 30, size=HEADING_SIZE, font_weight="600"))
        for place, line in enumerate(heading)
    ]
    y = 26.0 * len(heading) + 8 if heading else 0.0
    for start in range(0, len(charts), columns):
        panels = [_Panel(chart=chart, width=width / columns) for chart in charts[start : start + columns]]
        above_plot = max(panel.above_plot for panel in panels)
        for place, panel in enumerate(panels):
            parts += panel.drawn(x=place * width / columns, y=y, above_plot=above_plot)
        y += above_plot + PLOT_HEIGHT + max(panel.below_plot for panel in panels)
    description = " ".join(map(_in_words, charts))
    return picture(parts, width=width, height=y, title=title, description=description)


def _in_words(chart: LineChart) -> str:
    lines = []
    for each in chart.series:
        values = ("none" if value is None else f"{value:.{chart.decimals}f}" for value in each.values)
        lines.append(f"{each.label}: {', '.join(values)}")
    lines += [f"{each.label}: {each.value:.{chart.decimals}f}" for each in chart.references]
    return f"{chart.title}: {chart.y_title} by {chart.x_title.lower()}. {'; '.join(lines)}."


@dataclass(frozen=True, kw_only=True)
class _Panel:
    chart: LineChart
    width: float

    @property
    def title(self) -> list[str]:
        return wrapped(self.chart.title, width=self.width - 2 * MARGIN, size=TITLE_SIZE)

    @property
    def above_plot(self) -> float:
        return LINE_HEIGHT * len(self.title) + 26

    @property
    def below_plot(self) -> float:
        return BELOW_PLOT + self.legend.height + 10

    @cached_property
    def legend(self) -> Legend:
        return Legend(
            lines=[each.label for each in self.chart.series],
            published=frozenset(place for place, each in enumerate(self.chart.series) if each.is_published),
            levels=[each.label for each in self.chart.references],
            width=self.width - 2 * MARGIN,
        )

    @cached_property
    def axis(self) -> AnyAxis:
        chart = self.chart
        values = (value for each in chart.series for value in each.values if value is not None)
        ends = (end for each in chart.series for ends in each.ranges if ends is not None for end in ends)
        shown = chain(values, ends, (each.value for each in chart.references))
        return LogAxis.around(shown) if chart.is_logarithmic else Axis.around(chain(chart.shown, shown))

    @cached_property
    def x_labels(self) -> Sequence[str]:
        num_layers = max((len(each.values) for each in self.chart.series), default=0)
        return self.chart.x_labels or [f"L{layer}" for layer in range(num_layers)]

    def drawn(self, *, x: float, y: float, above_plot: float) -> Iterator[str]:
        yield f'<g transform="translate({number(x)} {number(y)})">'
        for place, line in enumerate(self.title):
            shown = shown_text(line, x=MARGIN, y=LINE_HEIGHT * place + 26, size=TITLE_SIZE, font_weight="600")
            yield coloured(INK, shown)
        yield f'<g transform="translate(0 {number(above_plot)})">'
        yield from self._axes()
        for place, reference in enumerate(self.chart.references):
            said = f"{reference.label}: {self._number(reference.value)}"
            yield coloured(MUTED, self._level(reference.value, dashes=DASHES[place % len(DASHES)], said=said))
        for place, series in zip(self.legend.styles, self.chart.series, strict=True):
            line = coloured(line_colour(place), self._line(series, place=place))
            yield published(line) if series.is_published else line
        yield from self.legend.drawn(x=MARGIN, y=PLOT_HEIGHT + BELOW_PLOT)
        yield "</g>\n</g>"

    def _number(self, value: float) -> str:
        """With its unit, where that is one that is written beside a number."""
        return f"{value:.{self.chart.decimals}f}{'%' if PERCENT in self.chart.y_title else ''}"

    def _x(self, place: int) -> float:
        """A little way from both ends, so that no marker lies on the edge."""
        where = self.chart.x_values or range(len(self.x_labels))
        span = where[-1] - where[0] if where else 0
        return LEFT + (self.width - LEFT - MARGIN) * (0.03 + 0.94 * (where[place] - where[0]) / span if span else 0.5)

    def _y(self, value: float) -> float:
        return PLOT_HEIGHT * (1 - self.axis.share(value))

    def _level(self, value: float, *, thickness: float = 2, dashes: str = "", said: str = "") -> str:
        width = self.width - LEFT - MARGIN
        return level(x=LEFT, width=width, y=self._y(value), thickness=thickness, dashes=dashes, said=said)

    def _axes(self) -> Iterator[str]:
        axis = self.axis
        yield coloured(FAINT, "".join(self._level(tick, thickness=1) for tick in axis.ticks))
        labels = [shown_text(axis.label(tick), x=LEFT - 8, y=self._y(tick) + 4.5, anchor="end") for tick in axis.ticks]
        beyond = -math.inf
        for place, label in enumerate(self.x_labels):
            x, half = self._x(place), text_width(label, size=LABEL_SIZE) / 2
            if x - half >= beyond:
                labels.append(shown_text(label, x=x, y=PLOT_HEIGHT + 20, anchor="middle"))
                beyond = x + half + 6
        middle = (LEFT + self.width - MARGIN) / 2
        labels.append(shown_text(self.chart.x_title, x=middle, y=PLOT_HEIGHT + 40, anchor="middle"))
        y_title = shortened(self.chart.y_title, width=PLOT_HEIGHT + 40, size=LABEL_SIZE)
        upwards = f"translate(18 {number(PLOT_HEIGHT / 2)}) rotate(-90)"
        labels.append(shown_text(y_title, x=0, y=0, anchor="middle", transform=upwards))
        yield coloured(INK, "".join(labels))

    def _line(self, series: Line, *, place: int) -> str:
        path, pen, marks, spans = [], "M", [], []
        for layer, value in enumerate(series.values):
            if value is None:
                pen = pen if self.chart.x_values else "M"
                continue
            x, y = self._x(layer), self._y(value)
            path.append(f"{pen}{tenths(x)} {tenths(y)}")
            pen = "L"
            said = f"{series.label}, {self.x_labels[layer]}{self.chart.x_unit}: {self._number(value)}"
            if layer < len(series.ranges) and (ends := series.ranges[layer]) is not None:
                low, high = ends
                said += f" ({self._number(low)} to {self._number(high)})"
                spans.append(f"M{tenths(x)} {tenths(self._y(low))}V{tenths(self._y(high))}")
            marks.append((x, y, said))
        line = element("path", d="".join(path), fill="none", stroke="currentColor", stroke_width=2.25)
        span = element("path", d="".join(spans), fill="none", stroke="currentColor", stroke_width=1.25, opacity=0.7)
        return (line if path else "") + (span if spans else "") + markers(place, marks)
