"""Charts of lines and of points in Vega-Lite, built with Altair: a reader can zoom, and pick lines in the legend."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from isoglot.report.figures.picture import DASHES, MUTED, Picture, Spec, styles_of

WIDE, HALF = 700, 360
"""Widths of charts in files: alone, and two side by side."""
HEIGHT = 260
ZOOM = "wheel![event.ctrlKey]"
"""A wheel alone scrolls the page; two fingers on a touchpad count as a wheel with this key."""
PAN = "[mousedown, window:mouseup] > window:mousemove!"


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
    x_values: Sequence[float] = ()
    """Positions of the places, if they are not evenly spaced; lines then bridge places without a value."""
    decimals: int = 2
    shown: tuple[float, ...] = (0.0,)
    """Values that the axis has room for, whether a line comes there or not."""
    is_logarithmic: bool = False
    has_log_x: bool = False


def line_picture(charts: Sequence[LineChart], *, name: str, title: str) -> Picture:
    """Charts side by side; one alone has the picture's title and the whole width."""
    specs = [_line_chart(chart, place=place, has_title=len(charts) > 1) for place, chart in enumerate(charts)]
    labels = [line.label for chart in charts for line in chart.series]
    return Picture(
        name=name,
        title=title,
        charts=tuple(specs),
        chart_width=WIDE if len(charts) == 1 else HALF,
        columns=2,
        legend_entry=_legend_entry(labels),
        has_published=any(line.is_published for chart in charts for line in chart.series),
    )


def _line_chart(chart: LineChart, *, place: int, has_title: bool) -> Spec:
    alt = imported_altair()
    # A model before its first update stands at update 1, as a log scale has no 0.
    positions: Sequence[float] = [max(x, 1) if chart.has_log_x else x for x in chart.x_values]
    positions = positions or range(max((len(line.values) for line in chart.series), default=0))
    rows: list[dict[str, Any]] = []
    for line in chart.series:
        ranges = (*line.ranges, *[None] * (len(line.values) - len(line.ranges)))
        for x, value, ends in zip(positions, line.values, ranges, strict=False):
            # A row without a value makes a gap; none at all is bridged.
            if value is not None or not chart.x_values:
                low, high = ends or (value, value)
                row = {"series": line.label, "x": x, "y": short(value), "low": short(low), "high": short(high)}
                rows.append({**row, "paper": True} if line.is_published else row)
    values = [row[key] for row in rows for key in ("low", "high") if row[key] is not None]
    levels: list[dict[str, Any]] = [{"series": each.label, "y": short(each.value)} for each in chart.references]
    values += [each["y"] for each in levels]
    values += [] if chart.is_logarithmic else chart.shown

    look = _Look([line.label for line in chart.series], [each.label for each in chart.references], place=place)
    x = alt.X("x:Q", title=chart.x_title, axis=_x_axis(chart, positions), scale=_x_scale(chart, positions))
    y_scale = alt.Scale(domain=_roomy(values), nice=True)
    if chart.is_logarithmic:
        low, high = span(values or [1.0])
        y_scale = alt.Scale(type="log", domain=[short(0.9 * low), short(1.1 * high)], nice=False)
    y = alt.Y("y:Q", title=chart.y_title, scale=y_scale, axis=alt.Axis(tickCount=6, format="~r"))
    number = f".{chart.decimals}f"
    tooltip = [alt.Tooltip("series:N", title="Model"), alt.Tooltip("x:Q", title=chart.x_title, format=",")]
    tooltip.append(alt.Tooltip("y:Q", title=chart.y_title, format=number))
    has_ranges = any(any(line.ranges) for line in chart.series)
    if has_ranges:
        tooltip += [alt.Tooltip(f"{key}:Q", title=f"{key}est seed", format=number) for key in ("low", "high")]
    base = alt.Chart().encode(x=x)
    if any(line.is_published for line in chart.series):
        base = base.transform_filter("paper || !datum.paper")
    layers = [base.mark_line(clip=True, strokeWidth=2.25).encode(y=y, color=look.colour, opacity=look.opacity)]
    if has_ranges:
        spans = base.mark_rule(clip=True, strokeWidth=1.25)
        layers.append(
            spans.encode(y=alt.Y("low:Q", title=chart.y_title), y2="high:Q", color=look.colour, opacity=look.opacity)
        )
    layers.append(_points(base.encode(y=y), look).encode(tooltip=tooltip))
    if levels:
        dashed = alt.Chart(alt.Data(values=levels)).mark_rule(clip=True, strokeWidth=2)
        shown = [alt.Tooltip("series:N", title="Level"), alt.Tooltip("y:Q", title=chart.y_title, format=number)]
        layers.append(dashed.encode(y=y, color=look.colour, strokeDash=look.dash, opacity=look.opacity, tooltip=shown))
    title = chart.title if has_title else ""
    return chart_spec(layers, rows, place=place, height=HEIGHT, title=title, params=look.params)


def _legend_entry(labels: Sequence[str]) -> int:
    """Pixels that the widest entry of a legend takes."""
    return 34 + 6 * max(map(len, labels), default=0)


