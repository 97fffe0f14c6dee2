"""Why a number is not there: still to come, failed, or wanting its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isoglot.artifacts import inputs_first
from isoglot.cells import Cell
from isoglot.exhibits import gaps
from isoglot.study import Study

PENDING, FAILED, NO_DATA, NONE = "pending", "failed", "no data", "-"
Place = tuple[str, str, tuple[str, str], str | None]
"""Exhibit, condition, pair of languages and task."""


@dataclass(frozen=True, kw_only=True)
class Absences:
    """Of one study."""

    reasons: Mapping[Place, str]

    @classmethod
    def of(cls, study: Study, *, pending: Sequence[Cell], failures: Sequence[str]) -> Absences:
        """A cell has failed where what it is made from has; failures begin with the title of an artifact."""
        reasons: dict[Place, str] = {}
        for gap in gaps(study):
            # A gap of one task's part of an exhibit is called "table-1 ner".
            exhibit, _, task = gap.exhibit.partition(" ")
            reasons[exhibit, gap.condition, gap.languages, task or None] = NO_DATA
        for cell in pending:
            needed = inputs_first([cell.stage]).values() if failures else ()
            has_failed = any(failure.startswith(f"{stage.title}: ") for stage in needed for failure in failures)
            place = (cell.exhibit, cell.condition, cell.languages, cell.task)
            reasons[place] = FAILED if has_failed else PENDING
        return cls(reasons=reasons)

    def awaited(self, exhibit: str) -> set[Place]:
        """What would be there had the study come to its end, and all of it gone well; some of its seeds may be."""
        return {place for place, reason in self.reasons.items() if place[0] == exhibit and reason != NO_DATA}

    def why(self, exhibit: str, condition: str, languages: tuple[str, str], task: str | None = None) -> str:
        """In a word or two, to stand where the number would."""
        return self.reasons.get((exhibit, condition, languages, task), NONE)
