"""Every figure has its picture, and Figure 7 maps of all pairs: ours, and the paper's."""

import re
from xml.etree import ElementTree

from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.pictures import layer_picture, published_similarity_map, similarity_map
from isoglot.study.searches import NewVectors
from tests.report.test_layer_figures import of_figure_6, of_figure_7


def shown(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)<", svg)


def test_each_figure_has_a_chart_of_any_width() -> None:
    found = [*of_figure_6(), *of_figure_7(), *of_figure_7(("en", "ru"))]
    pictures = {each.name: layer_picture(each) for each in layer_figures(found, new_vectors=NewVectors.CENTRED)}
    assert set(pictures) == {"figure-6.en-fr", "figure-7.en-fr", "figure-7.en-ru"}
    for picture in pictures.values():
        for width in (800.0, 380.0):
            assert ElementTree.fromstring(picture.draw(width)).attrib["width"] == f"{width:.0f}"
    assert "60.0" in pictures["figure-6.en-fr"].draw(800.0)


def test_figure_7_has_a_map_of_all_pairs() -> None:
    picture = similarity_map([*of_figure_7(), *of_figure_7(("en", "ru"))])
    assert picture is not None
    together = shown(picture.draw(800.0))
    assert {"en-fr", "en-ru", "L0", "L2", "mean", "Default", "Monolingual", "Untrained"} <= set(together)
    # The mean over layers of each kind of model, for both pairs, among them.
    assert {number: together.count(number) for number in ("0.80", "0.50", "0.20")} == {"0.80": 4, "0.50": 4, "0.20": 8}
    # A phone shows one pair below the other, with the same numbers in the same order.
    cells = [each for each in shown(picture.draw(380.0)) if each.startswith(("en-fr, ", "en-ru, "))]
    assert cells == [each for each in together if each.startswith(("en-fr, ", "en-ru, "))]
    assert len(cells) == 2 * 3 * 4
    assert picture.draw(380.0).count("<svg") == 2
    assert similarity_map([]) is None


def test_the_papers_map_is_of_our_pairs_where_it_has_them() -> None:
    ours = published_similarity_map([("en", "zh"), ("ela", "oru")])
    assert ours.has_our_pairs
    text = shown(ours.picture.draw(800.0))
    assert "en-zh" in text
    assert "en-fr" not in text
    assert "0.67" in text
    others = published_similarity_map([("ela", "oru")])
    assert not others.has_our_pairs
    assert {"en-en&#x27;", "en-fr", "en-de", "en-ru", "en-zh"} <= set(shown(others.picture.draw(800.0)))
