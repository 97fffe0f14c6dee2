"""Pictures beside each other: what all share is said once, and one alone is as wide as ever."""

from isoglot.report.figures.picture import Picture
from isoglot.report.page.figure import without_narrow
from isoglot.report.page.figures_beside import Shown, figures_beside
from isoglot.report.page.markup import tag
from tests.report.html_pages import parsed_page


def shown(name: str, *notes: str) -> Shown:
    picture = Picture(name=name, draw=lambda width: f'<svg width="{width:.0f}"></svg>')
    return Shown(picture=picture, notes=notes, below=tag("p", f"below {name}"))


def test_a_note_of_all_is_said_once_and_others_stay_with_their_picture() -> None:
    page = parsed_page(figures_beside([shown("fr", "of all", "9 pairs"), shown("ru", "of all", "8 pairs")]))
    (beside,) = page.find_all("div", class_="beside")
    assert page.text.count("of all") == 1
    assert "of all" not in beside.text
    assert "9 pairs" in page.by_id("picture-fr").text
    assert "8 pairs" in page.by_id("picture-ru").text
    # Each picture is one place of the grid, with all that stands below it.
    first, second = (child.text for child in beside.children)
    assert first.endswith("below fr")
    assert second.endswith("below ru")


def test_one_alone_keeps_its_notes_and_the_whole_width() -> None:
    page = parsed_page(figures_beside([shown("fr", "of all")]))
    assert page.find_all("div", class_="beside") == []
    assert "of all" in page.by_id("picture-fr").text


def test_without_narrow_drawings_pictures_stand_one_below_the_other() -> None:
    page = parsed_page(without_narrow(figures_beside([shown("fr"), shown("ru")])))
    assert page.find_all("div", class_="beside") == []
    assert [each.attributes["width"] for each in page.find_all("svg")] == ["800", "800"]
