"""SVG becomes PNG with its words in it."""

from struct import unpack

from isoglot.report.figures.line_chart import Line, line_chart
from isoglot.report.figures.png import ZOOM, png_of


def test_a_chart_is_as_large_as_asked_and_has_its_words() -> None:
    with_words, without = (
        png_of(line_chart(title=title, series=[Line(label="a", values=[1, 2])], y_title="y"))
        for title in ("Words", " ")
    )
    assert with_words is not None
    assert unpack(">I", with_words[16:20])[0] == 800 * ZOOM
    assert with_words != without
