"""Getting the files of a data set: fetched or unpacked into a part file, verified, and put in place by one rename."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.checking import file_digest, record_digest, recorded_digests, refuse_other_content
from isoglot.corpora.download.fetching import FetchError, fetch, forget, note_of
from isoglot.corpora.download.unpacking import member_stream
from isoglot.corpora.readers.decompression import found
from isoglot.errors import IsoglotError
from isoglot.files import Lease, clear_disk_errors, flush, lease, new_file

clear_folder_errors = partial(clear_disk_errors, name="the data folder", flag="data")


class UnreachableError(IsoglotError):
    """None of the remaining files of a data set can be fetched either."""


class Outcome(StrEnum):
    """How a file came to be there."""

    FETCHED = "fetched"
    UNPACKED = "unpacked"
    VERIFIED = "there already, and as it should be"
    PRESENT = "there already; no checksum is known for it"


class Watch(Progress):
    """Shows a bar for the file in work, and prints a line for each one that is there."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(20), DownloadColumn(), TimeRemainingColumn(compact=True))
        super().__init__(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.bar = self.add_task("", visible=False)

    def progress(self, path: str, activity: str, done: int, total: int | None) -> None:
        description = f"{activity} {path.rpartition('/')[2]}"
        if description != self.tasks[0].description:
            # A new start, so that the bytes of an earlier attempt do not count as this one's speed.
            self.reset(self.bar, description=description, completed=done, total=total, visible=True)
        self.update(self.bar, completed=done, total=total)

    def report(self, path: str, message: str) -> None:
        self.update(self.bar, visible=False)
        self.console.print(f"  {path}: {message}")


@dataclass(frozen=True, kw_only=True)
class Getter:
    """Brings files into a data folder."""

    root: Path
    home: str
    """Where a person finds files that cannot be fetched."""
    by_hand: str = ""
    observer: Watch = field(default_factory=lambda: Watch(Console(quiet=True)))
    sound: set[Path] = field(default_factory=set)
    """Archives verified already: many files come out of one."""

    def get(self, file: DataFile) -> Outcome:
        """Make a file present, or raise if it cannot be fetched, or is damaged."""
        with clear_folder_errors(self.root):
            outcome = self._verified(file)
            if outcome is None:
                with self._alone(file.path):
                    # The process waited for may have brought it.
                    outcome = self._verified(file) or self._brought(file)
        self.observer.report(file.path, outcome.value)
        return outcome

    def _verified(self, file: DataFile) -> Outcome | None:
        there = found(self.root / file.path)
        if there is None:
            return None
        return Outcome.VERIFIED if self._is_as_known(there, file.sha256) else Outcome.PRESENT

    def _is_as_known(self, path: Path, official: str | None) -> bool:
        # Left behind where the process was killed right after its rename.
        note_of(path.with_name(f"{path.name}.part")).unlink(missing_ok=True)
        return refuse_other_content(path, official, root=self.root, progress=self._verifying(path))

    def _brought(self, file: DataFile) -> Outcome:
        if not file.url:
            raise UnreachableError(f"{self.root / file.path} cannot be fetched: {self.by_hand}; see {self.home}")
        if not file.member:
            self._download(file)
            return Outcome.FETCHED
        archive = self.root / file.fetched_path
        with self._alone(file.fetched_path):
            if not archive.is_file():
                self._download(file)
            elif archive not in self.sound:
                self._is_as_known(archive, None)
        self.sound.add(archive)
        self._unpack(file, archive)
        return Outcome.UNPACKED

    def _download(self, file: DataFile) -> None:
        to = file.fetched_path
        part = self.root / f"{to}.part"
        try:
            fetch(file.url, part=part, progress=partial(self.observer.progress, to, "fetching"))
        except FetchError as error:
            kind = IsoglotError if error.connected else UnreachableError
            fix = f"or fetch it by hand from {self.home} and put it at {self.root / to}"
            raise kind(f"{file.url}: {error}; {fix}") from error
        self._keep(part, file, to=to, source=file.url)

    def _unpack(self, file: DataFile, archive: Path) -> None:
        part = self.root / f"{file.path}.part"
        try:
            with (
                archive.open("rb") as packed,
                member_stream(packed, file.member, most_bytes=file.most_bytes) as stream,
                new_file(part) as out,
            ):
                if file.rewrite is None:
                    shutil.copyfileobj(stream, out)
                else:
                    # Only "\n" ends a line: sentences hold other characters that Python takes for line ends.
                    text = TextIOWrapper(stream, encoding="utf-8", newline="\n")
                    lines = (line.removesuffix("\n").removesuffix("\r") for line in text)
                    out.writelines(f"{line}\n".encode() for line in file.rewrite(lines))
        except IsoglotError as error:
            part.unlink(missing_ok=True)
            # A sound archive must not be refused because it differs from this one.
            record_digest(self.root, file.fetched_path, None)
            name = "/".join(file.member)
            raise IsoglotError(f"{archive}: {name}: {error}; delete it and fetch it again from {self.home}") from error
        flush(part)
        self._keep(part, file, to=file.path, source=str(archive))

    def _keep(self, part: Path, file: DataFile, *, to: str, source: str) -> None:
        digest = file_digest(part, progress=self._verifying(part))
        official = file.sha256 if to == file.path else None
        expected = official or (digest if file.changes else recorded_digests(self.root).get(to, digest))
        if digest != expected:
            forget(part)
            raise IsoglotError(
                f"{source}: this is not {to} as it is known (sha256 {digest[:12]}... in place of {expected[:12]}...), "
                f"and none of it is kept: run again, or see {self.home} for what has changed"
            )
        # Recorded before it is renamed: a file at its place always has its digest on record.
        record_digest(self.root, to, digest)
        part.replace(self.root / to)
        flush((self.root / to).parent)
        note_of(part).unlink(missing_ok=True)

    def _alone(self, path: str) -> AbstractContextManager[Lease]:
        place = self.root / f"{path}.lease"
        place.parent.mkdir(parents=True, exist_ok=True)
        message = "being fetched by {}; waiting for it"
        return lease(place, waiting=lambda holder: self.observer.report(path, message.format(holder)))

    def _verifying(self, path: Path) -> Callable[[int], None]:
        return partial(self.observer.progress, path.name, "verifying", total=path.stat().st_size)
