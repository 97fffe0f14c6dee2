"""Plain tables of numbers: a heading for each column, a name for each row, and room to scroll on a phone."""

from collections.abc import Sequence

from isoglot.report.figures.drawing import PUBLISHED
from isoglot.report.page.markup import Html, joined, tag


def number_table(
    headings: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    num_names: int = 1,
    caption: str = "",
    published: frozenset[int] = frozenset(),
) -> Html:
    """The first `num_names` columns are words, and name their row; all others are numbers.

    `published` has the places of lines that are the paper's own.
    """
    head = tag("tr", *(tag("th", heading, scope="col") for heading in headings))
    body = [
        tag(
            "tr",
            *(tag("th", cell, scope="row") for cell in line[:num_names]),
            *(tag("td", cell) for cell in line[num_names:]),
            class_=PUBLISHED if place in published else None,
        )
        for place, line in enumerate(lines)
    ]
    title = tag("caption", caption) if caption else Html()
    return scrolling(tag("table", title, tag("thead", head), tag("tbody", *body), class_="numbers"), label=caption)


def text_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Html:
    """A table of words."""
    head = tag("tr", *(tag("th", heading, scope="col") for heading in headings))
    body = (tag("tr", tag("th", line[0], scope="row"), *(tag("td", cell) for cell in line[1:])) for line in lines)
    return scrolling(tag("table", tag("thead", head), tag("tbody", joined(body)), class_="words"))


def scrolling(table: Html, *, label: str = "") -> Html:
    """Wider than the window if it must be; the keyboard scrolls it as well."""
    return tag("div", table, class_="scrolling", tabindex="0", role="region", aria_label=label or "Table")
