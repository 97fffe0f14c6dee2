"""How far a study was when its report was written: what is missing and why, and where its logs are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from isoglot.files import parsed_json
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells, gap_sentences, gaps
from isoglot.pretraining.run import HEALTH
from isoglot.report.provenance import portable_origin
from isoglot.store import Store, inputs_first
from isoglot.store.file_sums import RECORD_NAME
from isoglot.study.real_text import RealText
from isoglot.study.study import Study

PENDING, FAILED, NO_DATA = "pending", "failed", "no data"


@dataclass(frozen=True, kw_only=True)
class Log:
    """The log of one artifact."""

    title: str
    address: str | None
    """Seen from the report; None where that is no longer in its store."""
    remark: str | None
    """The last one, if it still holds."""


@dataclass(frozen=True)
class Absent:
    """A place of an exhibit without its number."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    task: str | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class State:
    """Everything that a page says beside numbers and their provenance."""

    cells: int
    cells_lacking: int
    """Cells without their numbers."""
    absent: tuple[Absent, ...]
    pending: tuple[str, ...]
    """Titles of the stages that would fill them."""
    failures: tuple[str, ...]
    no_data: tuple[str, ...]
    """Sentences about data that the study has no files for."""
    records: dict[str, str]
    """Addresses of the records of artifacts, from the page, by digest."""
    logs: tuple[Log, ...]

    @property
    def absences(self) -> dict[tuple[str, str, tuple[str, str], str | None], str]:
        return {(each.exhibit, each.condition, each.languages, each.task): each.reason for each in self.absent}

    def seen_from(self, folder: Path) -> State:
        """The state for a page in this folder: outside its store no address leads anywhere."""

        def leads(address: str | None) -> bool:
            # Names alone count, as for a browser: the folder may not be there yet.
            return address is not None and Path(os.path.normpath(folder.absolute() / address)).exists()

        logs = [each if leads(each.address) else replace(each, address=None) for each in self.logs]
        return replace(
            self,
            records={digest: address for digest, address in self.records.items() if leads(address)},
            logs=tuple(each for each in logs if each.address or each.remark),
        )

    def json_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def study_state(study: Study, *, store: Store, folder: Path, failures: Sequence[str], lacking: Sequence[Cell]) -> State:
    """The state for a page in this folder of the store; each failure begins with the title of an artifact."""
    shown = cells(study)
    folders = {cell.stage.digest: store.find_folder(cell.stage) or store.folder(cell.stage) for cell in shown}
    stages = inputs_first(cell.stage for cell in shown).values()
    return State(
        cells=len(shown),
        cells_lacking=len(lacking),
        absent=tuple(_absent(study, lacking, failures)),
        pending=tuple(dict.fromkeys(cell.stage.title for cell in lacking)),
        failures=tuple(failures),
        no_data=tuple(_no_data(study)),
        records={digest: os.path.relpath(each / RECORD_NAME, folder) for digest, each in folders.items()},
        logs=tuple(
            Log(title=stage.title, address=f"{os.path.relpath(log, folder)}/", remark=last_remark(log))
            for stage in stages
            if _is_readable(log := store.log_folder(stage))
        ),
    )


def _is_readable(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:  # another user's, say; a page without links to logs is better than none
        return False


def last_remark(log: Path) -> str | None:
    """The last remark of the latest attempt, if it still holds."""
    try:
        # The trouble of an earlier attempt may be past.
        lines = [parsed_json(line) for line in (log / HEALTH).read_text(encoding="utf-8").splitlines()]
        remarks = [line["remark"] for line in lines if "remark" in line and line["attempt"] == lines[-1]["attempt"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    # "left the unigram plateau" takes the remark before it back.
    return str(remarks[-1]) if remarks and not str(remarks[-1]).startswith("left ") else None


def _no_data(study: Study) -> Iterator[str]:
    """Sentences about missing data, the same on every machine."""
    for sentence in gap_sentences(study):
        text = sentence.replace(f": {study.origin}: ", f": {portable_origin(study)}: ")
        # All paths stand after a colon; of a data folder "." they begin with no dot.
        yield text.replace(f": {study.text.data.as_posix()}/", ": ") if isinstance(study.text, RealText) else text


def _absent(study: Study, lacking: Sequence[Cell], failures: Sequence[str]) -> Iterator[Absent]:
    for gap in gaps(study):
        # A part of an exhibit is called "table-1 ner", or "growth CKA".
        exhibit, _, _ = gap.exhibit.partition(" ")
        yield Absent(exhibit, gap.condition, gap.languages, gap.task, NO_DATA)
    for cell in lacking:
        # A cell has failed where what it is made from has.
        needed = inputs_first([cell.stage]).values() if failures else ()
        has_failed = any(failure.startswith(f"{stage.title}: ") for stage in needed for failure in failures)
        yield Absent(cell.exhibit, cell.condition, cell.languages, cell.task, FAILED if has_failed else PENDING)
