"""Lines over layers or updates: charts whose lines are picked in the legend, or small multiples of many lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from statistics import fmean
from typing import Any

from isoglot.report.figures.charts import (
    HEIGHT,
    WIDE,
    Look,
    Settings,
    chart_spec,
    column,
    legend_entry,
    low_to_high,
    marks,
    roomy,
    short,
    span,
)
from isoglot.report.figures.picture import DASHES, MUTED, PUBLISHED, SHAPES, Picture, Spec, Style, styles_of
from isoglot.report.findings.layer_scores import Line
from isoglot.report.quantities import short_number
from isoglot.study.conditions import DEFAULT

# The width of a chart in a file where two stand side by side.
HALF = 360
# With more lines than this nobody can follow one of them: each gets a panel of its own.
MOST_LINES = 6
PANEL_WIDTH, PANEL_HEIGHT, PANEL_COLUMNS = 150, 95, 4
# In characters, of a panel.
WIDEST_TITLE = 20
# What SHAPES look like in words, for charts that share panels.
SIGNS = "\N{BLACK CIRCLE}\N{BLACK SQUARE}\N{BLACK UP-POINTING TRIANGLE}"
# The paper's own numbers are hidden where the reader of the page does not want them.
IS_SHOWN = "(paper || !datum.paper)"


MISSING = "-"


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over layers, or over updates; its numbers are a table too."""

    title: str
    series: Sequence[Line]
    y_title: str
    """With the unit."""
    decimals: int = 2
    references: Mapping[str, float] = field(default_factory=dict)
    """Dashed levels, as that of chance."""
    x_title: str = "Layer"
    updates: Sequence[int] = ()
    """Where lines have points, if that is not at layers; lines then bridge updates without a value."""
    shown: tuple[float, ...] = (0.0,)
    """Values that the axis has room for, whether a line comes there or not."""
    is_logarithmic: bool = False
    caption: str = ""
    """Caption of the table, if it is not made of the titles."""
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further columns of the table: a text for each line."""

    @property
    def places(self) -> Sequence[int]:
        return self.updates or range(max((line.num_states for line in self.series), default=0))

    @property
    def headings(self) -> list[str]:
        """Headings of the table, after that of the labels."""
        return [*(short_number(place) if self.updates else f"L{place}" for place in self.places), *self.columns]

    @property
    def texts(self) -> list[list[str]]:
        """Lines of the table, each after its label."""
        found = []
        for row, line in enumerate(self.series):
            means = (f"{fmean(values):.{self.decimals}f}" if (values := line.at(x)) else MISSING for x in self.places)
            found.append([line.label, *means, *(texts[row] for texts in self.columns.values())])
        return found

    @property
    def published(self) -> list[int]:
        """Places of lines that are the paper's own."""
        return [place for place, line in enumerate(self.series) if line.is_published]

    @property
    def highest(self) -> float:
        """The highest value that is drawn."""
        values = (value for line in self.series for by_place in line.by_seed for value in by_place.values())
        return max([*values, *self.references.values()])


@dataclass(frozen=True, kw_only=True)
class LineFigure:
    """Charts of one pair of languages side by side, and what has to be known to read them."""

    name: str
    """The stem of its files."""
    title: str
    charts: Sequence[LineChart]
    notes: Sequence[str] = ()

    def seed_notes(self) -> Iterator[str]:
        """Names lines of one seed among means over seeds."""
        lines = [(line, chart.places) for chart in self.charts for line in chart.series if not line.is_published]
        several = {line.label for line, places in lines if line.has_range(places)}
        if several:
            alone = [label for label in dict.fromkeys(line.label for line, _ in lines) if label not in several]
            of_one = f" Of one seed: {', '.join(alone)}." if alone else ""
            yield f"Means over seeds; thin lines go from the lowest seed to the highest.{of_one}"


def on_one_axis(figures: Sequence[LineFigure]) -> list[LineFigure]:
    """Figures of pairs of languages, which are compared by eye."""
    room = max((chart.highest for each in figures for chart in each.charts), default=0.0)
    return [replace(each, charts=[replace(chart, shown=(0.0, room)) for chart in each.charts]) for each in figures]


