"""Charts: one look for each kind of model, gaps and ranges, maps and bars, and files that are always the same."""

import re
from dataclasses import replace

import pytest

from isoglot.report.figures.bars import Bar, bar_chart, embedding_bars
from isoglot.report.figures.line_charts import LineChart, LineFigure, line_picture
from isoglot.report.figures.picture import GROUND, IN_DARK, INK, LINES, MUTED, PLACES, PUBLISHED, Picture, styles_of
from isoglot.report.figures.similarity_pictures import published_similarity_map, similarity_map, similarity_scatters
from isoglot.report.findings.layer_scores import Line
from isoglot.report.page.section import TEMPLATES
from tests.report.made_up_measurements import measured, measurement
from tests.report.svg_pictures import contrast, marks, parsed, texts
from tests.report.test_layer_figures import of_figure_4, of_figure_7

CHART = LineChart(
    title="A",
    series=[
        Line(label="Default", by_seed=({0: 0.5, 2: 3.00004}, {0: 2.0})),
        Line.of("paper: <b> & \x07", [4.0, 4.5, 5.0], is_published=True),
    ],
    y_title="precision at 1 (%)",
    references={"chance": 0.5},
)


def picture_of(*charts: LineChart, title: str = "Lines <of> two") -> Picture:
    return line_picture(LineFigure(name="lines", title=title, charts=charts))


@pytest.mark.parametrize("others", [[], ["No anchors", "A model of one's own"], ["Sep Emb", "Monolingual"]])
def test_a_model_looks_the_same_whichever_others_are_drawn(others: list[str]) -> None:
    (alone,) = styles_of(["Default"])
    assert styles_of([*others, "Default"])[-1] == alone
    mapped, default = styles_of(["Default, mapped as well", "Default"])
    assert default == alone
    assert mapped.colour == alone.colour
    assert mapped.shape != alone.shape
    # No two lines look the same.
    labels = [*PLACES, "Monolingual, fr untrained", "paper: bilingual", "paper: untrained", "x", "y", "z"]
    assert len(set(styles_of(labels))) == len(labels)


def test_colours_are_seen_on_both_grounds() -> None:
    for light, dark in LINES.items():
        assert contrast(light, GROUND) >= 3
        assert contrast(dark, IN_DARK[GROUND]) >= 3
    for ink in (INK, MUTED, PUBLISHED):
        assert contrast(ink, GROUND) >= 4.5
        assert contrast(IN_DARK[ink], IN_DARK[GROUND]) >= 4.5
    # The script replaces one colour after the other.
    assert set(IN_DARK).isdisjoint(IN_DARK.values())


def test_lines_have_gaps_ranges_and_rounded_numbers() -> None:
    default = [row for row in marks(picture_of(CHART)) if row["series"] == "Default"]
    assert [row["y"] for row in default] == [1.25, None, 3.0]
    assert [(row["low"], row["high"]) for row in default] == [(0.5, 2.0), (None, None), (3.0, 3.0)]
    # Lines over updates go on where a model has no value.
    bridged = marks(picture_of(replace(CHART, updates=[0, 1, 2])))
    assert [(row["x"], row["y"]) for row in bridged if row["series"] == "Default"] == [(0, 1.25), (2, 3.0)]


def test_the_picture_has_every_word_and_is_escaped() -> None:
    picture = picture_of(CHART)
    root = parsed(picture.svg())
    assert {"Lines <of> two", "Default", "paper: <b> & \ufffd", "chance", "L0", "L2", "Layer"} <= set(texts(root))
    assert picture.has_published
    # One legend, whatever marks an entry has: a colour, a shape or dashes.
    assert [texts(root).count(entry) for entry in ("Default", "chance")] == [1, 1]
    logarithmic = replace(CHART, updates=[0, 20, 40], is_logarithmic=True)
    assert {"20", "40"} <= set(texts(parsed(picture_of(logarithmic).svg())))


