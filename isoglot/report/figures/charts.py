"""Charts in Vega-Lite, built with Altair: their looks, legends and zooming; and charts of points."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from isoglot.report.figures.picture import DASHES, MUTED, Picture, Spec, Style, styles_of

# The width of a chart alone in a file.
WIDE = 700
HEIGHT = 260
# A wheel alone scrolls the page; two fingers on a touchpad count as a wheel with this key.
ZOOM = "wheel![event.ctrlKey]"
PAN = "[mousedown, window:mouseup] > window:mousemove!"


class Look:
    """Colours, marks and the legend of a chart's lines, and what a reader can do with them."""

    def __init__(self, lines: Mapping[str, Style], levels: Sequence[str] = (), *, place: int) -> None:
        alt = imported_altair()
        styles = lines.values()
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


def legend_entry(labels: Iterable[str]) -> int:
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
    x_scale, y_scale = (alt.Scale(domain=roomy([0.0, *(row[axis] for row in rows)]), nice=True) for axis in ("x", "y"))
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
    look = Look(dict(zip(clouds, styles_of([*clouds]), strict=True)), place=0)
    spec = chart_spec([look.points(base)], rows, place=0, height=HEIGHT + 40, params=look.params)
    return Picture(name=name, title=title, charts=[spec], chart_width=WIDE, legend_entry=legend_entry(clouds))


def chart_spec(
    layers: Sequence[Any], rows: Sequence[Spec], *, place: int, height: int, title: Any = "", params: Sequence[Any] = ()
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


def roomy(values: Iterable[float]) -> list[float]:
    """A span with room for a whole mark at its upper end."""
    low, high = span(values)
    return [low, round(high + 0.03 * (high - low), 4)]


def short(value: float | None) -> float | None:
    # Further digits are not seen, and may differ from one processor to another; JSON has no infinite numbers.
    return None if value is None or not isfinite(value) else round(value, 4)
