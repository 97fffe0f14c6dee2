"""How far a study was when its report was written: what is not there and why, and where its store tells more."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from isoglot.pipeline.exhibits import cells
from isoglot.pretraining.run import HEALTH
from isoglot.store import Store, inputs_first
from isoglot.study.study import Study

LEFT = "left "
"""How a remark begins that takes an earlier one back."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """Of one artifact."""

    title: str
    address: str | None
    """From where the report is; none where that is no longer in its store."""
    remark: str | None
    """The last, where one still holds."""


def logs(study: Study, *, store: Store, folder: Path) -> list[Log]:
    """Of each artifact that has any, as a report in this folder leads to them."""
    stages = inputs_first(cell.stage for cell in cells(study)).values()
    found = ((stage.title, store.log_folder(stage)) for stage in stages)
    return [
        Log(title=title, address=f"{os.path.relpath(log, folder)}/", remark=last_remark(log))
        for title, log in found
        if log.is_dir()
    ]


def last_remark(log: Path) -> str | None:
    """Of the latest attempt, as what troubled an earlier one may be past."""
    try:
        lines = [json.loads(line) for line in (log / HEALTH).read_text(encoding="utf-8").splitlines()]
        remarks = [
            str(line["remark"]) for line in lines if "remark" in line and line["attempt"] == lines[-1]["attempt"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return remarks[-1] if remarks and not remarks[-1].startswith(LEFT) else None


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
