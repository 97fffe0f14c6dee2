"""Every figure has its picture, and Figure 7 one of all pairs."""

import re
from xml.etree import ElementTree

from isoglot.alignment_settings import NewVectors
from isoglot.report.pictures import pictures
from tests.report.test_layer_figures import of_figure_6, of_figure_7


def test_each_figure_has_a_chart_and_figure_7_a_map_of_all_pairs() -> None:
    found = pictures([*of_figure_6(), *of_figure_7(), *of_figure_7(("en", "ru"))], new_vectors=NewVectors.CENTRED)
    assert set(found) == {"figure-6.en-fr.svg", "figure-7.en-fr.svg", "figure-7.en-ru.svg", "figure-7.svg"}
    for picture in found.values():
        ElementTree.fromstring(picture)
    shown = re.findall(r">([^<>]+)<", found["figure-7.svg"])
    assert {"en-fr", "en-ru", "L0", "L2", "mean", "Default", "Monolingual", "Untrained"} <= set(shown)
    # The mean over layers of each kind of model, for both pairs, among them.
    assert {number: shown.count(number) for number in ("0.80", "0.50", "0.20")} == {"0.80": 4, "0.50": 4, "0.20": 8}
    assert "60.0" in found["figure-6.en-fr.svg"]


def test_what_is_not_measured_has_no_picture() -> None:
    assert pictures([], new_vectors=NewVectors.CENTRED) == {}
    assert set(pictures(of_figure_6(), new_vectors=NewVectors.CENTRED)) == {"figure-6.en-fr.svg"}