def _x_axis(chart: LineChart, positions: Sequence[float]) -> Any:
    alt = imported_altair()
    if chart.x_values:
        values = list(positions) if chart.has_log_x else alt.Undefined
        return alt.Axis(grid=False, values=values, format="~s", labelOverlap="greedy")
    labels = json.dumps(list(chart.x_labels) or [f"L{layer}" for layer in positions])
    return alt.Axis(grid=False, values=list(positions), labelExpr=f"{labels}[datum.value]", labelOverlap="greedy")


def _x_scale(chart: LineChart, positions: Sequence[float]) -> Any:
    """A little room at both ends, so that no mark lies on the edge."""
    alt = imported_altair()
    first, last = (positions[0], positions[-1]) if positions else (0, 1)
    if chart.has_log_x:
        return alt.Scale(type="log", base=2, domain=[max(first, 1) / 1.15, max(last, 1) * 1.15], nice=False)
    room = (last - first) * 0.03 or 0.5
    return alt.Scale(domain=[short(first - room), short(last + room)], nice=False, zero=False)


class _Look:
    """Colours, marks and the legend of a chart's lines, and what a reader can do with them."""

    def __init__(self, lines: Sequence[str], levels: Sequence[str] = (), *, place: int) -> None:
        alt = imported_altair()
        styles, labels = styles_of(lines), [*lines, *levels]
        dashes = [list(DASHES[number % len(DASHES)]) for number in range(len(levels))]
        grey = [MUTED] * len(levels)

        def scale(values: Iterable[Any]) -> Any:
            return alt.Scale(domain=labels, range=list(values))

        # Altair would number these by their order in the process, which is not the same in every run.
        pick = alt.selection_point(name=f"pick{place}", fields=["series"], bind="legend", toggle="true")
        zoom = alt.selection_interval(name=f"zoom{place}", bind="scales", zoom=ZOOM, translate=PAN)
        self.params = [pick, zoom]
        self.opacity = alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.06))
        self.colour = alt.Color("series:N", scale=scale([*(each.colour for each in styles), *grey]), title=None)
        shapes = [*(each.shape for each in styles), *["stroke"] * len(levels)]
        self.shape = alt.Shape("series:N", scale=scale(shapes), title=None)
        self.dash = alt.StrokeDash("series:N", scale=scale([*[[1, 0]] * len(lines), *dashes]), title=None)


def _points(base: Any, look: _Look) -> Any:
    points = base.mark_point(clip=True, filled=True, size=60)
    return points.encode(color=look.colour, shape=look.shape, opacity=look.opacity)


def scatter_picture(
    clouds: Sequence[tuple[str, Sequence[tuple[str, float, float]]]],
    *,
    name: str,
    title: str,
    x_title: str,
    y_title: str,
) -> Picture:
    """Named points by two numbers, a colour and a mark for each cloud."""
    alt = imported_altair()
    rows: list[dict[str, Any]] = [
        {"series": label, "point": point, "x": short(x), "y": short(y)}
        for label, points in clouds
        for point, x, y in points
    ]
    labels = [label for label, _ in clouds]
    look = _Look(labels, place=0)

    def scale(axis: str) -> Any:
        return alt.Scale(domain=_roomy([0.0, *(row[axis] for row in rows)]), nice=True)

    base = alt.Chart().encode(
        x=alt.X("x:Q", title=x_title, scale=scale("x"), axis=alt.Axis(tickCount=5, labelFlush=False)),
        y=alt.Y("y:Q", title=y_title, scale=scale("y")),
        tooltip=[
            alt.Tooltip("series:N", title="Model"),
            alt.Tooltip("point:N", title="Layer"),
            alt.Tooltip("x:Q", title=x_title, format=".2f"),
            alt.Tooltip("y:Q", title=y_title, format=".1f"),
        ],
    )
    spec = chart_spec([_points(base, look)], rows, place=0, height=HEIGHT + 40, params=look.params)
    return Picture(name=name, title=title, charts=(spec,), chart_width=WIDE, legend_entry=_legend_entry(labels))


def chart_spec(
    layers: Sequence[Any],
    rows: Sequence[Mapping[str, Any]],
    *,
    place: int,
    height: int,
    title: str = "",
    params: Sequence[Any] = (),
) -> Spec:
    """One chart as plain data; `place` is its number in the picture, as names must be unique there."""
    alt = imported_altair()
    first = layers[0].properties(name=f"marks{place}").add_params(*params)
    chart = alt.layer(first, *layers[1:], data=alt.Data(values=list(rows))).properties(width="container", height=height)
    if title:
        chart = chart.properties(title=title)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def imported_altair() -> Any:
    """Imported when a report is written: it takes a second, which other commands need not wait for."""
    import altair

    altair.data_transformers.consolidate_datasets = False
    return altair


def span(values: Iterable[float]) -> list[float]:
    known = list(values)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    return [low, high if high > low else low + 1.0]


def _roomy(values: Iterable[float]) -> list[float]:
    """A span with room for a whole mark at its upper end."""
    low, high = span(values)
    return [low, round(high + 0.03 * (high - low), 4)]


def short(value: float | None) -> float | None:
    """Further digits are not seen, and may differ from one processor to another; JSON has no infinite numbers."""
    return None if value is None or not isfinite(value) else round(value, 4)
