"""Sections of a page as plain data, which templates turn into HTML."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from isoglot.report.figures.line_charts import LineChart
from isoglot.report.figures.picture import Picture

NONE = "-"
TEMPLATES = files("isoglot.report.page") / "templates"
SECTION_WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads((TEMPLATES / "sections.toml").read_text("utf-8"))
Place = tuple[str, str, tuple[str, str], str | None]
"""Exhibit, condition, pair of languages and task."""
Absences = Mapping[Place, str]
"""Why a number is not there, in a word or two to stand in its place: still to come, failed, or without data."""


@dataclass(frozen=True)
class Figure:
    """A picture with its notes, and the charts whose numbers stand below it as tables."""

    picture: Picture
    notes: Sequence[str] = ()
    charts: Sequence[LineChart] = ()


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
        if len(self.figures) < 2:
            return []
        return [note for note in self.figures[0].notes if all(note in each.notes for each in self.figures)]
