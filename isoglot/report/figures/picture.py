"""A picture of a report: the look of its charts, the charts for the page, and the same charts as SVG."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from itertools import chain, count
from textwrap import wrap
from typing import Any, NamedTuple

from isoglot.study.conditions import label_of

# Colours of lines in light mode, and each one's in dark mode. Hues after Okabe and Ito (2008), which the colour-blind
# can distinguish; each is seen on its own ground.
LINES = {
    "#0060a8": "#5ab4ff",
    "#c84e00": "#ff8a4c",
    "#007f5f": "#35c79a",
    "#5e7d00": "#b7d84b",
    "#8a6100": "#f0c33a",
    "#3a8bbf": "#a9dcf7",
    "#1c2129": "#f4f6f8",
}
GROUND, INK, FAINT, MUTED = "#ffffff", "#1c2128", "#d5dae1", "#5a6572"
# The paper's own numbers, in charts as in the page's text; no model has this colour.
PUBLISHED = "#7a3e6b"
# The page's script replaces one by the other in the text of a chart, so that no colour may stand on both sides.
IN_DARK = {GROUND: "#14181f", INK: "#e8ecf1", FAINT: "#39414d", MUTED: "#9eabba", PUBLISHED: "#e59ac8", **LINES}
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
DASHES = ((7, 4), (2, 4), (10, 3, 2, 3))

# Places of the paper's models in the first and second round through the colours: similar models share a colour, with
# different marks. Wiki-CC and Extra anchors both change the text; No anchors and Extra anchors are opposites.
FIRST = ("default", "no-anchors", "sep-emb", "monolingual", "sep-l1-3", "sep-emb-l1-6", "wiki-cc")
SECOND = ("default-anchors", None, None, None, "sep-l1-6", "sep-emb-l1-3", "extra-anchors")
PLACES = {label_of(name): place for place, name in enumerate((*FIRST, *SECOND)) if name is not None}

# A font that vl-convert brings along, so that pictures are the same on machines with other fonts or none.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
Spec = Mapping[str, Any]
"""A chart in Vega-Lite, as wide as the page has room for."""
# Whether the paper's own numbers are shown; the page's script changes it.
PAPER = {"name": "paper", "value": True}
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
BEGINNING = '<svg data-spec="'
"""How all pictures of reports begin."""
CLIP = re.compile(r"(?<=[\"#])clip\d+(?=[\")])")
REPLACEMENT = "\ufffd"
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Style(NamedTuple):
    """The look of one line and its points."""

    colour: str
    shape: str


def styles_of(labels: Sequence[str]) -> list[Style]:
    """The style of each line of a chart."""
    places = {line: PLACES[label] for line, label in enumerate(labels) if label in PLACES}
    # A line such as "Default, mapped" takes its model's colour with any mark, before others take what is free.
    for line in sorted({*range(len(labels))} - {*places}, key=lambda line: not _of_same_model(labels[line])):
        taken = set(places.values())
        places[line] = next(place for place in chain(_of_same_model(labels[line]), count()) if place not in taken)
    return [_style(places[line]) for line in range(len(labels))]


def _of_same_model(label: str) -> Sequence[int]:
    """Places in the colour of the model that a label begins with, three rounds through the marks."""
    own = PLACES.get(label.partition(",")[0])
    return () if own is None else (own, *range(own % len(LINES), 3 * len(LINES), len(LINES)))


def _style(place: int) -> Style:
    # Each further round through the colours has the marks shifted, so that a mark comes back in other colours only.
    shape = SHAPES[(place + 3 * (place // len(LINES))) % len(SHAPES)]
    return Style(tuple(LINES)[place % len(LINES)], shape)


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


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Charts that belong together, side by side in as many columns as there is room for."""

    name: str
    """Its subject, as in "figure-6.en-fr"."""
    title: str
    charts: Sequence[Spec]
    chart_width: int
    """In files; on the page a chart takes the width it gets."""
    columns: int = 1
    legend_entry: int = 200
    """Pixels that an entry of a chart's own legend needs."""
    legend: str = ""
    """An explanation of the marks, where the charts have no legend of their own."""
    has_published: bool = False
    """Whether the paper's own numbers are in it."""
    has_panels: bool = False
    """Whether its charts are small multiples, of which many stand side by side."""

    @property
    def file_stem(self) -> str:
        """The name as any disk takes it, whatever languages are called."""
        return re.sub(r"[^\w.-]+", "_", self.name)

    @property
    def page_charts(self) -> dict[str, Spec]:
        """The charts by their name on the page, whose script gives legends the columns that there is room for."""
        # As an expression of the chart's width, Vega would lay out the legend first and cut off its last rows.
        more = {"usermeta": {"legendEntry": self.legend_entry}}
        return {
            f"{self.file_stem}.{place}": {**chart, **more, "params": [*chart.get("params", ()), PAPER]}
            for place, chart in enumerate(self.charts)
        }

    @cached_property
    def _file_spec(self) -> str:
        columns = min(self.columns, len(self.charts))
        # Vega breaks no lines. A letter takes about six pixels, a large one of the title nine.
        width = self.chart_width * columns
        config = chart_config()
        config["legend"]["columns"] = max(1, self.chart_width // self.legend_entry)
        heading = {"text": wrap(self.title, width // 9), "subtitle": wrap(self.legend, width // 6)}
        spec = {
            "title": {**heading, "fontSize": 15, "offset": 14},
            "concat": [{**chart, "width": self.chart_width} for chart in self.charts],
            "columns": columns,
            "params": [PAPER],
            # Charts side by side have other lines, and each one a legend of its own.
            "resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")},
            "config": {**config, "background": GROUND, "aria": False, "padding": 12},
        }
        return json.dumps(_plain(spec))

    @cached_property
    def digest(self) -> str:
        """Changes with whatever changes the picture's files, the program that draws them included."""
        return sha256((self._file_spec + version("vl-convert-python")).encode()).hexdigest()[:16]

    def svg(self) -> str:
        """A whole SVG document that begins with the digest."""
        named = f'{BEGINNING}{self.digest}" role="img" aria-label="{escape(_plain(self.title))}"'
        drawn = _svg_of(self._file_spec).replace("<svg", named, 1)
        # Vega numbers clip paths from the first picture of a process on; on a page, names must be unique.
        numbers = {number: place for place, number in enumerate(dict.fromkeys(CLIP.findall(drawn)))}
        return CLIP.sub(lambda clip: f"{self.digest}-{numbers[clip[0]]}", drawn)


# The reports that a running study writes again and again have few new pictures.
@lru_cache(maxsize=64)
def _svg_of(spec: str) -> str:
    from vl_convert import vegalite_to_svg

    # Other processors may compute other last digits; a hundredth of a pixel is enough.
    return LONG_NUMBER.sub(_rounded, vegalite_to_svg(spec)) + "\n"


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _plain(value: Any) -> Any:
    # On control characters in any text the library would end the whole process.
    if isinstance(value, str):
        return NOT_IN_XML.sub(REPLACEMENT, value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list | tuple) else value
