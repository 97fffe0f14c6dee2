"""A folder of artifacts, each named by its stage's digest and finished by one rename.

A kill at any moment leaves a finished artifact or a .partial folder, for three reasons. A stage writes into .partial
alone. The record, with the checksums of all files, is written last. One rename, which the file system does in one step,
makes .partial the artifact.
"""

import errno
import json
import os
import shutil
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from isoglot.errors import IsoglotError, option
from isoglot.files import (
    Lease,
    clear_disk_errors,
    flush,
    holder,
    lease,
    link_error,
    parsed_json,
    refuse_links,
    write_whole,
)
from isoglot.store.file_sums import EVERYTHING, RECORD_NAME, Seen, check_strays, drop_all_but, file_sums, fits
from isoglot.store.record import FORMAT, Record, check_format, maker, read_artifact, read_record
from isoglot.store.stage import Progress, Stage, Work
from isoglot.store.work_folder import SECONDS_NAME, Stopwatch, closed_to_others, lacks_only_the_rename

STORE_NAME = "store.json"
PARTIAL, LEASE = ".partial", ".lease"
LOGS = "logs"
SUMMARIES = "summaries"
BRING_WHOLE = "where it was made, pack it with isoglot pack --largest-file 1GB, and unpack that here"
"""The way out where something needs an artifact, and the store has only its summary."""


def ignore_progress(done: float, total: float, unit: str, note: str = "") -> None:
    """For callers that show no progress."""


class StoredArtifact(NamedTuple):
    """An artifact of the store, whole or as a summary."""

    folder: Path
    record: Record


