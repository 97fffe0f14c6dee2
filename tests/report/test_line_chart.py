"""Line charts as a reader sees them: lines where they belong, every value told, no markup of others."""

import re
from itertools import combinations, pairwise
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.report.figures.chart_legend import Legend, places_of
from isoglot.report.figures.drawing import LINES, text_width
from isoglot.report.figures.line_chart import PLOT_HEIGHT, WIDTH, Line, LineChart, Reference, line_chart, line_charts
from isoglot.study.conditions import MONOLINGUAL, TABLE_1
from tests.report.svg_pictures import NAMESPACE, hovers, parsed, texts

RISING = Line(label="rising", values=[0.0, 0.5, 1.0])
LAYERS = [f"L{layer}" for layer in range(9)]


def groups(root: Element, name: str) -> list[Element]:
    return [group for group in root.iter(f"{NAMESPACE}g") if group.attrib.get("class") == name]


def points(root: Element, place: int) -> list[tuple[float, float]]:
    """Where the line at this place goes through."""
    (path,) = (path for group in groups(root, f"chart-{place}") for path in group.findall(f"{NAMESPACE}path"))
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.attrib["d"])]


def test_a_line_goes_through_its_values() -> None:
    root = parsed(line_chart(title="t", series=[RISING], y_title="CKA"))
    (x_0, y_0), (x_1, y_1), (x_2, y_2) = points(root, 0)
    assert (y_0, y_1, y_2) == (PLOT_HEIGHT, PLOT_HEIGHT / 2, 0)
    assert x_0 < x_1 < x_2
    assert x_1 - x_0 == pytest.approx(x_2 - x_1, abs=0.02)
    assert x_2 < WIDTH


def test_every_value_is_shown_on_hover_and_read_aloud() -> None:
    svg = line_chart(
        title="Retrieval",
        series=[Line(label="en-fr", values=[0.123, 0.456]), Line(label="en-zh", values=[0.7, None])],
        y_title="precision at 1",
        references=[Reference(label="chance", value=0.01)],
    )
    root = parsed(svg)
    assert {"en-fr, L0: 0.12", "en-fr, L1: 0.46", "en-zh, L0: 0.70", "chance: 0.01"} <= set(hovers(root))
    assert not any(said.startswith("en-zh, L1") for said in hovers(root))
    assert root.attrib["aria-label"] == (
        "Retrieval. Retrieval: precision at 1 by layer. en-fr: 0.12, 0.46; en-zh: 0.70, none; chance: 0.01."
    )
    assert {"Retrieval", "precision at 1", "Layer", "L0", "L1", "en-fr", "en-zh", "chance"} <= set(texts(root))


def test_a_condition_keeps_its_colour_whichever_others_are_there() -> None:
    def colours(*labels: str) -> list[int]:
        lines = [Line(label=label, values=[1, 2]) for label in labels]
        written = line_chart(title="t", series=lines, y_title="y")
        found = [int(place) for place in re.findall(r'class="chart-(\d)"', written)]
        drawn, in_legend = found[: len(labels)], found[len(labels) :]
        assert drawn == in_legend
        return drawn

    default, other, separate = colours("Default", "something", "Sep Emb")
    assert len({default, other, separate}) == 3
    assert colours("Sep Emb", "Default") == [separate, default]
    assert colours("Sep Emb") == [separate]
    labels = [condition.label for condition in (*TABLE_1, MONOLINGUAL)]
    assert len(set(places_of([*labels, "a", "b"]))) == len(labels) + 2


def test_lines_of_one_model_have_its_colour_filled_and_hollow() -> None:
    default, monolingual = places_of(["Default", "Monolingual"])
    hollow = len(LINES)
    labels = ["fastText", "Monolingual, mapped", "Default, as it is", "Monolingual, en itself", "Default, en itself"]
    other, *variants = places_of(labels)
    assert variants == [monolingual, default, monolingual + hollow, default + hollow]
    assert other not in variants
    # A model itself comes before its variants, wherever it stands.
    assert places_of(["Monolingual, fr untrained", "Monolingual"]) == [monolingual + hollow, monolingual]
    assert places_of([f"Default, {which}" for which in "abc"]) == [default, default + hollow, default + 2 * hollow]


def test_a_value_that_is_missing_leaves_a_gap() -> None:
    root = parsed(line_chart(title="t", series=[Line(label="a", values=[1, 2, None, 3, 4])], y_title="y"))
    (path,) = (path for group in groups(root, "chart-0") for path in group.findall(f"{NAMESPACE}path"))
    assert re.sub(r"[\d. ]", "", path.attrib["d"]) == "MLML"
    nothing = parsed(line_chart(title="t", series=[Line(label="a", values=[None, None])], y_title="y"))
    assert not [path for group in groups(nothing, "chart-0") for path in group.findall(f"{NAMESPACE}path")]