def line_picture(figure: LineFigure) -> Picture:
    """Charts side by side; one alone has the picture's title and the whole width. Many lines are small multiples."""
    if any(len(chart.series) > MOST_LINES for chart in figure.charts):
        return _small_multiples(figure)
    is_alone = len(figure.charts) == 1
    lines = [line for chart in figure.charts for line in chart.series]
    return Picture(
        name=figure.name,
        title=figure.title,
        charts=[_line_chart(chart, place=place, has_title=not is_alone) for place, chart in enumerate(figure.charts)],
        chart_width=WIDE if is_alone else HALF,
        columns=2,
        legend_entry=legend_entry(line.label for line in lines),
        has_published=any(line.is_published for line in lines),
    )


def _line_chart(chart: LineChart, *, place: int, has_title: bool) -> Spec:
    rows = [row for line in chart.series for row in _rows(chart, line)]
    styles = {line.label: style for line, style in zip(chart.series, _styles(chart.series), strict=True)}
    look = Look(styles, list(chart.references), place=place)
    x: Settings = {"x": _x(chart, title=chart.x_title)}
    y: Settings = {"y": _y([chart], title=chart.y_title, ticks=6)}
    where = IS_SHOWN if any(line.is_published for line in chart.series) else ""
    layers = [marks("line", x | y | look.colour, where=where, clip=True, strokeWidth=2.25)]
    if any(line.has_range(chart.places) for line in chart.series):
        seeds = x | low_to_high(chart.y_title) | look.colour
        layers.append(marks("rule", seeds, where=where, clip=True, strokeWidth=1.25))
    layers.append(look.points(x | y | {"tooltip": _tooltip(chart)}, where=where))
    if levels := _levels(chart):
        shown = [
            column("series:N", title="Level"),
            column("y:Q", title=chart.y_title, format=f".{chart.decimals}f"),
        ]
        dashed = y | look.colour | look.dash
        layers.append(marks("rule", dashed | {"tooltip": shown}, rows=levels, clip=True, strokeWidth=2))
    title = chart.title if has_title else ""
    return chart_spec(layers, rows, place=place, height=HEIGHT, title=title, params=look.params)


def _small_multiples(figure: LineFigure) -> Picture:
    """A panel for each kind of model, all on one axis, with Default in grey behind every other."""
    charts = figure.charts
    lines = {line.label: line for chart in charts for line in chart.series}
    y = _y(charts, title=None, ticks=3)
    panels = [
        _panel(charts, label, colour=style.colour, y=y, place=place)
        for place, (label, style) in enumerate(zip(lines, _styles([*lines.values()]), strict=True))
    ]
    legend = [f"{charts[0].y_title} by {charts[0].x_title.lower()}"]
    if len(charts) > 1:
        legend.append(", ".join(f"{sign} {chart.title.lower()}" for sign, chart in zip(SIGNS, charts, strict=False)))
    legend += [f"dashes: {name}" for name in charts[0].references]
    if DEFAULT.label in lines:
        legend.append(f"grey: {DEFAULT.label}")
    has_published = any(line.is_published for chart in charts for line in chart.series)
    return picture_of_panels(figure, panels, legend=legend, has_published=has_published)


def picture_of_panels(
    figure: LineFigure, panels: Sequence[Spec], *, legend: Sequence[str], has_published: bool
) -> Picture:
    """Small charts side by side, with words below them in place of a legend."""
    return Picture(
        name=figure.name,
        title=figure.title,
        charts=[*panels],
        # One alone would be narrower than the picture's title.
        chart_width=PANEL_WIDTH if len(panels) > 1 else HALF,
        columns=PANEL_COLUMNS,
        legend="; ".join(dict.fromkeys(legend)),
        has_published=has_published,
        has_panels=True,
    )


