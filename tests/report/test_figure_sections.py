"""Sections with figures: one axis for all pairs, notes that are said once, and names that stay text."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.figures.picture import NOT_IN_XML, Picture
from isoglot.report.page.figure_sections import emergence_sections, figure_sections
from isoglot.report.page.rendering import section_html
from isoglot.report.page.section import Figure, Listing, Section, Table, Text, beside
from isoglot.study.searches import NewVectors
from tests.report.html_pages import Element, parsed_page
from tests.report.made_up_measurements import measured
from tests.report.test_layer_figures import of_figure_4, of_figure_6


def parsed(section: Section) -> Element:
    return parsed_page(section_html(section))


def test_pairs_of_one_figure_have_one_axis() -> None:
    low = [replace(each, value=each.value / 10) for each in of_figure_6(("en", "zh"))]
    (section,) = figure_sections([*of_figure_6(), *low], new_vectors=NewVectors.CENTRED)
    first, second = (picture.charts[0]["layer"][0]["encoding"]["y"]["scale"]["domain"] for picture in section.pictures)
    assert first == second
    assert first[1] > 80


def test_models_of_one_seed_are_named_below_means_of_others() -> None:
    found = [
        each
        for condition, seeds in (("default", (0, 1)), ("sep-emb", (0,)))
        for seed in seeds
        for variant in (None, UNTRAINED)
        for each in measured(condition, [1.0, 2.0 + seed], variant=variant, seed=seed)
    ]
    (section,) = emergence_sections(found, is_made_up=False)
    assert "highest. Of one seed: Sep Emb." in parsed(section).text
    (section,) = emergence_sections([each for each in found if each.seed == 0], is_made_up=False)
    assert "Means over seeds" not in parsed(section).text


def test_figure_4_begins_with_its_bars() -> None:
    (section,) = figure_sections(of_figure_4(with_fasttext=True), new_vectors=NewVectors.CENTRED)
    figures = parsed(section).find_all("figure")
    assert [each.id for each in figures] == ["picture-figure-4a", "picture-figure-4.en-fr"]
    assert [picture.name for picture in section.pictures] == ["figure-4a", "figure-4.en-fr"]


def shown(*figures: Figure) -> Section:
    return Section(anchor="figure-6", blocks=list(beside(figures)))


def figure(name: str, *notes: str) -> Figure:
    picture = Picture(name=name, title=name, charts=(), chart_width=1)
    return Figure(picture, notes=notes, below=[Text(f"below {name}")])


def test_a_note_of_all_is_said_once_and_others_stay_with_their_picture() -> None:
    page = parsed(shown(figure("fr", "of all", "9 pairs"), figure("ru", "of all", "8 pairs")))
    (side_by_side,) = page.find_all("div", class_="beside")
    assert page.text.count("of all") == 1
    assert "of all" not in side_by_side.text
    assert "9 pairs" in page.by_id("picture-fr").text
    assert "8 pairs" in page.by_id("picture-ru").text
    # Each picture is one place of the grid, with all that stands below it.
    first, second = (child.text for child in side_by_side.children if isinstance(child, Element))
    assert first.endswith("below fr")
    assert second.endswith("below ru")


def test_one_alone_keeps_its_notes_and_the_whole_width() -> None:
    page = parsed(shown(figure("fr", "of all")))
    assert page.find_all("div", class_="beside") == []
    assert "of all" in page.by_id("picture-fr").text


@given(st.text())
def test_whatever_a_name_holds_is_text_on_the_page(text: str) -> None:
    for name in (text, f"<script>{text}</script>", f'"><img src=x onerror={text}>', f"&lt;{text}'"):
        blocks = [Text(name), Listing([name]), Table(headings=[name], lines=[[name, name]], caption=name)]
        section = Section(anchor="figure-6", title=name, blocks=blocks)
        page = parsed(section)
        # What a browser does to spaces and the ends of lines it does to all text.
        expected = " ".join(NOT_IN_XML.sub("\ufffd", name).split())
        (row,) = page.find_all("tbody")[0].rows()
        assert row == [expected, expected]
        assert not page.find_all("img")
        assert not page.find_all("script")