def test_many_lines_are_small_multiples_on_one_axis_with_default_behind() -> None:
    labels = ["Default", "Wiki-CC", "No anchors", "Extra anchors", "Sep Emb", "Sep L1-3"]
    few = replace(CHART, series=[Line.of(label, [place, 10.0 * place]) for place, label in enumerate(labels)])
    assert len(picture_of(few).charts) == 1
    assert not picture_of(few).has_panels
    many = replace(few, title="Text of en", series=[*few.series, Line.of("Sep L1-6", [60.0, None, 80.0])])
    picture = picture_of(many)
    assert [panel["title"] for panel in picture.charts] == [*labels, "Sep L1-6"]
    behind = [{row["series"] for row in panel["data"]["values"] if row["grey"]} for panel in picture.charts]
    assert behind == [set(), *[{"Default"}] * 6]
    own = [row["y"] for row in picture.charts[-1]["data"]["values"] if not row["grey"]]
    assert own == [60.0, None, 80.0]
    axes = {str(layer["encoding"]["y"].get("scale")) for panel in picture.charts for layer in panel["layer"]}
    assert len(axes - {"None"}) == 1, "an eye can only compare panels of one axis"
    assert picture.legend == "precision at 1 (%) by layer; dashes: chance; grey: Default"
    shown = texts(parsed(picture.svg()))
    assert [shown.count(label) for label in labels] == [1] * 6
    # Text of another language has a mark of its own in the same panels.
    both = picture_of(many, replace(many, title="Text of fr", series=many.series[:2]))
    assert len(both.charts) == 7
    assert [{row["mark"] for row in panel["data"]["values"]} for panel in both.charts[1:3]] == [
        {"circle", "square"},
        {"circle", "square"},
    ]
    assert "\N{BLACK CIRCLE} text of en, \N{BLACK SQUARE} text of fr" in both.legend


def test_the_papers_own_numbers_have_one_colour_that_no_model_has() -> None:
    assert PUBLISHED not in LINES
    # In the page's text as in its charts, by day and by night.
    in_text = re.findall("--published: (#[0-9a-f]{6})", (TEMPLATES / "style.css").read_text("utf-8"))
    assert in_text == [PUBLISHED, IN_DARK[PUBLISHED]]
    line, bar = picture_of(CHART), Bar(label="Default", colour=INK, values=[50.0], published=40.0)
    bars = Picture(name="b", title="", charts=[bar_chart([bar], title="", level=None, place=0)], chart_width=200)
    assert all(PUBLISHED in picture.svg() for picture in (line, bars))
    assert PUBLISHED not in picture_of(replace(CHART, series=CHART.series[:1])).svg()
    # A line and the paper's of the same kind have one mark, and no two of the paper's have.
    kinds = ["Sep Emb", "Monolingual", "Monolingual, fr untrained"]
    series = [
        *(Line.of(kind, [1.0]) for kind in kinds),
        *(Line.of(f"paper: {kind}", [1.0], is_published=True) for kind in kinds),
    ]
    (chart,) = picture_of(replace(CHART, series=series, references={})).charts
    (shapes,) = {
        tuple(layer["encoding"]["shape"]["scale"]["range"]) for layer in chart["layer"] if "shape" in layer["encoding"]
    }
    assert shapes[:3] == shapes[3:]
    assert len({*shapes}) == 3


def test_a_chart_of_nothing_or_of_infinite_numbers_is_drawn_all_the_same() -> None:
    empty = replace(CHART, series=[], references={})
    infinite = replace(CHART, series=[Line.of("x", [float("nan"), float("inf"), 1.0])])
    for chart in (empty, replace(empty, is_logarithmic=True), infinite):
        assert parsed(picture_of(chart).svg()).tag.endswith("svg")
    assert [row["y"] for row in marks(picture_of(infinite))] == [None, None, 1.0]


def test_a_picture_does_not_depend_on_those_before_it() -> None:
    """Vega numbers what has no name by its order in a process."""
    before = picture_of(CHART).digest
    for title in "ab":
        picture = picture_of(CHART, CHART, title=title)
        names = re.findall(r' id="([^"]+)"', picture.svg())
        assert names == [f"{picture.digest}-{number}" for number in range(len(names))] != []
    assert picture_of(CHART).digest == before


@pytest.mark.parametrize(
    ("values", "floor", "pale"),
    [([60.0, 70.0], 33.0, 33.0), ([20.0], 33.0, 20.0), ([20.0], None, 0.0), ([-4.0], 2.0, 0.0)],
)
def test_bars_are_pale_as_far_as_their_floor(values: list[float], floor: float | None, pale: float) -> None:
    row = Bar(label="Default", colour=INK, values=values, floor=floor).row
    assert (row["pale"], row["value"]) == (pale, sum(values) / len(values))
    assert (row["low"], row["high"]) == (min(values), max(values))


def test_a_bar_that_is_missing_says_why_beside_the_papers() -> None:
    missing = Bar(label="Sep Emb", colour=INK, values=[], missing="pending", published=40.0)
    bars = [Bar(label="Default", colour=INK, values=[50.0]), missing]
    spec = bar_chart(bars, title="NER in fr", level=33.3, place=0)
    picture = Picture(name="bars", title="Bars", charts=[spec], chart_width=200, legend="in percent")
    shown = texts(parsed(picture.svg()))
    assert {"Default", "50.0", "Sep Emb", "pending", "NER in fr", "in percent"} <= set(shown)
    assert "40.0" not in shown, "the paper's is a mark, whose number shows on hover"
    assert spec["data"]["values"][1]["paper"] == 40.0


