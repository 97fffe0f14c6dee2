"""Pictures as a reader sees them, for the tests of charts: the data of marks, the words of an SVG, and contrasts."""

import re
from typing import Any
from xml.etree import ElementTree

from isoglot.report.figures.picture import Picture

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}text")]


def marks(picture: Picture) -> list[dict[str, Any]]:
    """The rows of data behind all charts."""
    return [row for chart in picture.charts for row in chart["data"]["values"]]


def contrast(one: str, other: str) -> float:
    """WCAG 2: from 1 to 21."""
    high, low = sorted((_brightness(one), _brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _brightness(colour: str) -> float:
    parts = [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
