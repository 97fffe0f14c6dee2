"""SVG as PNG, for papers and slides that take no SVG."""

from functools import cache

from resvg_py import svg_to_bytes

ZOOM = 2
"""1600 pixels across a picture of 800: sharp over both columns of a printed page."""


def png_of(svg: str) -> bytes | None:
    """None on a machine without fonts, where all words would be missing from the picture."""
    return _rendered(svg, zoom=ZOOM) if _has_fonts() else None


@cache
def _has_fonts() -> bool:
    blank, letter = (
        _rendered(f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{content}</svg>', zoom=1)
        for content in ("", '<text x="4" y="16">H</text>')
    )
    return letter != blank


def _rendered(svg: str, *, zoom: float) -> bytes:
    return bytes(svg_to_bytes(svg_string=svg, zoom=zoom))
