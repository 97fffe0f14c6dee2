"""Charts of lines and of points in Vega-Lite, built with Altair: a reader can zoom, and pick lines in the legend."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any

from isoglot.report.figures.layer_series import LineChart, LineFigure
from isoglot.report.figures.picture import DASHES, MUTED, Picture, Spec, styles_of

# Widths of charts in files: alone, and two side by side.
WIDE, HALF = 700, 360
HEIGHT = 260
# A wheel alone scrolls the page; two fingers on a touchpad count as a wheel with this key.
ZOOM = "wheel![event.ctrlKey]"
PAN = "[mousedown, window:mouseup] > window:mousemove!"


def line_picture(figure: LineFigure) -> Picture:
    """Charts side by side; one alone has the picture's title and the whole width."""
    is_alone = len(figure.charts) == 1
    lines = [line for chart in figure.charts for line in chart.series]
    return Picture(
        name=figure.name,
        title=figure.title,
        charts=[_line_chart(chart, place=place, has_title=not is_alone) for place, chart in enumerate(figure.charts)],
        chart_width=WIDE if is_alone else HALF,
        columns=2,
        legend_entry=_legend_entry(line.label for line in lines),
        has_published=any(line.is_published for line in lines),
    )


def _line_chart(chart: LineChart, *, place: int, has_title: bool) -> Spec:
    alt = imported_altair()
    rows: list[dict[str, Any]] = []
    for line in chart.series:
        for x in chart.updates or range(line.num_states):
            values = line.at(x)
            # A row without a value makes a gap; none at all is bridged.
            if values or not chart.updates:
                y, low, high = (short(summary(values)) if values else None for summary in (fmean, min, max))
                # A model before its first update stands at update 1, as a log scale has no 0.
                row = {"series": line.label, "x": max(x, 1) if chart.has_log_x else x, "y": y, "low": low, "high": high}
                rows.append({**row, "paper": True} if line.is_published else row)
    drawn = [row[key] for row in rows for key in ("low", "high") if row[key] is not None]
    levels: list[dict[str, Any]] = [{"series": label, "y": short(value)} for label, value in chart.references.items()]
    drawn += [each["y"] for each in levels]
    drawn += [] if chart.is_logarithmic else chart.shown

    look = _Look([line.label for line in chart.series], list(chart.references), place=place)
    y_scale = alt.Scale(domain=_roomy(drawn), nice=True)
    if chart.is_logarithmic:
        low, high = span(drawn or [1.0])
        y_scale = alt.Scale(type="log", domain=[short(0.9 * low), short(1.1 * high)], nice=False)
    y = alt.Y("y:Q", title=chart.y_title, scale=y_scale, axis=alt.Axis(tickCount=6, format="~r"))
    number = f".{chart.decimals}f"
    tooltip = [alt.Tooltip("series:N", title="Model"), alt.Tooltip("x:Q", title=chart.x_title, format=",")]
    tooltip.append(alt.Tooltip("y:Q", title=chart.y_title, format=number))
    base = alt.Chart().encode(x=_x(chart))
    if any(line.is_published for line in chart.series):
        base = base.transform_filter("paper || !datum.paper")
    layers = [base.mark_line(clip=True, strokeWidth=2.25).encode(y=y, color=look.colour, opacity=look.opacity)]
    if any(line.has_range(chart.places) for line in chart.series):
        tooltip += [alt.Tooltip(f"{key}:Q", title=f"{key}est seed", format=number) for key in ("low", "high")]
        spans = base.mark_rule(clip=True, strokeWidth=1.25)
        layers.append(
            spans.encode(y=alt.Y("low:Q", title=chart.y_title), y2="high:Q", color=look.colour, opacity=look.opacity)
        )
    layers.append(look.points(base.encode(y=y)).encode(tooltip=tooltip))
    if levels:
        dashed = alt.Chart(alt.Data(values=levels)).mark_rule(clip=True, strokeWidth=2)
        shown = [alt.Tooltip("series:N", title="Level"), alt.Tooltip("y:Q", title=chart.y_title, format=number)]
        layers.append(dashed.encode(y=y, color=look.colour, strokeDash=look.dash, opacity=look.opacity, tooltip=shown))
    title = chart.title if has_title else ""
    return chart_spec(layers, rows, place=place, height=HEIGHT, title=title, params=look.params)