@given(st.text(max_size=30))
@settings(max_examples=50)
def test_names_are_text_and_never_markup(name: str) -> None:
    for label in (name, f"<script>{name}</script>", f'"/>{name}&'):
        svg = line_chart(
            title=label,
            series=[Line(label=label, values=[1.0])],
            y_title=label,
            references=[Reference(label=label, value=2.0)],
            x_labels=[label],
            x_title=label,
        )
        assert {element.tag for element in parsed(svg).iter()} <= {
            NAMESPACE + tag for tag in ("svg", "title", "desc", "style", "rect", "g", "line", "path", "text")
        }
        assert "<script" not in svg


def test_the_same_chart_is_the_same_bytes() -> None:
    charts = [line_chart(title="t", series=[RISING], y_title="y") for _ in range(2)]
    assert charts[0] == charts[1]


def test_lines_differ_by_marker_and_colour() -> None:
    num_lines = 3 * len(LINES)
    series = [Line(label=f"line {place}", values=[place]) for place in range(num_lines)]
    root = parsed(line_chart(title="t", series=series, y_title="y"))
    looks = set()
    for place in range(num_lines):
        (marker,) = (
            (group.attrib["color"], marks.attrib["fill"], mark.attrib["d"].partition("m")[2])
            for group in groups(root, f"chart-{place % len(LINES)}")
            for marks in group.findall(f"{NAMESPACE}g")
            for mark in marks.findall(f"{NAMESPACE}path")
            if mark.findtext(f"{NAMESPACE}title") == f"line {place}, L0: {place:.2f}"
        )
        looks.add(marker)
    assert len(looks) == num_lines
    # On grey paper the marker alone must do, as long as there are enough of them.
    assert len({(fill, shape) for _, fill, shape in looks}) == 2 * len(LINES)


@given(
    st.lists(st.text(alphabet="abm WM中", min_size=1, max_size=60), min_size=1, max_size=9),
    st.sampled_from([400.0, 800.0]),
)
@settings(max_examples=50)
def test_entries_of_the_legend_do_not_meet(labels: list[str], width: float) -> None:
    legend = Legend(lines=labels[1:], levels=labels[:1], width=width)
    root = parsed(f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(legend.drawn(x=0, y=0))}</svg>')
    boxes = []
    for text in root.iter(f"{NAMESPACE}text"):
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        boxes.append((x - 34, x + text_width(text.text or "", size=13), y))
    assert len(boxes) == len(labels)
    assert all(left >= 0 and right <= width + 0.01 for left, right, _ in boxes)
    assert all(y <= legend.height for _, _, y in boxes)
    for one, other in combinations(boxes, 2):
        assert one[2] != other[2] or one[1] < other[0] or other[1] < one[0]


@pytest.mark.parametrize("count", [1, 9, 25, 60])
def test_names_of_layers_do_not_meet(count: int) -> None:
    labels = [f"L{layer}/{2 * layer}" for layer in range(count)]
    charts = [LineChart(title="t", series=[Line(label="a", values=[1.0] * count)], y_title="y", x_labels=labels)] * 2
    root = parsed(line_charts(charts, title="both"))
    shown = [text for text in root.iter(f"{NAMESPACE}text") if text.text in labels][: len(labels)]
    places = sorted({(float(text.attrib["x"]), text_width(text.text or "", size=13)) for text in shown})
    assert places
    assert all(x + width / 2 < next_x - next_width / 2 for (x, width), (next_x, next_width) in pairwise(places))


def test_levels_are_dashed_and_within_the_axis() -> None:
    root = parsed(line_chart(title="t", series=[RISING], y_title="y", references=[Reference(label="all", value=3.0)]))
    (level,) = (line for line in root.iter(f"{NAMESPACE}line") if line.findtext(f"{NAMESPACE}title") == "all: 3.00")
    assert level.attrib["stroke-dasharray"] == "7 4"
    assert float(level.attrib["y1"]) == float(level.attrib["y2"]) >= 0
    assert points(root, 0)[-1][1] > float(level.attrib["y1"])


def test_several_charts_stand_side_by_side_under_one_title() -> None:
    charts = [LineChart(title=f"panel {name}", series=[RISING], y_title="y") for name in "abc"]
    root = parsed(line_charts(charts, title="All of them"))
    assert {"All of them", "panel a", "panel b", "panel c"} <= set(texts(root))
    moved = [group.attrib.get("transform", "") for group in root.findall(f"{NAMESPACE}g")]
    places = [re.findall(r"[\d.]+", transform) for transform in moved if transform]
    assert [place[0] for place in places] == ["0", "400", "0"]
    assert places[0][1] == places[1][1] != places[2][1]
    assert float(root.attrib["height"]) > float(places[2][1]) + PLOT_HEIGHT
