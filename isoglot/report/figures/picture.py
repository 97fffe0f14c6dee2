"""A picture of a report: charts for the page, and the same charts in one SVG or PNG file."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
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
        return {
            f"{self.file_stem}.{place}": {
                **chart,
                "params": [*chart.get("params", ()), PAPER],
                "config": {"legend": {"columns": columns}},
            }
            for place, chart in enumerate(self.charts)
        }

    @cached_property
    def _file_spec(self) -> Spec:
        columns = min(self.columns, len(self.charts))
        letters = self.chart_width * columns // 6
        config = chart_config()
        config["legend"]["columns"] = max(1, self.chart_width // self.legend_entry)
        return {
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

    @cached_property
    def digest(self) -> str:
        """Changes with whatever changes the picture's files."""
        text = json.dumps(self._file_spec, sort_keys=True) + version("vl-convert-python")
        return sha256(text.encode()).hexdigest()[:16]

    def svg(self) -> str:
        """A whole SVG document; its first line holds the digest, so that an unchanged picture is recognised."""
        from vl_convert import vegalite_to_svg

        drawn = vegalite_to_svg(dict(self._file_spec))
        # Other processors may compute other last digits; a hundredth of a pixel is enough.
        drawn = LONG_NUMBER.sub(_rounded, NOT_IN_XML.sub("\ufffd", drawn))
        named = f'class="marks" role="img" aria-label="{escape(self.title)}"'
        return f"<!-- {self.digest} -->\n" + drawn.replace('class="marks"', named, 1) + "\n"

    def is_drawn_in(self, svg: str) -> bool:
        """Whether an SVG document shows this very picture."""
        return svg.startswith(f"<!-- {self.digest} -->")


def png_of(svg: str) -> bytes:
    """The same picture for papers and slides that take no SVG."""
    from vl_convert import svg_to_png

    return bytes(svg_to_png(svg, scale=SCALE))


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
