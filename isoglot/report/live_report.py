"""The report of a study that is still running."""

import warnings
from time import monotonic

from isoglot.errors import IsoglotError
from isoglot.report.current import write_current_report
from isoglot.store import Observer, Stage, Store
from isoglot.study.study import Study

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
