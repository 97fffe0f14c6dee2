"""The look of every chart: one colour and one mark for each kind of model, on light and on dark ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from isoglot.study.conditions import label_of

# Hues after Okabe and Ito (2008), which the colour-blind can distinguish; each is seen on its own ground.
LINES = {
    "#0060a8": "#5ab4ff",
    "#c84e00": "#ff8a4c",
    "#007f5f": "#35c79a",
    "#a8508a": "#e59ac8",
    "#8a6100": "#f0c33a",
    "#3a8bbf": "#a9dcf7",
    "#1c2129": "#f4f6f8",
}
"""Colours of lines in light mode, and each one's in dark mode."""
GROUND, INK, FAINT, MUTED = "#ffffff", "#1c2128", "#d5dae1", "#5a6572"
IN_DARK = {GROUND: "#14181f", INK: "#e8ecf1", FAINT: "#39414d", MUTED: "#9eabba", **LINES}
"""Every colour of a chart in light mode, with its colour in dark mode: the page's script replaces one by the other."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
DASHES = ((7, 4), (2, 4), (10, 3, 2, 3))
NUM_STYLES = 3 * len(LINES)
"""Every colour with three marks."""

FIRST = ("default", "no-anchors", "sep-emb", "monolingual", "sep-l1-3", "sep-emb-l1-6", "wiki-cc")
SECOND = ("default-anchors", "extra-anchors", None, None, "sep-l1-6", "sep-emb-l1-3")
PLACES = {label_of(name): place for place, name in enumerate((*FIRST, *SECOND)) if name is not None}
"""Styles of the paper's models; similar models share a colour, with different marks."""

# A font that vl-convert brings along, so that pictures are the same on machines with other fonts or none.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True, kw_only=True)
class Style:
    """The look of one line and its points."""

    colour: str
    shape: str


def styles_of(labels: Sequence[str]) -> list[Style]:
    """The style of each line of a chart."""
    return [_style(place) for place in _places_of(labels)]


def _places_of(labels: Sequence[str]) -> list[int]:
    """Numbers of styles.

    A line such as "Default, mapped" takes its model's colour with any mark; lines of other models take the first
    style that is free.
    """
    places = {line: PLACES[label] for line, label in enumerate(labels) if label in PLACES}
    others = [line for line in range(len(labels)) if line not in places]
    for line in sorted(others, key=lambda line: not _of_same_model(labels[line])):
        taken = set(places.values())
        places[line] = next(place for place in chain(_of_same_model(labels[line]), count()) if place not in taken)
    return [places[line] for line in range(len(labels))]


def _of_same_model(label: str) -> tuple[int, ...]:
    """Numbers of the styles in the colour of the model that a label begins with."""
    own = PLACES.get(label.partition(",")[0])
    return () if own is None else (own, *range(own % len(LINES), NUM_STYLES, len(LINES)))


def _style(place: int) -> Style:
    """Each further round through the colours has the marks shifted, so that a mark comes back in other colours only."""
    shape = SHAPES[(place + 3 * (place // len(LINES))) % len(SHAPES)]
    return Style(colour=tuple(LINES)[place % len(LINES)], shape=shape)


def chart_config() -> dict[str, Any]:
    """Vega-Lite's settings of all charts."""
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "title": {"anchor": "start", "color": INK, "fontSize": 13, "subtitleColor": MUTED, "subtitleFontSize": 11},
        "axis": {
            **{"domainColor": FAINT, "gridColor": FAINT, "tickColor": FAINT, "labelColor": INK, "titleColor": INK},
            **{"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 150},
        },
        "legend": {
            **{"orient": "bottom", "title": None, "labelColor": INK, "labelFontSize": 12, "labelLimit": 260},
            **{"symbolSize": 80, "symbolStrokeWidth": 1.5, "direction": "horizontal"},
        },
        "text": {"color": INK, "fontSize": 11},
    }
