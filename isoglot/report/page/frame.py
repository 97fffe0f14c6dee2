"""The whole page around its sections: one file that needs no network and runs no script but its own."""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from isoglot.report.figures.drawing import DARK_STYLE, LIGHT_STYLE
from isoglot.report.page.markup import Html, joined, tag
from isoglot.report.page.section import Section

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Ccircle cx='3' cy='4' r='2.6' "
    "fill='%230060a8'/%3E%3Ccircle cx='5' cy='4' r='2.6' fill='%23c84e00' fill-opacity='.75'/%3E%3C/svg%3E"
)


def page_frame(*, title: str, head: Html, sections: Sequence[Section]) -> str:
    """`head` stands above the list of sections."""
    style, script = _asset("style.css"), _asset("script.js")
    # Whatever a study's names hold, the page loads nothing and runs this one script.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    links = (tag("li", tag("a", section.short_title, href=f"#{section.anchor}")) for section in sections)
    body = tag(
        "body",
        tag("a", "Skip to the results", href=f"#{sections[0].anchor}" if sections else "#", class_="skip"),
        tag("header", head),
        tag("nav", tag("ul", *links), aria_label="Sections"),
        tag("main", *(section.html() for section in sections)),
        tag(
            "footer",
            "Made by isoglot. The paper: Wu, Conneau, Li, Zettlemoyer and Stoyanov, “Emerging Cross-lingual "
            "Structure in Pretrained Language Models”, ACL 2020.",
        ),
        tag("div", id="tooltip", role="status", hidden=True),
        tag("script", Html(script)),
    )
    head_element = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href=ICON),
        tag("style", Html(style + LIGHT_STYLE + DARK_STYLE)),
    )
    return joined([Html("<!doctype html>\n"), tag("html", head_element, body, lang="en"), Html("\n")])


@cache
def _asset(name: str) -> str:
    return (files("isoglot.report.page") / name).read_text(encoding="utf-8")