def test_embeddings_stand_beside_fasttext_for_each_pair() -> None:
    at = {"exhibit": "figure-4", "languages": ("en", "zh")}
    found = [*of_figure_4(with_fasttext=True), measurement("monolingual", 8.0, metric="embedding_p1", **at)]
    picture = embedding_bars([*found, measurement("monolingual", 9.0, metric="embedding_p1", seed=1, **at)])
    assert picture is not None
    french, chinese = (chart["data"]["values"] for chart in picture.charts)
    values = {"Embeddings": 4.5, "fastText": 46.3}
    assert [(row["row"], row["value"]) for row in french] == list(values.items())
    assert (chinese[0]["low"], chinese[0]["value"], chinese[0]["high"]) == (8.0, 8.5, 9.0)
    assert [row["missing"] for row in chinese[1:]] == ["none"]
    # Rows that were not measured at all are not drawn.
    picture = embedding_bars(of_figure_4(with_fasttext=False))
    assert picture is not None
    assert {row["row"] for row in marks(picture)} == {"Embeddings"}
    assert embedding_bars([measurement("monolingual", 8.0, metric="contextual_p1", exhibit="figure-4")]) is None


def test_figure_7_has_a_map_of_all_pairs() -> None:
    picture = similarity_map([*of_figure_7(), *of_figure_7(("en", "ru"))])
    assert [chart["title"] for chart in picture.charts] == ["en-fr", "en-ru"]
    cells = {(row["column"], row["row"]): row["value"] for row in picture.charts[0]["data"]["values"]}
    assert cells["Default", "L1"] == 0.9
    assert [cells[kind, "mean"] for kind in ("Default", "Monolingual", "Untrained")] == [0.8, 0.5, 0.2]
    together = texts(parsed(picture.svg()))
    assert {"en-fr", "en-ru", "L0", "L2", "mean", "Default", "Monolingual", "Untrained"} <= set(together)
    assert [together.count(number) for number in ("0.80", "0.50", "0.20")] == [4, 4, 8]
    # The paper's map is of our pairs where it has them.
    picture, has_our_pairs = published_similarity_map([("en", "zh"), ("ela", "oru")])
    assert has_our_pairs
    assert [chart["title"] for chart in picture.charts] == ["en-zh"]
    assert 0.67 in [row["value"] for row in marks(picture)]
    others, has_our_pairs = published_similarity_map([("ela", "oru")])
    assert not has_our_pairs
    assert [chart["title"] for chart in others.charts] == ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]


def test_letters_can_be_read_on_every_cell() -> None:
    values = [place / 40 for place in range(41)]
    root = parsed(similarity_map(measured("default", values, metric="cka", exhibit="figure-7")).svg())
    fills = [each.attrib.get("fill", "") for each in root.iter()]
    grounds = [tuple(map(int, fill[4:-1].split(","))) for fill in fills if fill.startswith("rgb(")]
    inks = [fill for fill in fills if fill in ("white", "black")]
    assert len(inks) == len(values) + 1
    for ground, ink in zip(grounds, inks, strict=True):
        assert contrast("".join(f"{part:02x}" for part in ground), "ffffff" if ink == "white" else "000000") > 4


def test_points_are_layers_and_correlations_are_over_them() -> None:
    ((picture, notes),) = similarity_scatters(
        [
            *measured("monolingual", [0.9, 0.6, 0.3], metric="cka", exhibit="figure-7"),
            *measured("monolingual", [90.0, 60.0, 30.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("default", [0.9, 0.9, 0.9], metric="cka", exhibit="figure-7"),
            *measured("default", [99.0, 98.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("sep-emb", [0.5, 0.5, 0.5], metric="cka", exhibit="figure-7"),
        ]
    )
    # Over all points by hand: (0.9, 90), (0.6, 60), (0.3, 30), (0.9, 99) and (0.9, 98).
    assert notes[0].endswith("Default undefined; Monolingual 1.00; all points 0.99.")
    points = marks(picture)
    assert {"series": "Monolingual", "point": "L2", "x": 0.3, "y": 30.0} in points
    assert sum(row["series"] == "Default" for row in points) == 2
    assert list(similarity_scatters(measured("default", [0.9], metric="cka", exhibit="figure-7"))) == []
