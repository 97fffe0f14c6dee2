"""A folder of artifacts, each found by its stage's digest and finished by one rename."""

import errno
import json
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, flush, holder, lease, write_whole
from isoglot.store.record import (
    FORMAT,
    RECORD_NAME,
    Record,
    check_format,
    file_sums,
    folder_name,
    read_artifact,
    read_record,
    read_summary,
)
from isoglot.store.stage import Progress, Stage, Work

SECONDS_NAME = ".isoglot-seconds"


class Stopwatch:
    """Goes on from where the last attempt at this folder stopped."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SECONDS_NAME
        self._before = 0.0
        with suppress(OSError, ValueError):
            self._before = float(self._path.read_text())
        self._started = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        """Up to now, over all attempts."""
        return self._before + time.monotonic() - self._started

    @contextmanager
    def timing(self, progress: Progress) -> Iterator[Progress]:
        """Keeps the time at each report of progress, once a second at most, and when the attempt fails."""

        def timed_progress(done: float, total: float, unit: str, note: str = "") -> None:
            if time.monotonic() - self._saved >= 1:
                self._save()
            progress(done, total, unit, note)

        try:
            yield timed_progress
        except BaseException:
            # A disk too full for it must not hide why the attempt stopped.
            with suppress(OSError):
                self._save()
            raise

    def _save(self) -> None:
        self._saved = time.monotonic()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o666)
        try:
            # Always the same length and never truncated, so a kill finds the old number or the new one.
            os.pwrite(descriptor, f"{self.seconds:020.6f}".encode(), 0)
        finally:
            os.close(descriptor)


STORE_NAME = "store.json"
PARTIAL = ".partial"
LOGS = "logs"
SUMMARIES = "summaries"


def ignore_progress(done: float, total: float, unit: str, note: str = "") -> None:
    """For callers that show none."""


def ignore_holder(holder: str) -> None:
    """For callers that do not say whom they wait for."""


@dataclass(frozen=True, kw_only=True)
class StoredArtifact:
    """Of an artifact that is here, whole or as a summary."""

    folder: Path
    record: Record


class Store:
    """Artifacts under one root.

    <kind>-<digest>/ is finished and never changes; the same with .partial is in work, or was; with .lease it is the
    lock of whoever works on it. logs/<kind>-<digest>/ tells of its making. summaries/<kind>-<digest>/ tells of an
    artifact whose large files stayed on another machine: reports read it, and no stage is made from it. Nothing is
    written before the first artifact is made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._verified: set[str] = set()
        with clear_disk_errors(self.root):
            if os.path.lexists(self.root) and not self.root.is_dir():
                raise IsoglotError(f"the store {self.root} is a file: choose a folder with --store")
            self._check_format()

    def folder(self, stage: Stage | Record) -> Path:
        """Where the finished artifact is, or will be."""
        return self.root / folder_name(kind=stage.kind, digest=stage.digest)

    def partial_folder(self, stage: Stage) -> Path:
        """Where it is in work, or was."""
        return self._beside(stage, PARTIAL)

    def log_folder(self, stage: Stage | Record) -> Path:
        """Where logs of its making are, or will be; whoever writes the first makes the folder."""
        return self.root / LOGS / self.folder(stage).name

    def summary_folder(self, stage: Stage | Record) -> Path:
        """Where its record and small files are, or would be, where the large ones stayed on another machine."""
        return self.root / SUMMARIES / self.folder(stage).name

    def has(self, stage: Stage) -> bool:
        """Whether the artifact is finished; raises if it is there but not as its record says."""
        if not self.folder(stage).exists():
            return False
        self.record(stage)
        return True

    def is_interrupted(self, stage: Stage) -> bool:
        """Whether there is work to go on from, or going on."""
        return self.partial_folder(stage).exists()

    def record(self, stage: Stage) -> Record:
        """The record of a finished artifact, its files found present and of the right size."""
        return read_artifact(self.folder(stage), stage=stage, contents=False)

    def verify(self, stage: Stage) -> Record:
        """The record of a finished artifact, all its files read again and found unchanged."""
        record = read_artifact(self.folder(stage), stage=stage, contents=True)
        self._verified.add(stage.digest)
        return record

    def find_folder(self, stage: Stage | Record) -> Path | None:
        """Where to read of an artifact: its own folder, or else its summary; it is not looked into."""
        return next((each for each in (self.folder(stage), self.summary_folder(stage)) if each.exists()), None)

    def lookup(self, stage: Stage, *, contents: bool = False) -> StoredArtifact | None:
        """What is told there, once the files are found as they should be: sizes, and contents if asked."""
        folder = self.find_folder(stage)
        if folder is None:
            return None
        if folder == self.summary_folder(stage):
            return StoredArtifact(folder=folder, record=read_summary(folder, stage=stage, contents=contents))
        return StoredArtifact(folder=folder, record=self.verify(stage) if contents else self.record(stage))

    def records(self) -> Iterator[Record]:
        """Of all artifacts and summaries; unreadable ones are left for the stage that needs them to complain of."""
        whole = [path for path in self.root.glob(f"*/{RECORD_NAME}") if path.parent.suffix != PARTIAL]
        names = {path.parent.name for path in whole}
        told = (self.root / SUMMARIES).glob(f"*/{RECORD_NAME}")
        folders = [path.parent for path in (*whole, *(path for path in told if path.parent.name not in names))]
        for folder in sorted(folders, key=lambda folder: folder.name):
            try:
                yield read_record(folder)
            except IsoglotError:
                continue

    def find(self, prefix: str) -> Record:
        """The one finished artifact whose folder name or digest starts so."""
        found = [
            each for each in self.records() if each.folder_name.startswith(prefix) or each.digest.startswith(prefix)
        ]
        match found:
            case [record]:
                return record
            case []:
                raise IsoglotError(f"no finished artifact in {self.root} has a name or digest starting with {prefix!r}")
            case _:
                names = ", ".join(each.folder_name for each in found)
                raise IsoglotError(f"{prefix!r} may be any of {names} in {self.root}: give more of the name")

    def ensure(
        self,
        stage: Stage,
        progress: Progress = ignore_progress,
        *,
        waiting: Callable[[str], None] = ignore_holder,
    ) -> bool:
        """Makes the artifact unless it is there, waiting for a process already at it; True if this call made it."""
        with clear_disk_errors(self.root):
            if self.has(stage):
                return False
            self.create()
            with lease(self._beside(stage, ".lease"), waiting=waiting):
                if self.has(stage):
                    return False
                if not _lacks_only_the_rename(self.partial_folder(stage), stage=stage):
                    self._make(stage, progress)
                self._commit(stage)
        return True

    def holder(self, stage: Stage) -> str | None:
        """Which other process is making it, if one is: "host, process 4711"."""
        return holder(self._beside(stage, ".lease"))

    def _make(self, stage: Stage, progress: Progress) -> None:
        input_folders = {each.digest: self._verified_folder(each, needed_by=stage) for each in stage.inputs.values()}
        partial = self.partial_folder(stage)
        partial.mkdir(exist_ok=True)
        stopwatch = Stopwatch(partial)
        with stopwatch.timing(progress) as timed_progress:
            stage.make(
                Work(
                    folder=partial,
                    input_folders=input_folders,
                    progress=timed_progress,
                    log_folder=self.log_folder(stage),
                )
            )
        seconds = stopwatch.seconds
        if (partial / RECORD_NAME).exists():
            raise IsoglotError(f"{partial / RECORD_NAME} was written by its stage: have {stage.kind} name it otherwise")
        files = file_sums(partial, leave_out=[SECONDS_NAME])
        Record.of(stage, files=files, seconds=seconds).write(partial)

    def _commit(self, stage: Stage) -> None:
        partial = self.partial_folder(stage)
        (partial / SECONDS_NAME).unlink(missing_ok=True)
        try:
            partial.rename(self.folder(stage))
        except OSError as error:
            # It may have come another way meanwhile, copied from a cluster or made where locks do not work.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not self.has(stage):
                raise
            shutil.rmtree(partial)
            return
        flush(self.root)
        self._verified.add(stage.digest)
        self._warn_of_another(stage)

    def _warn_of_another(self, stage: Stage) -> None:
        """If a summary tells of another making: what came with that was measured on files that are not here."""
        # A summary that is damaged or not there tells nothing.
        with suppress(IsoglotError):
            if read_record(self.summary_folder(stage)).files != read_record(self.folder(stage)).files:
                warnings.warn(
                    f"{stage.title} was made anew and differs from the one that other results here were measured on",
                    stacklevel=2,
                )

    def _verified_folder(self, stage: Stage, *, needed_by: Stage) -> Path:
        if not self.has(stage):
            raise IsoglotError(f"{needed_by.title} needs {self.folder(stage)}, which is not there: make it first")
        if stage.digest not in self._verified:
            self.verify(stage)
        return self.folder(stage)

    def _beside(self, stage: Stage, suffix: str) -> Path:
        folder = self.folder(stage)
        return folder.with_name(folder.name + suffix)

    def create(self) -> None:
        """The folder, marked as a store, unless it is there."""
        path = self.root / STORE_NAME
        if path.exists():
            return
        self.root.mkdir(parents=True, exist_ok=True)
        with lease(self.root / f"{STORE_NAME}.lease", waiting=ignore_holder):
            if not path.exists():
                write_whole(path, json.dumps({"format": FORMAT}) + "\n")

    def _check_format(self) -> None:
        path = self.root / STORE_NAME
        try:
            check_format(json.loads(path.read_text(encoding="utf-8"))["format"], path=path)
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError) as error:
            content = json.dumps({"format": FORMAT})
            raise IsoglotError(f"{path} is damaged: if this is a store, write {content} into it") from error


def _lacks_only_the_rename(partial: Path, *, stage: Stage) -> bool:
    """Whether an attempt was stopped between writing its record and the rename; a torn record is removed."""
    try:
        read_artifact(partial, stage=stage, contents=True)
    except IsoglotError:
        (partial / RECORD_NAME).unlink(missing_ok=True)
        return False
    return True
