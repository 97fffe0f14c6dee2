"""The report of what a store has of a study just now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement, measurements, pending_cells
from isoglot.report.page import Compared, Other, write_report
from isoglot.store import Store
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
                store.told(cell.stage, contents=True)
            except IsoglotError as error:
                yield cell.stage.digest, (cell, error)
