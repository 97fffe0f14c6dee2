"""Charts in Vega-Lite, as plain data: their columns and marks, legends and zooming."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from isoglot.report.figures.picture import DASHES, MUTED, Spec, Style

# The width of a chart alone in a file.
WIDE = 700
HEIGHT = 260
# A wheel alone scrolls the page; two fingers on a touchpad count as a wheel with this key.
ZOOM = "wheel![event.ctrlKey]"
PAN = "[mousedown, window:mouseup] > window:mousemove!"
KINDS = {"Q": "quantitative", "N": "nominal"}
Settings = dict[str, Any]
"""Some of the looks or the channels of marks, put together with |."""


def column(named: str, **settings: Any) -> Settings:
    """A column of the rows as a channel shows it: "x:Q" is the column x, which is quantitative."""
    field, kind = named.split(":")
    return {"field": field, "type": KINDS[kind], **settings}


def low_to_high(title: str | None) -> Settings:
    """The channels of a mark that goes from the lowest value to the highest."""
    return {"y": column("low:Q", title=title), "y2": {"field": "high"}}


def marks(kind: str, channels: Settings, *, where: str = "", rows: Sequence[Spec] = (), **look: Any) -> Spec:
    """One layer of a chart: a mark for each row where a condition holds, of the chart's rows or its own."""
    return {
        **({"data": {"values": list(rows)}} if rows else {}),
        "mark": {"type": kind, **look},
        "encoding": channels,
        **({"transform": [{"filter": where}]} if where else {}),
    }


class Look:
    """Colours, marks and the legend of a chart's lines, and what a reader can do with them."""

    def __init__(self, lines: Mapping[str, Style], levels: Sequence[str] = (), *, place: int) -> None:
        styles = lines.values()
        dashes = [list(DASHES[number % len(DASHES)]) for number in range(len(levels))]

        def scaled(of_lines: Iterable[Any], of_levels: Iterable[Any]) -> Settings:
            scale = {"domain": [*lines, *levels], "range": [*of_lines, *of_levels]}
            return column("series:N", scale=scale, title=None)

        pick, zoom = f"pick{place}", f"zoom{place}"
        picked = {"type": "point", "fields": ["series"], "toggle": "true"}
        zoomed = {"type": "interval", "zoom": ZOOM, "translate": PAN}
        self.params: list[Spec] = [
            {"name": pick, "select": picked, "bind": "legend"},
            {"name": zoom, "select": zoomed, "bind": "scales"},
        ]
        self.colour: Settings = {
            "color": scaled((each.colour for each in styles), [MUTED] * len(levels)),
            "opacity": {"condition": [{"param": pick, "value": 1}], "value": 0.06},
        }
        """The channels of every layer, so that a line that is not picked in the legend fades."""
        self.shape: Settings = {"shape": scaled((each.shape for each in styles), ["stroke"] * len(levels))}
        self.dash: Settings = {"strokeDash": scaled([[1, 0]] * len(lines), dashes)}

    def points(self, channels: Settings, *, where: str = "") -> Spec:
        return marks("point", channels | self.colour | self.shape, where=where, clip=True, filled=True, size=60)


def legend_entry(labels: Iterable[str]) -> int:
    """Pixels that the widest entry of a legend takes."""
    return 34 + 6 * max(map(len, labels), default=0)


def chart_spec(
    layers: Sequence[Spec],
    rows: Sequence[Spec],
    *,
    place: int,
    height: int,
    title: str | list[str] = "",
    params: Sequence[Spec] = (),
) -> Spec:
    """Layers of marks over one another, in a chart as wide as its place on the page."""
    # Names must be unique in a picture. A selection belongs to one layer by name.
    name = f"marks{place}"
    return {
        **({"title": title} if title else {}),
        "data": {"values": list(rows)},
        "width": "container",
        "height": height,
        **({"params": [{**each, "views": [name]} for each in params]} if params else {}),
        "layer": [{**layers[0], "name": name}, *layers[1:]],
    }


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
