"""SVG elements: escaped, short numbers, text that fits, colours that can be seen."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.figures.drawing import (
    COLOURS,
    FAINT,
    GROUND,
    INK,
    LINES,
    MUTED,
    element,
    number,
    picture,
    plain,
    shortened,
    shown_text,
    text_width,
    wrapped,
)
from tests.report.svg_pictures import NAMESPACE, contrast, parsed


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0"), (-0.001, "0"), (100, "100"), (-100.0, "-100"), (12.5, "12.5"), (-0.104, "-0.1"), (1 / 3, "0.33")],
)
def test_numbers_are_short(value: float, written: str) -> None:
    assert number(value) == written


@given(st.floats(min_value=-1e5, max_value=1e5))
def test_numbers_are_near(value: float) -> None:
    assert abs(float(number(value)) - value) <= 0.00501


@given(st.text())
def test_any_text_can_be_shown(text: str) -> None:
    shown = parsed(f'<svg xmlns="http://www.w3.org/2000/svg">{shown_text(text, x=0, y=0)}</svg>')
    found = shown.findall(f"{NAMESPACE}text")[0].text or ""
    # XML reads "\r" as a line's end, and has no control characters.
    expected = re.sub("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub("\r\n?", "\n", text))
    assert found == expected


def test_attributes_are_escaped_and_named_as_in_svg() -> None:
    written = element("g", "inside", class_='"><script>', stroke_width=1.50, viewBox="0 0")
    assert written == '<g class="&quot;&gt;&lt;script&gt;" stroke-width="1.5" viewBox="0 0">inside</g>'
    assert element("g") == "<g/>"
    assert plain("a & b") == "a &amp; b"


@given(st.text(alphabet="ab 中", max_size=80), st.floats(min_value=20, max_value=300))
def test_text_is_made_to_fit(text: str, width: float) -> None:
    short = shortened(text, width=width, size=13)
    assert text_width(short, size=13) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1].rstrip()))
    lines = wrapped(text, width=width, size=13)
    assert all(text_width(line, size=13) <= width for line in lines)
    if all(text_width(word, size=13) <= width for word in text.split()):
        assert " ".join(lines) == " ".join(text.split())


def test_chinese_letters_are_wider() -> None:
    assert text_width("中文", size=10) == 20
    assert text_width("ab", size=10) == 12


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_are_seen_on_their_ground(mode: str) -> None:
    ground = getattr(GROUND, mode)
    assert contrast(getattr(INK, mode), ground) >= 7
    assert contrast(getattr(MUTED, mode), ground) >= 4.5
    assert all(contrast(getattr(line, mode), ground) >= 3 for line in LINES)
    assert contrast(getattr(FAINT, mode), ground) < 3
    assert all(getattr(one, mode) != getattr(other, mode) for one, other in combinations(LINES, 2))


def test_a_picture_says_what_it_is_and_follows_the_mode() -> None:
    svg = picture([element("g")], width=10, height=20.5, title="<Title>", description="What & why")
    root = parsed(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "<Title>. What & why"
    assert root.attrib["viewBox"] == "0 0 10 20.5"
    assert [child.tag.removeprefix(NAMESPACE) for child in root] == ["title", "desc", "style", "g", "g"]
    style = root.findtext(f"{NAMESPACE}style") or ""
    assert style.startswith("@media screen and (prefers-color-scheme:dark){")
    assert all(f".{colour.name}{{color:{colour.dark}}}" in style for colour in COLOURS)
