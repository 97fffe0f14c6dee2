"""Pictures of figures: lines, maps of Figure 7, bars of Figure 4a, and CKA against retrieval."""

import pytest

from isoglot.report.figures.bars import embedding_bars
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.pictures import (
    layer_picture,
    published_similarity_map,
    similarity_map,
    similarity_scatters,
)
from isoglot.study.searches import NewVectors
from tests.report.made_up_measurements import measured, measurement
from tests.report.svg_pictures import contrast, marks, parsed, texts
from tests.report.test_layer_figures import of_figure_4, of_figure_6, of_figure_7


def test_each_figure_has_a_chart() -> None:
    found = [*of_figure_6(), *of_figure_7(), *of_figure_7(("en", "ru"))]
    pictures = {each.name: layer_picture(each) for each in layer_figures(found, new_vectors=NewVectors.CENTRED)}
    assert set(pictures) == {"figure-6.en-fr", "figure-7.en-fr", "figure-7.en-ru"}
    assert {"series": "Monolingual", "x": 1, "y": 60.0, "low": 60.0, "high": 60.0} in marks(pictures["figure-6.en-fr"])


def test_figure_7_has_a_map_of_all_pairs() -> None:
    picture = similarity_map([*of_figure_7(), *of_figure_7(("en", "ru"))])
    assert picture is not None
    assert [chart["title"] for chart in picture.charts] == ["en-fr", "en-ru"]
    cells = {(row["column"], row["row"]): row["value"] for row in picture.charts[0]["data"]["values"]}
    assert cells["Default", "L1"] == 0.9
    assert [cells[kind, "mean"] for kind in ("Default", "Monolingual", "Untrained")] == [0.8, 0.5, 0.2]
    together = texts(parsed(picture.svg()))
    assert {"en-fr", "en-ru", "L0", "L2", "mean", "Default", "Monolingual", "Untrained"} <= set(together)
    assert {number: together.count(number) for number in ("0.80", "0.50", "0.20")} == {"0.80": 4, "0.50": 4, "0.20": 8}
    assert similarity_map([]) is None


def test_letters_can_be_read_on_every_cell() -> None:
    values = [place / 40 for place in range(41)]
    picture = similarity_map(measured("default", values, metric="cka", exhibit="figure-7"))
    assert picture is not None
    root = parsed(picture.svg())
    grounds = [
        _hexadecimal(each.attrib["fill"]) for each in root.iter() if each.attrib.get("fill", "").startswith("rgb(")
    ]
    inks = [each.attrib["fill"] for each in root.iter() if each.attrib.get("fill") in ("white", "black")]
    assert len(inks) == len(values) + 1
    names = {"white": "ffffff", "black": "000000"}
    for ground, ink in zip(grounds, inks, strict=True):
        assert contrast(ground, names[ink]) > 4


def _hexadecimal(colour: str) -> str:
    return "".join(f"{int(part):02x}" for part in colour[4:-1].split(","))


def test_the_papers_map_is_of_our_pairs_where_it_has_them() -> None:
    picture, has_our_pairs = published_similarity_map([("en", "zh"), ("ela", "oru")])
    assert has_our_pairs
    assert [chart["title"] for chart in picture.charts] == ["en-zh"]
    assert 0.67 in [row["value"] for row in marks(picture)]
    others, has_our_pairs = published_similarity_map([("ela", "oru")])
    assert not has_our_pairs
    assert [chart["title"] for chart in others.charts] == ["en-en'", "en-fr", "en-de", "en-ru", "en-zh"]


def test_embeddings_stand_beside_fasttext_for_each_pair() -> None:
    at = {"exhibit": "figure-4", "languages": ("en", "zh")}
    found = [*of_figure_4(with_fasttext=True), measurement("monolingual", 8.0, metric="embedding_p1", **at)]
    picture = embedding_bars([*found, measurement("monolingual", 9.0, metric="embedding_p1", seed=1, **at)])
    assert picture is not None
    french, chinese = (chart["data"]["values"] for chart in picture.charts)
    assert [(row["row"], row["value"]) for row in french] == [
        ("Embeddings", 4.5),
        ("fastText", 46.3),
        ("Embeddings, back", 4.1),
        ("fastText, back", 32.2),
    ]
    assert (chinese[0]["low"], chinese[0]["value"], chinese[0]["high"]) == (8.0, 8.5, 9.0)
    assert [row["missing"] for row in chinese[1:]] == ["none"] * 3


def test_bars_that_were_not_measured_are_not_drawn() -> None:
    picture = embedding_bars(of_figure_4(with_fasttext=False))
    assert picture is not None
    assert {row["row"] for row in marks(picture)} == {"Embeddings", "Embeddings, back"}
    assert embedding_bars([measurement("monolingual", 8.0, metric="contextual_p1", exhibit="figure-4")]) is None


def test_points_are_layers_and_correlations_are_over_them() -> None:
    (found,) = similarity_scatters(
        [
            *measured("monolingual", [0.9, 0.6, 0.3], metric="cka", exhibit="figure-7"),
            *measured("monolingual", [90.0, 60.0, 30.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("default", [0.9, 0.9, 0.9], metric="cka", exhibit="figure-7"),
            *measured("default", [99.0, 98.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("sep-emb", [0.5, 0.5, 0.5], metric="cka", exhibit="figure-7"),
        ]
    )
    assert dict(found.correlations)["Monolingual"] == pytest.approx(1.0)
    assert dict(found.correlations)["Default"] is None
    assert [label for label, _ in found.correlations] == ["Default", "Monolingual", "all points"]
    of_pair, of_all = found.notes
    assert "Monolingual 1.00" in of_pair
    assert of_all.startswith("The paper finds more than 0.9")
    points = marks(found.picture)
    assert {"series": "Monolingual", "point": "L2", "x": 0.3, "y": 30.0} in points
    assert sum(row["series"] == "Default" for row in points) == 2
    assert list(similarity_scatters(measured("default", [0.9], metric="cka", exhibit="figure-7"))) == []
