"""How far a study was when its report was written: what is not there and why, and where its store tells more."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from isoglot.report.logs import Log

PENDING, FAILED, NO_DATA = "pending", "failed", "no data"


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A place of an exhibit without its number."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    task: str | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class State:
    """All that a page says beside numbers and their provenance."""

    cells: int
    """That the study has in all."""
    cells_lacking: int
    """Whose numbers are not there."""
    absent: tuple[Absent, ...]
    pending: tuple[str, ...]
    """Titles of what would fill them."""
    failures: tuple[str, ...]
    no_data: tuple[str, ...]
    """Sentences about what a study has no files for."""
    records: dict[str, str]
    """Addresses of the records of artifacts, from the page, by digest."""
    logs: tuple[Log, ...]

    def seen_from(self, folder: Path) -> State:
        """As a page in this folder tells it: outside its store no address leads anywhere."""
        logs = [each if _leads(each.address, folder) else replace(each, address=None) for each in self.logs]
        return replace(
            self,
            records={digest: address for digest, address in self.records.items() if _leads(address, folder)},
            logs=tuple(each for each in logs if each.address or each.remark),
        )

    def json_text(self) -> str:
        """All of it."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def _leads(address: str | None, folder: Path) -> bool:
    """By names alone, as a browser goes there: the folder may not be there yet."""
    return address is not None and Path(os.path.normpath(folder.absolute() / address)).exists()