class Store:
    """Artifacts under one root.

    <kind>-<digest>/ is a finished artifact and never changes. <kind>-<digest>.partial/ is in work, or was interrupted.
    <kind>-<digest>.lease is the lock of the process that makes it. logs/<kind>-<digest>/ has logs of the making.
    summaries/<kind>-<digest>/ has the record and the small files of an artifact whose large files stayed on another
    machine: reports read it, and no stage is made from it. Nothing is written before the first artifact is made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._known: dict[Path, Seen] = {}  # files that were read and found to be as their records say
        with clear_disk_errors(self.root):
            if os.path.lexists(self.root) and not self.root.is_dir():
                raise IsoglotError(f"the store {self.root} is a file: choose a folder with {option('store')}")
            self._check_format()

    @cached_property
    def maker(self) -> dict[str, Any]:
        return maker()

    def folder(self, stage: Stage | Record) -> Path:
        return self.root / stage.folder_name

    def partial_folder(self, stage: Stage) -> Path:
        return self.root / f"{stage.folder_name}{PARTIAL}"

    def log_folder(self, stage: Stage | Record) -> Path:
        """The folder for logs of the making; the first writer creates it."""
        return self.root / LOGS / stage.folder_name

    def summary_folder(self, stage: Stage | Record) -> Path:
        return self.root / SUMMARIES / stage.folder_name

    def has(self, stage: Stage) -> bool:
        """Whether the artifact is finished. A finished one that differs from its record raises."""
        if not self.folder(stage).exists():
            return False
        self.record(stage)
        return True

    def is_interrupted(self, stage: Stage) -> bool:
        return self.partial_folder(stage).exists()

    def record(self, stage: Stage) -> Record:
        """The record of a finished artifact, after a check that its files have the right sizes."""
        return read_artifact(self.folder(stage), stage=stage, read=())

    def find_folder(self, stage: Stage | Record) -> Path | None:
        """The folder of an artifact, or else of its summary, unchecked."""
        return next((each for each in (self.folder(stage), self.summary_folder(stage)) if each.exists()), None)

    def lookup(self, stage: Stage | Record, *, read: Container[str]) -> StoredArtifact | None:
        """The artifact or its summary, after a check of the sizes of its files and the bytes of those to `read`.

        This and `verified_folder` are the doors for everything that becomes a number: no reader opens a file whose
        bytes were not compared with the record. A process reads each file once for that, unless the file changes.
        """
        folder = self.find_folder(stage)
        if folder is None:
            return None
        is_summary = folder == self.summary_folder(stage)
        record = read_artifact(folder, stage=stage, read=read, is_summary=is_summary, known=self._known)
        return StoredArtifact(folder=folder, record=record)

    def verified_folder(self, stage: Stage) -> Path:
        """The folder of a finished artifact, after a check of every byte in it."""
        folder = self.folder(stage)
        check_strays(folder, read_artifact(folder, stage=stage, read=EVERYTHING, known=self._known).files)
        return folder

    def records(self) -> Iterator[Record]:
        """The records of all artifacts and summaries; the stage that needs an unreadable one will report it."""
        folders = {path.parent.name: path.parent for path in (self.root / SUMMARIES).glob(f"*/{RECORD_NAME}")}
        folders |= {path.parent.name: path.parent for path in self.root.glob(f"*/{RECORD_NAME}")}
        for name, folder in sorted(folders.items()):
            with suppress(IsoglotError):
                if "." not in name:  # neither in work nor being removed
                    yield read_record(folder)

    def find(self, prefix: str) -> Record:
        """The only finished artifact whose folder name or digest starts with the prefix."""
        records = list(self.records())
        match [each for each in records if each.folder_name.startswith(prefix) or each.digest.startswith(prefix)]:
            case [record]:
                return record
            case []:
                raise IsoglotError(f"no finished artifact in {self.root} has a name or digest starting with {prefix!r}")
            case several:
                names = ", ".join(each.folder_name for each in several)
                raise IsoglotError(f"{prefix!r} may be any of {names} in {self.root}: give more of the name")

    def ensure(
        self, stage: Stage, progress: Progress = ignore_progress, *, waiting: Callable[[str], None] | None = None
    ) -> bool:
        """Make the artifact unless it is there, and return whether this call has made it.

        While another process is making it, this call waits, after passing that process's name to `waiting`.
        """
        with clear_disk_errors(self.root):
            if self.has(stage):
                return False
            self.create()
            for path in (self.folder(stage), self.partial_folder(stage), self.log_folder(stage)):
                refuse_links(path, below=self.root)
            with lease(self.root / f"{stage.folder_name}{LEASE}", waiting=waiting) as held:
                # Another process may have finished it while this one waited.
                if self.has(stage):
                    return False
                if not lacks_only_the_rename(self.partial_folder(stage), stage=stage):
                    self._make(stage, progress, held)
                held.check()
                self._commit(stage)
        return True

    def holder(self, stage: Stage) -> str | None:
        """The other process that is making it, if there is one: "host, process 4711"."""
        return holder(self.root / f"{stage.folder_name}{LEASE}")

    def _make(self, stage: Stage, progress: Progress, held: Lease) -> None:
        inputs = {each.digest: self._input_folder(each, needed_by=stage) for each in stage.inputs.values()}
        partial = self.partial_folder(stage)
        partial.mkdir(exist_ok=True)
        with closed_to_others(partial, mode=self.root.stat().st_mode):
            self._make_in(partial, stage, inputs, progress, held)

    def _make_in(self, partial: Path, stage: Stage, inputs: dict[str, Path], progress: Progress, held: Lease) -> None:
        for path in partial.rglob("*"):
            if path.is_symlink():
                raise link_error(path)
        # An earlier attempt may have left files half written, and they may have been damaged since.
        drop_all_but(partial, lambda name: name == SECONDS_NAME or fits(name, stage.resumes))
        stopwatch, log = Stopwatch(partial, progress, check=held.check), self.log_folder(stage)
        try:
            stage.make(Work(folder=partial, input_folders=inputs, progress=stopwatch, log_folder=log))
        except BaseException:
            # A full disk must not hide why the attempt stopped.
            with suppress(OSError):
                stopwatch.save()
            raise
        seconds = stopwatch.seconds
        if (partial / RECORD_NAME).exists():
            raise IsoglotError(f"{partial / RECORD_NAME} was written by its stage: have {stage.kind} name it otherwise")
        files = file_sums(partial, leaves=stage.leaves, leave_out=SECONDS_NAME)
        Record.of(stage, files=files, seconds=seconds, maker=self.maker).write(partial)

    def _commit(self, stage: Stage) -> None:
        partial = self.partial_folder(stage)
        # Not before the record is there: an attempt that is killed now has nothing left to do but this.
        listed = read_record(partial).files
        drop_all_but(partial, lambda name: name in listed or name == RECORD_NAME)
        try:
            partial.rename(self.folder(stage))
        except OSError as error:
            # It may have come another way meanwhile: copied from a cluster, or made where locks do not work.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not self.has(stage):
                raise
            shutil.rmtree(partial)
            return
        flush(self.root)
        # A damaged or missing summary is no reason to warn.
        with suppress(IsoglotError):
            if read_record(self.summary_folder(stage)).files != read_record(self.folder(stage)).files:
                text = "was made again and differs from the one that other results here were measured on"
                warnings.warn(f"{stage.title} {text}", stacklevel=2)

    def _input_folder(self, stage: Stage, *, needed_by: Stage) -> Path:
        if not self.has(stage):
            raise IsoglotError(f"{needed_by.title} needs {self.folder(stage)}, which is not there: make it first")
        return self.verified_folder(stage)

    def create(self) -> None:
        """Create the folder and mark it as a store, unless it is there."""
        path = self.root / STORE_NAME
        if path.exists():
            return
        self.root.mkdir(parents=True, exist_ok=True)
        with lease(self.root / f"{STORE_NAME}{LEASE}"):
            if not path.exists():
                write_whole(path, json.dumps({"format": FORMAT}) + "\n")

    def _check_format(self) -> None:
        path = self.root / STORE_NAME
        try:
            check_format(parsed_json(path.read_text(encoding="utf-8"))["format"], path=path)
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError) as error:
            content = json.dumps({"format": FORMAT})
            raise IsoglotError(f"{path} is damaged: if this is a store, write {content} into it") from error
