"""Bars are as long as their numbers, and say them."""

import re

import pytest

from isoglot.report.figures.bar_chart import Bar, BarChart, Panel, bar_chart
from isoglot.report.figures.drawing import LINES, text_width
from tests.report.svg_pictures import NAMESPACE, hovers, parsed, rectangles, texts

CHART = BarChart(
    title="Scores",
    rows=[("Default", LINES[0]), ("Sep <b>", LINES[1]), ("Late", LINES[1])],
    panels=[
        Panel(
            title="NER in fr",
            bars=[
                Bar(value=80.0, range=(70.0, 90.0), published=79.8),
                Bar(value=20.0),
                Bar(value=None, missing="pending"),
            ],
            level=("chance", 33.3),
        ),
        Panel(title="NER in zh", bars=[Bar(value=40.0), Bar(value=0.0), Bar(value=10.0)]),
    ],
)


@pytest.mark.parametrize(("columns", "width"), [(2, 800.0), (1, 380.0)])
def test_lengths_go_with_values_and_every_value_is_said(columns: int, width: float) -> None:
    root = parsed(bar_chart(CHART, columns=columns, width=width))
    bars = [float(each["width"]) for each in rectangles(root) if each.get("rx")]
    assert len(bars) == 5
    for value, length in zip((80, 20, 40), bars, strict=False):
        assert length / bars[0] == pytest.approx(value / 80, abs=0.01)
    assert {"80.0", "20.0", "40.0", "0.0", "pending", "Default", "Sep <b>", "NER in fr"} <= set(texts(root))
    assert "Default, NER in fr: 80.0% (70.0% to 90.0%)" in hovers(root)
    assert "Default, NER in fr, the paper: 79.8%" in hovers(root)
    assert "chance: 33.3%" in hovers(root)


def test_a_bar_without_a_thin_line_is_said_to_be_of_one_seed() -> None:
    def legend(*bars: Bar) -> str:
        chart = BarChart(title="t", rows=CHART.rows[: len(bars)], panels=[Panel(title="p", bars=list(bars))])
        return next(text for text in texts(parsed(bar_chart(chart, columns=1, width=800))) if "in percent" in text)

    spread = Bar(value=5.0, range=(4.0, 6.0))
    assert legend(spread, Bar(value=5.0)).endswith("lowest to highest seed, one seed where there is none")
    assert legend(spread, Bar(value=None)).endswith("lowest to highest seed")
    assert legend(Bar(value=5.0)) == "in percent"


def test_what_is_there_for_nothing_is_pale() -> None:
    bars = [Bar(value=80.0, floor=20.0), Bar(value=20.0, floor=40.0), Bar(value=20.0, floor=0.0)]
    chart = BarChart(title="t", rows=CHART.rows, panels=[Panel(title="p", bars=bars)], floor="chance")
    root = parsed(bar_chart(chart, columns=1, width=800))
    drawn = [(float(each["width"]), "fill-opacity" in each) for each in rectangles(root) if each.get("rx")]
    # Of 80 the first 20; all of a value below its floor; nothing where the floor is 0.
    assert [pale for _, pale in drawn] == [True, False, True, False]
    whole = drawn[2][0]
    assert [length / whole for length, _ in drawn] == pytest.approx([1.0, 3.0, 1.0, 1.0], abs=0.01)
    assert "Sep <b>, p: 20.0%, chance: 40.0%" in hovers(root)
    assert "in percent; pale: chance" in texts(root)


def test_panels_stand_beside_each_other_or_below_and_nothing_is_outside() -> None:
    wide, narrow = (parsed(bar_chart(CHART, columns=columns, width=width)) for columns, width in ((2, 800), (1, 380)))
    assert float(narrow.attrib["height"]) > 1.5 * float(wide.attrib["height"])
    for root in (wide, narrow):
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for text in root.iter(f"{NAMESPACE}text"):
            assert 0 <= float(text.attrib["x"]) <= width
            assert 0 <= float(text.attrib["y"]) <= height


def test_the_papers_marks_can_be_hidden() -> None:
    svg = bar_chart(CHART, columns=2, width=800)
    assert len(re.findall('class="published"', svg)) == 2  # the mark, and its key
    without = bar_chart(BarChart(title="t", rows=CHART.rows, panels=CHART.panels[1:]), columns=1, width=380)
    assert "published" not in without


def test_numbers_stand_in_a_column_so_that_none_looks_like_the_papers() -> None:
    bars = [Bar(value=5.0, published=6.0), Bar(value=50.0, published=100.0), Bar(value=100.0, published=3.0)]
    chart = BarChart(title="t", rows=CHART.rows, panels=[Panel(title="p", bars=bars)])
    root = parsed(bar_chart(chart, columns=1, width=380))
    numbers = [each for each in root.iter(f"{NAMESPACE}text") if each.text in ("5.0", "50.0", "100.0")]
    assert len(numbers) == 3
    assert len({(each.attrib["x"], each.attrib["text-anchor"]) for each in numbers}) == 1
    corners = [each.attrib["points"].split() for each in root.iter(f"{NAMESPACE}polygon")]
    furthest = max(float(corner.split(",")[0]) for points in corners[:3] for corner in points)
    assert float(numbers[0].attrib["x"]) - text_width("100.0", size=12) > furthest
