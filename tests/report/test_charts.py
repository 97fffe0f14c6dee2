"""Charts: one look for each kind of model, gaps and ranges, pale parts of bars, and files that are always the same."""

import re
from dataclasses import replace

import pytest

from isoglot.report.figures.bars import Bar, bar_chart
from isoglot.report.figures.charts import Line, LineChart, Reference, line_picture, scatter_picture
from isoglot.report.figures.picture import GROUND, IN_DARK, INK, LINES, MUTED, PLACES, Picture, png_of, styles_of
from tests.report.svg_pictures import contrast, marks, parsed, texts

CHART = LineChart(
    title="A",
    series=[
        Line(label="Default", values=[1.0, None, 3.00004], ranges=[(0.5, 2.0), None, None]),
        Line(label="paper: <b> & \x07", values=[4.0, 4.5, 5.0], is_published=True),
    ],
    y_title="precision at 1 (%)",
    references=[Reference(label="chance", value=0.5)],
)


def picture_of(chart: LineChart) -> Picture:
    return line_picture([chart], name="lines", title="Lines <of> two")


@pytest.mark.parametrize("others", [[], ["No anchors", "A model of one's own"], ["Sep Emb", "Monolingual"]])
def test_a_model_looks_the_same_whichever_others_are_drawn(others: list[str]) -> None:
    (alone,) = styles_of(["Default"])
    assert styles_of([*others, "Default"])[-1] == alone
    mapped, default = styles_of(["Default, mapped as well", "Default"])
    assert default == alone
    assert mapped.colour == alone.colour
    assert mapped.shape != alone.shape


def test_no_two_lines_look_the_same() -> None:
    labels = [*PLACES, "Monolingual, fr untrained", "paper: bilingual", "paper: untrained", "x", "y", "z"]
    assert len(set(styles_of(labels))) == len(labels)


def test_colours_are_seen_on_both_grounds() -> None:
    for light, dark in LINES.items():
        assert contrast(light, GROUND) >= 3
        assert contrast(dark, IN_DARK[GROUND]) >= 3
    for ink in (INK, MUTED):
        assert contrast(ink, GROUND) >= 4.5
        assert contrast(IN_DARK[ink], IN_DARK[GROUND]) >= 4.5
    # The script replaces one colour after the other.
    assert set(IN_DARK).isdisjoint(IN_DARK.values())


def test_lines_have_gaps_ranges_and_rounded_numbers() -> None:
    default = [row for row in marks(picture_of(CHART)) if row["series"] == "Default"]
    assert [row["y"] for row in default] == [1.0, None, 3.0]
    assert [(row["low"], row["high"]) for row in default] == [(0.5, 2.0), (None, None), (3.0, 3.0)]
    # Lines over updates go on where a model has no value.
    bridged = marks(picture_of(replace(CHART, x_values=[1, 10, 100])))
    assert [(row["x"], row["y"]) for row in bridged if row["series"] == "Default"] == [(1, 1.0), (100, 3.0)]


def test_the_picture_has_every_word_and_is_escaped() -> None:
    picture = picture_of(CHART)
    root = parsed(picture.svg())
    assert {"Lines <of> two", "Default", "paper: <b> & \ufffd", "chance", "L0", "L2", "Layer"} <= set(texts(root))
    assert picture.has_published
    assert png_of(picture.svg()).startswith(b"\x89PNG")
    labelled = picture_of(replace(CHART, x_labels=["L0/0", "L1/2", "L2/4"]))
    assert {"L0/0", "L1/2"} <= set(texts(parsed(labelled.svg())))


def test_a_log_scale_takes_updates_from_the_start() -> None:
    chart = replace(CHART, x_values=[0, 8, 64], has_log_x=True, is_logarithmic=True)
    assert {"8", "64"} <= set(texts(parsed(picture_of(chart).svg())))


def test_a_chart_of_nothing_or_of_infinite_numbers_is_drawn_all_the_same() -> None:
    empty = replace(CHART, series=[], references=[])
    infinite = replace(CHART, series=[Line(label="x", values=[float("nan"), float("inf"), 1.0])])
    for chart in (empty, replace(empty, is_logarithmic=True, x_values=[]), infinite):
        assert parsed(picture_of(chart).svg()).tag.endswith("svg")
    assert [row["y"] for row in marks(picture_of(infinite))] == [None, None, 1.0]


def test_an_unchanged_picture_is_recognised_and_a_changed_one_is_not() -> None:
    picture = picture_of(CHART)
    drawn = picture.svg()
    assert picture_of(replace(CHART)).is_drawn_in(drawn)
    for changed in (
        replace(CHART, y_title="%"),
        replace(CHART, series=CHART.series[:1]),
        replace(CHART, references=[]),
    ):
        assert not picture_of(changed).is_drawn_in(drawn)


def test_a_picture_does_not_depend_on_those_before_it() -> None:
    """Altair and Vega number what has no name by its order in a process."""
    before = picture_of(CHART).digest
    for name in "ab":
        picture = line_picture([CHART, CHART], name=name, title=name)
        names = re.findall(r' id="([^"]+)"', picture.svg())
        assert names == [f"{picture.digest}-{number}" for number in range(len(names))] != []
    assert picture_of(CHART).digest == before


def test_points_have_their_names() -> None:
    picture = scatter_picture([("Default", [("L0", 0.2, 10.0)])], name="s", title="S", x_title="CKA", y_title="P")
    assert marks(picture) == [{"series": "Default", "point": "L0", "x": 0.2, "y": 10.0}]


@pytest.mark.parametrize(
    ("bar", "pale"),
    [
        (Bar.of([60.0, 70.0], floor=33.0), 33.0),
        (Bar.of([20.0], floor=33.0), 20.0),
        (Bar.of([20.0]), 0.0),
        (Bar.of([-4.0], floor=2.0), 0.0),
    ],
)
def test_bars_are_pale_as_far_as_their_floor(bar: Bar, pale: float) -> None:
    spec = bar_chart([("Default", INK)], [bar], title="NER", level=None, place=0)
    (row,) = spec["data"]["values"]
    assert (row["pale"], row["value"]) == (pale, bar.value)
    assert (row["low"], row["high"]) == (bar.range or (bar.value, bar.value))


def test_a_bar_that_is_missing_says_why_beside_the_papers() -> None:
    bars = [Bar.of([50.0]), Bar.of([], missing="pending", published=40.0)]
    spec = bar_chart([("Default", INK), ("Sep Emb", INK)], bars, title="NER in fr", level=33.3, place=0)
    picture = Picture(name="bars", title="Bars", charts=(spec,), chart_width=200, legend="in percent")
    shown = texts(parsed(picture.svg()))
    assert {"Default", "50.0", "Sep Emb", "pending", "NER in fr", "in percent"} <= set(shown)
    assert "40.0" not in shown, "the paper's is a mark, whose number shows on hover"
    assert spec["data"]["values"][1]["paper"] == 40.0
