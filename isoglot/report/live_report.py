"""The report of a study that is still running."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import measurements, pending_cells
from isoglot.report.writing import Other, Written, write_report
from isoglot.store import Observer, Stage, Store
from isoglot.study.study import Study


def write_current_report(
    study: Study, store: Store, *, failures: Sequence[str] = (), against: Other | None = None
) -> Written:
    """Write the whole report, however little there is; each failure begins with the title of a stage."""
    found, damage = measurements(study, store)
    pending, read = pending_cells(study, store), {each.stage for each in found}
    damaged: dict[str, Cell] = {}
    all_failures = dict.fromkeys(failures)
    for cell in cells(study):
        if cell.stage.digest not in read:
            try:
                store.lookup(cell.stage, contents=True)
            except IsoglotError as error:
                damaged[cell.stage.digest] = cell
                all_failures[f"{cell.stage.title}: {error}"] = None
    lacking = [*pending, *damaged.values()]
    written = write_report(study, found, store=store, failures=[*all_failures], pending=lacking, against=against)
    return replace(written, found=found, pending=pending, damage=damage)


SECONDS_BETWEEN_REPORTS = 30.0
REST = 20.0
"""A new report waits this many times as long as the last one took, so that it does not hold up the study."""


class LiveReport(Observer):
    """Writes the report when a run begins and now and then while it goes on; the run writes the last one itself."""

    def __init__(
        self, study: Study, store: Store, *, seconds_between: float = SECONDS_BETWEEN_REPORTS, rest: float = REST
    ) -> None:
        self._study, self._store = study, store
        self._seconds_between, self._rest = seconds_between, rest
        self._failures: list[str] = []
        self._due_at = 0.0
        self._has_warned = False

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
            # A full disk, for example; the last report names it, or can be written after all.
            pass
        except Exception as error:
            # Whatever it is: days of training must not end because a page could not be drawn half-way.
            if not self._has_warned:
                warnings.warn(f"the report could not be written meanwhile ({error}); the run goes on", stacklevel=2)
            self._has_warned = True
        ended = monotonic()
        self._due_at = ended + max(self._seconds_between, self._rest * (ended - begun))
