"""Sections of scores by layer: pairs of languages on one axis, and who has several seeds."""

import re
from dataclasses import replace

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.figures.picture import WIDE
from isoglot.report.page.layer_sections import emergence_sections, figure_sections
from isoglot.study.searches import NewVectors
from tests.report.html_pages import parsed_page
from tests.report.made_up_measurements import measured
from tests.report.svg_pictures import parsed, texts
from tests.report.test_layer_figures import of_figure_6
from tests.report.test_word_figures import measurements as words


def test_pairs_of_one_figure_have_one_axis() -> None:
    low = [replace(each, value=each.value / 10) for each in of_figure_6(("en", "zh"))]
    (section,) = figure_sections([*of_figure_6(), *low], new_vectors=NewVectors.CENTRED)
    ticks = [
        [text for text in texts(parsed(picture.draw(WIDE))) if re.fullmatch(r"\d+", text)]
        for picture in section.pictures
    ]
    assert ticks == [["0", "20", "40", "60", "80"]] * 2


def test_models_of_one_seed_are_named_below_means_of_others() -> None:
    found = [
        each
        for condition, seeds in (("default", (0, 1)), ("sep-emb", (0,)))
        for seed in seeds
        for metric in ("retrieval_p1", "retrieval_p1" + UNTRAINED)
        for each in measured(condition, [1.0, 2.0 + seed], metric=metric, seed=seed)
    ]
    (section,) = emergence_sections(found, is_made_up=False)
    assert "highest. Of one seed: Sep Emb." in parsed_page(section.html()).text
    (section,) = emergence_sections([each for each in found if each.seed == 0], is_made_up=False)
    assert "Means over seeds" not in parsed_page(section.html()).text


def test_figure_4_begins_with_its_bars() -> None:
    (section,) = figure_sections(words(with_fasttext=True), new_vectors=NewVectors.CENTRED)
    page = parsed_page(section.html())
    assert [each.id for each in page.find_all("figure")] == ["picture-figure-4a", "picture-figure-4.en-fr"]
    assert [picture.name for picture in section.pictures] == ["figure-4a", "figure-4.en-fr"]
