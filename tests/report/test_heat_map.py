"""Heat maps as a reader sees them: Figure 7's layout, numbers in the right cells."""

import itertools
from xml.etree.ElementTree import Element

from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.report.figures.heat_map import WIDTH, Column, Group, heat_map
from tests.report.svg_pictures import NAMESPACE, brightness, hovers, parsed, texts

PAIRS = ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]
KINDS = ["Bilingual", "Monolingual", "Random"]
ROWS = [*(f"L{layer}" for layer in range(9)), "AVER"]


def value(kind: int, pair: int, row: int) -> float:
    return (kind + 3 * pair + 15 * row) / 150


def figure_7(*, by_pair: bool = False) -> str:
    def column(label: str, kind: int, pair: int) -> Column:
        return Column(label=label, values=[value(kind, pair, row) for row in range(len(ROWS))])

    if by_pair:
        groups = [
            Group(label=pair, columns=[column(kind, k, p) for k, kind in enumerate(KINDS)])
            for p, pair in enumerate(PAIRS)
        ]
    else:
        groups = [
            Group(label=kind, columns=[column(pair, k, p) for p, pair in enumerate(PAIRS)])
            for k, kind in enumerate(KINDS)
        ]
    return heat_map(title="Figure 7", rows=ROWS, groups=groups, quantity="Linear CKA", summary_rows=1)


def cells(root: Element) -> dict[str, tuple[Element, Element]]:
    """The rectangle and the number of each cell, by what is said of it on hover."""
    found = {}
    for group in root.iter(f"{NAMESPACE}g"):
        said, box, text = (group.find(NAMESPACE + tag) for tag in ("title", "rect", "text"))
        if said is not None and box is not None and text is not None:
            found[said.text or ""] = (box, text)
    return found


def test_every_cell_has_its_number_colour_and_place() -> None:
    root = parsed(figure_7())
    found = cells(root)
    assert len(found) == len(PAIRS) * len(KINDS) * len(ROWS)
    for k, kind in enumerate(KINDS):
        for p, pair in enumerate(PAIRS):
            for r, row in enumerate(ROWS):
                _, text = found[f"{kind}, {pair}, {row}: {value(k, p, r):.2f}"]
                assert text.text == f"{value(k, p, r):.2f}"
    by_value = sorted(found.items(), key=lambda item: float(item[0].split(": ")[1]))
    shades = [brightness(box.attrib["fill"]) for _, (box, _) in by_value]
    assert shades[0] < shades[len(shades) // 2] < shades[-1]
    assert {*PAIRS, *KINDS, *ROWS, "Figure 7", "Linear CKA", "0.00", "1.00"} <= set(texts(root))


def test_cells_do_not_overlap_and_lie_within_the_picture() -> None:
    for by_pair in (False, True):
        root = parsed(figure_7(by_pair=by_pair))
        boxes = [[float(box.attrib[name]) for name in ("x", "y", "width", "height")] for box, _ in cells(root).values()]
        assert len(boxes) == 150
        assert all(x >= 0 and x + width <= WIDTH for x, _, width, _ in boxes)
        assert all(y + height <= float(root.attrib["height"]) for _, y, _, height in boxes)
        for place, (x, y, width, height) in enumerate(boxes):
            for other_x, other_y, other_width, other_height in boxes[place + 1 :]:
                is_apart_across = x + width <= other_x or other_x + other_width <= x
                is_apart_down = y + height <= other_y or other_y + other_height <= y
                assert is_apart_across or is_apart_down


def test_short_headings_are_level_and_long_ones_aslant() -> None:
    def turned(svg: str) -> set[str]:
        return {text.text or "" for text in parsed(svg).iter(f"{NAMESPACE}text") if "transform" in text.attrib}

    assert turned(figure_7()) == set()
    assert turned(figure_7(by_pair=True)) == set(KINDS)


def test_the_summary_stands_apart() -> None:
    tops = sorted({float(box.attrib["y"]) for box, _ in cells(parsed(figure_7())).values()})
    steps = [round(low - high, 2) for high, low in itertools.pairwise(tops)]
    assert steps == [27.0] * 8 + [35.0]


def test_what_was_not_measured_is_empty() -> None:
    groups = [Group(label="g", columns=[Column(label="c", values=[None, 0.5])])]
    root = parsed(heat_map(title="t", rows=["a", "b"], groups=groups, quantity="q"))
    assert "g, c, a: none" in hovers(root)
    assert list(cells(root)) == ["g, c, b: 0.50"]
    assert root.attrib["aria-label"] == "t. q by a, b. g c: none, 0.50."


@given(st.text(max_size=20))
@settings(max_examples=30)
def test_names_are_text_and_never_markup(name: str) -> None:
    label = f'"/><script>{name}'
    groups = [Group(label=label, columns=[Column(label=label, values=[0.5])])]
    svg = heat_map(title=label, rows=[label], groups=groups, quantity=label)
    assert "<script" not in svg
    assert parsed(svg).attrib["role"] == "img"


def test_the_same_map_is_the_same_bytes() -> None:
    assert figure_7() == figure_7()
