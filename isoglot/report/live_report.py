"""The report of a study that is still running."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement, measurements, pending_cells
from isoglot.report.writing import Compared, Other, write_report
from isoglot.store import Observer, Stage, Store
from isoglot.study.study import Study


@dataclass(frozen=True, kw_only=True)
class CurrentReport:
    """Where it was written, and what it was written from."""

    page: Path
    found: list[Measurement]
    pending: list[Cell]
    """Which a run would fill."""
    damage: list[IsoglotError]
    compared: Compared | None


def write_current_report(
    study: Study, store: Store, *, failures: Sequence[str] = (), against: Other | None = None
) -> CurrentReport:
    """Write it whole, however little there is; each failure begins with the title of what failed."""
    found, damage = measurements(study, store)
    pending, damaged = pending_cells(study, store), dict(_damaged(study, store, found=found))
    told = dict.fromkeys([*failures, *(f"{cell.stage.title}: {error}" for cell, error in damaged.values())])
    lacking = [*pending, *(cell for cell, _ in damaged.values())]
    written = write_report(study, found, store=store, failures=list(told), pending=lacking, against=against)
    return CurrentReport(page=written.page, found=found, pending=pending, damage=damage, compared=written.compared)


def _damaged(
    study: Study, store: Store, *, found: Sequence[Measurement]
) -> Iterator[tuple[str, tuple[Cell, IsoglotError]]]:
    """Cells by digest whose artifact is there and cannot be read."""
    read = {each.stage for each in found}
    for cell in cells(study):
        if cell.stage.digest not in read:
            try:
                store.lookup(cell.stage, contents=True)
            except IsoglotError as error:
                yield cell.stage.digest, (cell, error)


SECONDS_BETWEEN_REPORTS = 30.0
REST = 20.0
"""How many times as long as the last writing took no other begins: a large report must not hold up its study."""


class LiveReport(Observer):
    """Writes the report when the run begins and now and then while it goes on; what ends it writes the last one."""

    def __init__(
        self, study: Study, store: Store, *, seconds_between: float = SECONDS_BETWEEN_REPORTS, rest: float = REST
    ) -> None:
        self._study, self._store = study, store
        self._seconds_between, self._rest = seconds_between, rest
        self._failures: list[str] = []
        self._due_at = 0.0
        self._is_told_of_trouble = False

    def started(self, stage: Stage, *, index: int, count: int) -> None:  # noqa: ARG002
        self._write_if_due()

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:  # noqa: ARG002
        # Curves of models in training grow as well.
        self._write_if_due()

    def finished(self, stage: Stage, *, seconds: float) -> None:  # noqa: ARG002
        self._write_if_due()

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        self._failures.append(f"{stage.title}: {error}")
        self._write_if_due()

    def _write_if_due(self) -> None:
        begun = monotonic()
        if begun < self._due_at:
            return
        try:
            write_current_report(self._study, self._store, failures=self._failures)
        except IsoglotError:
            # A full disk, say; the last report tells of it, or is written after all.
            pass
        except Exception as error:
            # Whatever it is: days of training must not end because a page could not be drawn half-way.
            if not self._is_told_of_trouble:
                warnings.warn(f"the report could not be written meanwhile ({error}); the run goes on", stacklevel=2)
            self._is_told_of_trouble = True
        ended = monotonic()
        self._due_at = ended + max(self._seconds_between, self._rest * (ended - begun))
