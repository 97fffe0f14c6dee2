"""Sections of a page as plain data, which templates turn into HTML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, ClassVar

from isoglot.report.figures.picture import Picture
from isoglot.report.state import NO_DATA, Absent

NONE = "-"
SECTION_WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (files("isoglot.report.page") / "templates" / "sections.toml").read_text(encoding="utf-8")
)
Place = tuple[str, str, tuple[str, str], str | None]
"""Exhibit, condition, pair of languages and task."""


@dataclass(frozen=True, kw_only=True)
class Absences:
    """Why numbers are not there: still to come, failed, or without data."""

    reasons: Mapping[Place, str]

    @classmethod
    def of(cls, absent: Iterable[Absent]) -> Absences:
        """Where a place has several reasons, the last one counts."""
        return cls(reasons={(each.exhibit, each.condition, each.languages, each.task): each.reason for each in absent})

    def awaited(self, exhibit: str) -> set[Place]:
        """Places that a finished study without failures would fill; some of their seeds may be there."""
        return {place for place, reason in self.reasons.items() if place[0] == exhibit and reason != NO_DATA}

    def why(self, exhibit: str, condition: str, languages: tuple[str, str], task: str | None = None) -> str:
        """In a word or two, to stand where the number would."""
        return self.reasons.get((exhibit, condition, languages, task), NONE)


@dataclass(frozen=True)
class Text:
    """A paragraph, with a class of the style sheet."""

    kind: ClassVar[str] = "text"
    text: str
    style: str = ""


@dataclass(frozen=True)
class Heading:
    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Listing:
    """A list without order; each item is a text, or an address and its text before the rest."""

    kind: ClassVar[str] = "listing"
    items: Sequence[str | tuple[str, str, str]]
    style: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The first `num_names` columns are words, and name their row; all others are numbers, or words too."""

    kind: ClassVar[str] = "table"
    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    num_names: int = 1
    caption: str = ""
    published: frozenset[int] = frozenset()
    """Places of lines that are the paper's own."""
    style: str = "numbers"


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when their title is clicked."""

    kind: ClassVar[str] = "folded"
    title: str
    blocks: Sequence[Block]
    style: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture with its notes and its numbers."""

    kind: ClassVar[str] = "figure"
    picture: Picture
    notes: Sequence[str] = ()
    numbers: Sequence[Table] = ()
    below: Sequence[Block] = ()


@dataclass(frozen=True)
class Beside:
    """Figures of one kind side by side, so that pairs of languages can be compared."""

    kind: ClassVar[str] = "beside"
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Group:
    """Blocks under one class of the style sheet."""

    kind: ClassVar[str] = "group"
    blocks: Sequence[Block]
    style: str


@dataclass(frozen=True)
class Custom:
    """A block with a template of its own."""

    kind: ClassVar[str] = "custom"
    template: str
    values: Mapping[str, Any]


Block = Text | Heading | Listing | Table | Folded | Figure | Beside | Group | Custom


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page, whose words stand in sections.toml under its anchor unless others are given."""

    anchor: str
    blocks: Sequence[Block]
    title: str = ""
    words: str = ""
    """The name under which sections.toml has its words, if it is not the anchor."""
    lead: Custom | None = None
    """Stands first, before the explanation."""
    has_published: bool = False
    """Whether the paper's numbers can be shown beside ours."""

    @property
    def heading(self) -> str:
        return self.title or SECTION_WORDS[self.words or self.anchor]["title"]

    @property
    def short_title(self) -> str:
        """For the list of sections."""
        return SECTION_WORDS[self.words or self.anchor]["short_title"]

    @property
    def explanation(self) -> str:
        """For someone who has not read the paper."""
        return SECTION_WORDS[self.words or self.anchor]["explanation"]

    @property
    def pictures(self) -> Sequence[Picture]:
        return tuple(_pictures(self.blocks))


def _pictures(blocks: Sequence[Block]) -> Iterator[Picture]:
    for block in blocks:
        if isinstance(block, Figure):
            yield block.picture
        elif isinstance(block, Beside):
            yield from _pictures(block.figures)
        elif isinstance(block, Folded | Group):
            yield from _pictures(block.blocks)


def beside(figures: Sequence[Figure]) -> Iterator[Block]:
    """One figure alone has the whole width; notes that several share are written once, below them."""
    if len(figures) == 1:
        yield figures[0]
        return
    shared = [note for note in figures[0].notes if all(note in each.notes for each in figures)]
    yield Beside([replace(each, notes=[note for note in each.notes if note not in shared]) for each in figures])
    yield Listing(shared, "notes")


def words_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    return Table(headings=headings, lines=lines, style="words")
