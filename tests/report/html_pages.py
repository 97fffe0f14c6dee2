"""A page as a reader sees it: text, tables and links, for the tests of reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from isoglot.report.page import rendering
from isoglot.report.page.section import Section

VOID = {"meta", "link", "br", "img"}
UNSEEN = {"script", "style", "title"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    parent: Element | None
    children: list[Element | str] = field(default_factory=list)

    def find_all(self, tag: str, *, class_: str | None = None) -> list[Element]:
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and (class_ is None or class_ in (child.attributes.get("class") or "").split()):
                    found.append(child)
                found += child.find_all(tag, class_=class_)
        return found

    def by_id(self, name: str) -> Element:
        (found,) = (each for tag in ("section", "li", "figure") for each in self.find_all(tag) if each.id == name)
        return found

    @property
    def id(self) -> str | None:
        return self.attributes.get("id")

    @property
    def text(self) -> str:
        parts = (child if isinstance(child, str) else child.text for child in self.children)
        return "" if self.tag in UNSEEN else " ".join(" ".join(parts).split())

    def rows(self) -> list[list[str]]:
        """The rows of a table, or of all tables inside."""
        return [
            [cell.text for cell in row.children if isinstance(cell, Element) and cell.tag in ("th", "td")]
            for row in self.find_all("tr")
        ]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.open = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open = self.open.children[-1]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.children.append(Element(tag, dict(attrs), self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.tag == tag, f"</{tag}> closes <{self.open.tag}>"
        self.open = self.open.parent

    def handle_data(self, data: str) -> None:
        self.open.children.append(data)


def section_html(section: Section) -> str:
    """A section alone, as the page has it."""
    return rendering._environment().get_template("section.html").render(section=section, drawings={})


def parsed_page(text: str) -> Element:
    """Refuses a page whose elements are not closed in order."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    assert parser.open is parser.root
    return parser.root
