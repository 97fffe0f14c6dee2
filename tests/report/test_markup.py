"""Whatever a name holds, it is text on the page."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.figures.drawing import NOT_IN_XML
from isoglot.report.page.markup import Html, joined, listed, tag


class Reader(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.values: list[str | None] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text())
def test_text_and_values_come_back_as_they_were(text: str) -> None:
    for name in (text, f"<script>{text}</script>", f'"><img src=x onerror={text}>', f"&lt;{text}'"):
        found = Reader(tag("p", tag("b", "fixed"), name, title=name))
        # No control characters; and what a browser does to the ends of lines it does to all text.
        expected = NOT_IN_XML.sub("\ufffd", name)
        assert found.tags == ["p", "b"]
        assert "".join(found.texts) == "fixed" + expected
        assert found.values == [expected]


def test_only_markup_is_taken_as_it_is() -> None:
    assert tag("p", "a < b", class_="note", hidden=True, id=None) == '<p class="note" hidden>a &lt; b</p>'
    assert joined(["<", tag("b", "x")], "&") == "&lt;&amp;<b>x</b>"
    # Two pieces that are put together by hand are no longer known to be markup, and are shown as text.
    assert tag("p", tag("b", "x") + tag("b", "y")).startswith("<p>&lt;b&gt;")
    assert listed([]) == Html()
