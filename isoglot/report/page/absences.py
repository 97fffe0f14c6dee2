"""Why a number is not there: still to come, failed, or wanting its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from isoglot.report.state import NO_DATA, Absent

NONE = "-"
Place = tuple[str, str, tuple[str, str], str | None]
"""Exhibit, condition, pair of languages and task."""


@dataclass(frozen=True, kw_only=True)
class Absences:
    """Of one study."""

    reasons: Mapping[Place, str]

    @classmethod
    def of(cls, absent: Iterable[Absent]) -> Absences:
        """Of several for one place, the last."""
        return cls(reasons={(each.exhibit, each.condition, each.languages, each.task): each.reason for each in absent})

    def awaited(self, exhibit: str) -> set[Place]:
        """What would be there had the study come to its end, and all of it gone well; some of its seeds may be."""
        return {place for place, reason in self.reasons.items() if place[0] == exhibit and reason != NO_DATA}

    def why(self, exhibit: str, condition: str, languages: tuple[str, str], task: str | None = None) -> str:
        """In a word or two, to stand where the number would."""
        return self.reasons.get((exhibit, condition, languages, task), NONE)