def _x(chart: LineChart) -> Any:
    """The axis of layers or updates."""
    alt = imported_altair()
    places = [max(place, 1) if chart.has_log_x else place for place in chart.places]
    first, last = (places[0], places[-1]) if places else (0, 1)
    # A little room at both ends, so that no mark lies on the edge.
    room = (last - first) * 0.03 or 0.5
    scale = alt.Scale(domain=[short(first - room), short(last + room)], nice=False, zero=False)
    axis = {"grid": False, "labelOverlap": "greedy"}
    if chart.has_log_x:
        scale = alt.Scale(type="log", base=2, domain=[max(first, 1) / 1.15, max(last, 1) * 1.15], nice=False)
    if not chart.updates or chart.has_log_x:
        axis["values"] = places
    if chart.updates:
        axis["format"] = "~s"
    else:
        labels = json.dumps(list(chart.x_labels) or chart.headings[: len(places)])
        axis["labelExpr"] = f"{labels}[datum.value]"
    return alt.X("x:Q", title=chart.x_title, axis=alt.Axis(**axis), scale=scale)


class _Look:
    """Colours, marks and the legend of a chart's lines, and what a reader can do with them."""

    def __init__(self, lines: Sequence[str], levels: Sequence[str] = (), *, place: int) -> None:
        alt = imported_altair()
        styles = styles_of(lines)
        dashes = [list(DASHES[number % len(DASHES)]) for number in range(len(levels))]

        def scale(of_lines: Iterable[Any], of_levels: Iterable[Any]) -> Any:
            return alt.Scale(domain=[*lines, *levels], range=[*of_lines, *of_levels])

        # Altair would number these by their order in the process, which is not the same in every run.
        pick = alt.selection_point(name=f"pick{place}", fields=["series"], bind="legend", toggle="true")
        zoom = alt.selection_interval(name=f"zoom{place}", bind="scales", zoom=ZOOM, translate=PAN)
        self.params = [pick, zoom]
        self.opacity = alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.06))
        colours = scale((each.colour for each in styles), [MUTED] * len(levels))
        self.colour = alt.Color("series:N", scale=colours, title=None)
        shapes = scale((each.shape for each in styles), ["stroke"] * len(levels))
        self.shape = alt.Shape("series:N", scale=shapes, title=None)
        self.dash = alt.StrokeDash("series:N", scale=scale([[1, 0]] * len(lines), dashes), title=None)

    def points(self, base: Any) -> Any:
        points = base.mark_point(clip=True, filled=True, size=60)
        return points.encode(color=self.colour, shape=self.shape, opacity=self.opacity)


def _legend_entry(labels: Iterable[str]) -> int:
    """Pixels that the widest entry of a legend takes."""
    return 34 + 6 * max(map(len, labels), default=0)


def scatter_picture(
    clouds: Mapping[str, Sequence[tuple[str, float, float]]], *, name: str, title: str, x_title: str, y_title: str
) -> Picture:
    """Named points by two numbers, a colour and a mark for each cloud."""
    alt = imported_altair()
    rows: list[dict[str, Any]] = [
        {"series": label, "point": point, "x": short(x), "y": short(y)}
        for label, points in clouds.items()
        for point, x, y in points
    ]
    x_scale, y_scale = (alt.Scale(domain=_roomy([0.0, *(row[axis] for row in rows)]), nice=True) for axis in ("x", "y"))
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=x_title, scale=x_scale, axis=alt.Axis(tickCount=5, labelFlush=False)),
        y=alt.Y("y:Q", title=y_title, scale=y_scale),
        tooltip=[
            alt.Tooltip("series:N", title="Model"),
            alt.Tooltip("point:N", title="Layer"),
            alt.Tooltip("x:Q", title=x_title, format=".2f"),
            alt.Tooltip("y:Q", title=y_title, format=".1f"),
        ],
    )
    look = _Look(list(clouds), place=0)
    spec = chart_spec([look.points(base)], rows, place=0, height=HEIGHT + 40, params=look.params)
    return Picture(name=name, title=title, charts=[spec], chart_width=WIDE, legend_entry=_legend_entry(clouds))


def chart_spec(
    layers: Sequence[Any], rows: Sequence[Spec], *, place: int, height: int, title: str = "", params: Sequence[Any] = ()
) -> Spec:
    """One chart as plain data, which takes the width of its place on the page."""
    alt = imported_altair()
    # Names must be unique in a picture.
    first = layers[0].properties(name=f"marks{place}").add_params(*params)
    chart = alt.layer(first, *layers[1:], data=alt.Data(values=list(rows))).properties(width="container", height=height)
    if title:
        chart = chart.properties(title=title)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return {key: value for key, value in spec.items() if key not in ("$schema", "config")}


def imported_altair() -> Any:
    # Only when a report is written: it takes a second, which other commands need not wait for.
    import altair

    # Else data would stand at the top of a chart under a hash, where a picture of several charts does not find it.
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
    # Further digits are not seen, and may differ from one processor to another; JSON has no infinite numbers.
    return None if value is None or not isfinite(value) else round(value, 4)
