"""Sections of a page as plain data, which templates turn into HTML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

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


@dataclass(frozen=True, kw_only=True)
class Table:
    """Numbers below a figure; the first column names their rows."""

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    caption: str
    published: frozenset[int] = frozenset()
    """Places of lines that are the paper's own."""


@dataclass(frozen=True)
class Figure:
    """A picture with its notes and its numbers."""

    picture: Picture
    notes: Sequence[str] = ()
    numbers: Sequence[Table] = ()
    order: Sequence[str] = ()
    """A heading and sentences on the order of conditions, which stand below."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page, made by its template from its figures and values."""

    anchor: str
    """Its words stand under this name in sections.toml."""
    template: str = "figures.html"
    values: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    """Figures of one kind, side by side so that pairs of languages can be compared."""
    first: Sequence[Figure] = ()
    """Figures that stand before these, each with the whole width."""
    title: str = ""
    """Stands in place of the one in sections.toml."""
    words: str = ""
    """The name under which sections.toml has its words, if it is not the anchor."""
    has_published: bool = False
    """Whether the paper's numbers can be shown beside ours."""

    @property
    def pictures(self) -> list[Picture]:
        return [figure.picture for figure in (*self.first, *self.figures)]

    @property
    def shared_notes(self) -> list[str]:
        """Notes that several figures share, which are written once, below them."""
        several = self.figures if len(self.figures) > 1 else ()
        return [note for note in (several[0].notes if several else ()) if all(note in each.notes for each in several)]
