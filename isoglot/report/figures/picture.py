"""A picture of a report: charts for the page, and the same charts in one SVG or PNG file."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from textwrap import wrap
from typing import Any

from isoglot.report.figures.chart_style import GROUND, chart_config

Spec = Mapping[str, Any]
"""A chart in Vega-Lite, as wide as the page has room for."""
PAPER = {"name": "paper", "value": True}
"""Whether the paper's own numbers are shown; the page's script changes it."""
SCALE = 2
"""Pixels of a PNG for each pixel of its SVG: sharp on a printed page."""
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
REPLACEMENT = "\ufffd"
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Charts that belong together, side by side in as many columns as there is room for."""

    name: str
    """Its subject, as in "figure-6.en-fr"."""
    title: str
    charts: tuple[Spec, ...]
    chart_width: int
    """In files; on the page a chart takes the width it gets."""
    columns: int = 1
    legend_entry: int = 200
    """Pixels that an entry of a chart's own legend needs."""
    legend: str = ""
    """An explanation of the marks, where the charts have no legend of their own."""
    has_published: bool = False
    """Whether the paper's own numbers are in it."""

    @property
    def file_stem(self) -> str:
        """The name as any disk takes it, whatever languages are called."""
        return re.sub(r"[^\w.-]+", "_", self.name)

    @property
    def page_charts(self) -> dict[str, Spec]:
        """The charts by their name on the page, where legends have the columns that there is room for."""
        columns = {"expr": f"max(1, floor(width / {self.legend_entry}))"}
        more = {"config": {"legend": {"columns": columns}}}
        return {
            f"{self.file_stem}.{place}": {**chart, **more, "params": [*chart.get("params", ()), PAPER]}
            for place, chart in enumerate(self.charts)
        }

    @cached_property
    def _file_spec(self) -> str:
        columns = min(self.columns, len(self.charts))
        letters = self.chart_width * columns // 6
        config = chart_config()
        config["legend"]["columns"] = max(1, self.chart_width // self.legend_entry)
        spec = _plain(
            {
                "title": {
                    **{"text": wrap(self.title, letters), "subtitle": wrap(self.legend, letters), "fontSize": 15},
                    **{"offset": 14},
                },
                "concat": [{**chart, "width": self.chart_width} for chart in self.charts],
                "columns": columns,
                "params": [PAPER],
                "resolve": {"scale": {"color": "independent", "stroke": "independent", "shape": "independent"}},
                "config": {**config, "background": GROUND, "aria": False, "padding": 12},
            }
        )
        return json.dumps(spec)

    @cached_property
    def digest(self) -> str:
        """Changes with whatever changes the picture's files."""
        return sha256((self._file_spec + version("vl-convert-python")).encode()).hexdigest()[:16]

    def svg(self) -> str:
        """A whole SVG document that begins with the digest, so that an unchanged picture is recognised."""
        named = f'{self._beginning} role="img" aria-label="{escape(_plain(self.title))}"'
        return _svg_of(self._file_spec).replace("<svg", named, 1)

    def is_drawn_in(self, svg: str) -> bool:
        """Whether an SVG document shows this very picture."""
        return svg.startswith(self._beginning)

    @property
    def _beginning(self) -> str:
        return f'<svg data-spec="{self.digest}"'


# The reports that a running study writes again and again have few new pictures.
@lru_cache(maxsize=64)
def _svg_of(spec: str) -> str:
    from vl_convert import vegalite_to_svg

    # Other processors may compute other last digits; a hundredth of a pixel is enough.
    return LONG_NUMBER.sub(_rounded, vegalite_to_svg(spec)) + "\n"


@lru_cache(maxsize=16)
def png_of(svg: str) -> bytes:
    """The same picture for papers and slides that take no SVG."""
    from vl_convert import svg_to_png

    return bytes(svg_to_png(svg, scale=SCALE))


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _plain(value: Any) -> Any:
    """The same without control characters, on which the library would end the whole process."""
    if isinstance(value, str):
        return NOT_IN_XML.sub(REPLACEMENT, value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list | tuple) else value
