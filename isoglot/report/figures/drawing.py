"""Pictures as SVG text: elements, text that is escaped and fits, and colours for light and for dark mode."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
CHARACTER_WIDTH = 0.6
"""Of a letter, as a share of the font's size; a generous mean, as the reader's font is not known."""
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True)
class Colour:
    """One thing's colour in each mode."""

    name: str
    light: str
    dark: str


GROUND = Colour(name="chart-ground", light="#ffffff", dark="#14181f")
INK = Colour(name="chart-ink", light="#1c2128", dark="#e8ecf1")
FAINT = Colour(name="chart-faint", light="#d5dae1", dark="#39414d")
MUTED = Colour(name="chart-muted", light="#5a6572", dark="#9eabba")
# Hues after Okabe and Ito (2008), which the colour-blind can tell apart, darker or lighter than theirs to be seen on
# both grounds.
LINES = tuple(
    Colour(name=f"chart-{number}", light=light, dark=dark)
    for number, (light, dark) in enumerate(
        (
            ("#0060a8", "#5ab4ff"),
            ("#c84e00", "#ff8a4c"),
            ("#007f5f", "#35c79a"),
            ("#a8508a", "#e59ac8"),
            ("#8a6100", "#f0c33a"),
            ("#3a8bbf", "#a9dcf7"),
            ("#1c2128", "#f4f6f8"),
        )
    )
)
COLOURS = (GROUND, INK, FAINT, MUTED, *LINES)
LIGHT_STYLE = "".join(f".{colour.name}{{color:{colour.light}}}" for colour in COLOURS)
# Paper stays light, whatever the screen.
DARK_STYLE = (
    "@media screen and (prefers-color-scheme:dark){"
    + "".join(f".{colour.name}{{color:{colour.dark}}}" for colour in COLOURS)
    + "}"
)
PUBLISHED = "published"
"""Class of what the paper has, so that a page may hide it."""


def number(value: float) -> str:
    """12.50 -> 12.5; a hundredth of a pixel is enough, and there is no -0."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def tenths(value: float) -> str:
    """12.345 -> 12.3: enough for points, of which a page has thousands."""
    return number(round(value, 1))


def plain(text: str) -> str:
    """Text as XML may hold it: no markup, no control characters."""
    return escape(NOT_IN_XML.sub("\ufffd", text))


def element(tag: str, content: str = "", **attributes: str | float) -> str:
    """`content` is SVG already; values of attributes are escaped here, and `stroke_width` is written stroke-width."""
    written = "".join(
        f' {name.strip("_").replace("_", "-")}="{plain(value) if isinstance(value, str) else number(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def coloured(colour: Colour, content: str) -> str:
    """What is drawn in `currentColor` inside has this colour."""
    return element("g", content, class_=colour.name, color=colour.light)


def published(content: str) -> str:
    """What a page may hide."""
    return element("g", content, class_=PUBLISHED)


def shown_text(text: str, *, x: float, y: float, size: float = 13, anchor: str = "start", **more: str) -> str:
    where = {} if anchor == "start" else {"text_anchor": anchor}
    return element("text", plain(text), x=x, y=y, font_size=size, **where, **{"fill": "currentColor", **more})


def level(*, x: float, width: float, y: float, thickness: float = 2, dashes: str = "", said: str = "") -> str:
    """A line from left to right; `said` is shown on hover."""
    how = {"stroke_dasharray": dashes} if dashes else {}
    return element(
        "line",
        hover(said) if said else "",
        x1=x,
        x2=x + width,
        y1=y,
        y2=y,
        stroke="currentColor",
        stroke_width=thickness,
        **how,
    )


def hover(text: str) -> str:
    return element("title", plain(text))


def text_width(text: str, *, size: float) -> float:
    """An estimate; Chinese letters are as wide as they are high."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (wide + CHARACTER_WIDTH * (len(text) - wide))


def shortened(text: str, *, width: float, size: float) -> str:
    """Cut so that it fits, with an ellipsis to say so."""
    if text_width(text, size=size) <= width:
        return text
    while text and text_width(text + "…", size=size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrapped(text: str, *, width: float, size: float) -> list[str]:
    """Lines that fit; a word that is longer than a line is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size=size) <= width:
            lines[-1] = longer
        else:
            lines.append(shortened(word, width=width, size=size))
    return lines


def picture(parts: Iterable[str], *, width: float, height: float, title: str, description: str) -> str:
    """A whole SVG document, with what a screen reader says of it."""
    content = [
        hover(title),
        element("desc", plain(description)),
        f"<style>{DARK_STYLE}</style>",
        coloured(GROUND, element("rect", width=width, height=height, fill="currentColor")),
        *parts,
    ]
    written = element(
        "svg",
        "\n" + "\n".join(content) + "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=f"{title}. {description}",
        font_family=FONT,
    )
    return written + "\n"
