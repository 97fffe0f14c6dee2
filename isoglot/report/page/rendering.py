"""HTML from templates, which escape whatever is not markup: one file that needs no network and runs its own script."""

import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from isoglot.errors import IsoglotError
from isoglot.files import text_sum, write_whole
from isoglot.report.figures.picture import IN_DARK, NOT_IN_XML, REPLACEMENT, chart_config
from isoglot.report.page.section import SECTION_WORDS, TEMPLATES, Section
from isoglot.report.quantities import duration, listed, size_in_bytes
from isoglot.study.conditions import label_of

# The folder of pictures beside the page.
FIGURES = "figures"
# The largest page, so that it can be mailed and opens at once; studies of many languages have many pictures.
MOST_BYTES = 5_000_000


def page_html(*, title: str, head: Mapping[str, Any], sections: Sequence[Section], drawings: Mapping[str, str]) -> str:
    """The page; `drawings` has the SVG of each picture by name, shown without a script and on paper."""
    page = _page(title=title, head=head, sections=sections, drawings=drawings)
    # Drawings that would make the page too large are loaded from their files instead.
    return page if len(page.encode()) < MOST_BYTES else _page(title=title, head=head, sections=sections, drawings={})


def headline_text(survival: Section | None) -> str:
    """The sentence at the top of the page without its markup, for terminals; empty without that section."""
    if survival is None:
        return ""
    return Markup(_environment().get_template("headline.html").render(values=survival.values)).striptags()


def _page(**values: Any) -> str:
    pictures = [picture for section in values["sections"] for picture in section.pictures]
    charts = {name: chart for picture in pictures for name, chart in picture.page_charts.items()}
    style, script = ((TEMPLATES / name).read_text("utf-8") for name in ("style.css", "script.js"))
    # A page without charts stays small.
    if charts:
        script = _vega() + "\n" + script
    # Whatever a study's names hold, the page loads nothing but its own pictures and runs this one script.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    values |= {"style": Markup(style), "script": Markup(script), "script_digest": digest}
    values["drawn"] = {"charts": charts, "config": chart_config(), "colours": IN_DARK}
    return _environment().get_template("page.html").render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("isoglot.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # A name that a template misspells is an error, not an empty text.
        undefined=StrictUndefined,
        finalize=_without_control_characters,
    )
    environment.globals |= {"figures": FIGURES, "section_words": SECTION_WORDS}
    environment.filters |= {"duration": duration, "label": label_of, "mean": fmean}
    environment.filters |= {"listed": listed, "size_in_bytes": size_in_bytes}
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "separators": (",", ":")}
    return environment


def _without_control_characters(value: Any) -> Any:
    # Markup, a subclass of str, has been through here before.
    return NOT_IN_XML.sub(REPLACEMENT, value) if type(value) is str else value


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script: 0.9 MB, and seconds to put together, so that it is kept."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isoglot"
    stem = f"vega-{version('vl-convert-python')}"
    # The name ends with the checksum, so that a damaged file is not taken.
    for path in folder.glob(f"{stem}-*.js"):
        with suppress(OSError, UnicodeDecodeError):
            script = path.read_bytes().decode()
            if path.name == f"{stem}-{text_sum(script)}.js":
                return script
    from vl_convert import javascript_bundle

    # In a string of the script these would end its element all the same.
    script = re.sub(r"<(?=/script|!--)", r"\\x3c", javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    with suppress(OSError, IsoglotError):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{stem}-{text_sum(script)}.js", script)
    return script