def _panel(charts: Sequence[LineChart], label: str, *, colour: str, y: Spec, place: int) -> Spec:
    """The lines of one kind of model, one from each chart with a mark of its own."""
    rows = [
        row | {"mark": mark, "chart": chart.title, "grey": line.label != label}
        for chart, mark in zip(charts, cycle(SHAPES))
        for line in chart.series
        if line.label in (label, DEFAULT.label)
        for row in _rows(chart, line)
    ]
    x: Settings = {"x": _x(charts[0], title=None)}
    line = x | {"y": y, "detail": column("mark:N")}
    tooltip = _tooltip(charts[0], is_one_of=len(charts) > 1)
    point = x | {"y": y, "shape": column("mark:N", scale=None), "tooltip": tooltip}
    own, look = f"{IS_SHOWN} && !datum.grey", Settings(clip=True, color=colour)
    layers = [
        marks("line", line, where=f"{IS_SHOWN} && datum.grey", clip=True, color=MUTED, opacity=0.5),
        marks("line", line, where=own, **look, strokeWidth=2.25),
        marks("rule", x | low_to_high(None), where=own, **look, strokeWidth=1.25),
        marks("point", point, where=own, **look, filled=True, size=36, opacity=1),
    ]
    if levels := _levels(charts[0]):
        layers.append(marks("rule", {"y": y}, rows=levels, clip=True, color=MUTED, strokeDash=list(DASHES[0])))
    # What is wider than its panel would be cut off.
    title = label if len(label) <= WIDEST_TITLE else label.replace(", ", ",\n").split("\n")
    return chart_spec(layers, rows, place=place, height=PANEL_HEIGHT, title=title)


def _styles(lines: Sequence[Line]) -> list[Style]:
    """One for each line; the paper's own have a colour that no model has, and the marks of ours in the same order."""
    ours = styles_of([line.label for line in lines if not line.is_published])
    shapes = dict.fromkeys([*(style.shape for style in ours), *SHAPES])
    of_ours, of_papers = iter(ours), (Style(PUBLISHED, shape) for shape in cycle(shapes))
    return [next(of_papers if line.is_published else of_ours) for line in lines]


def _rows(chart: LineChart, line: Line) -> Iterator[dict[str, Any]]:
    for x in chart.updates or range(line.num_states):
        values = line.at(x)
        # A row without a value makes a gap; none at all is bridged.
        if values or not chart.updates:
            y, low, high = (short(summary(values)) if values else None for summary in (fmean, min, max))
            row = {"series": line.label, "x": x, "y": y, "low": low, "high": high}
            yield {**row, "paper": True} if line.is_published else row


def _levels(chart: LineChart) -> list[dict[str, Any]]:
    return [{"series": label, "y": short(value)} for label, value in chart.references.items()]


def _tooltip(chart: LineChart, *, is_one_of: bool = False) -> list[Settings]:
    number = f".{chart.decimals}f"
    shown = [column("series:N", title="Model"), *([column("chart:N", title="Chart")] if is_one_of else [])]
    shown.append(column("x:Q", title=chart.x_title, format=","))
    shown.append(column("y:Q", title=chart.y_title, format=number))
    if any(line.has_range(chart.places) for line in chart.series):
        shown += [column(f"{key}:Q", title=f"{key}est seed", format=number) for key in ("low", "high")]
    return shown


def _y(charts: Sequence[LineChart], *, title: str | None, ticks: int) -> Spec:
    """One axis for all lines and levels of these charts."""
    drawn = [
        row[key] for chart in charts for line in chart.series for row in _rows(chart, line) for key in ("low", "high")
    ]
    drawn += [level["y"] for chart in charts for level in _levels(chart)]
    known = [value for value in drawn if value is not None]
    axis: dict[str, Any] = {"tickCount": ticks, "format": "~r"}
    if charts[0].is_logarithmic:
        low, high = span(known or [1.0])
        scale = {"type": "log", "domain": [short(0.9 * low), short(1.1 * high)], "nice": False}
        # Vega would draw a line for every 10, 20, 30 and so on; of too many values it takes every other.
        axis["values"] = [step * 10**power for power in range(10) for step in (1, 2, 5)]
        axis["tickCount"] = 2 * ticks
    else:
        scale = {"domain": roomy([*known, *(value for chart in charts for value in chart.shown)]), "nice": True}
    return column("y:Q", title=title, scale=scale, axis=axis)


def _x(chart: LineChart, *, title: str | None) -> Spec:
    """The axis of layers or updates."""
    places = chart.places
    first, last = (places[0], places[-1]) if places else (0, 1)
    # A little room at both ends, so that no mark lies on the edge.
    room = (last - first) * 0.03 or 0.5
    scale = {"domain": [short(first - room), short(last + room)], "nice": False, "zero": False}
    axis: dict[str, Any] = {"grid": False, "labelOverlap": "greedy", "labelSeparation": 4}
    if chart.updates:
        axis["format"] = "~s"
    else:
        axis["values"] = list(places)
        axis["labelExpr"] = f"{json.dumps(chart.headings[: len(places)])}[datum.value]"
    return column("x:Q", title=title, axis=axis, scale=scale)
