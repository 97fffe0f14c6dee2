"""Having the files of a data set: fetched or unpacked into a part file, verified, and put in place by one rename."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from time import monotonic
from typing import IO, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from isoglot.corpora.download.data_set import Archive, DataFile, Link, Member, Rewrite
from isoglot.corpora.download.digests import bytes_digest, record_digest, recorded_digests, refuse_other_content
from isoglot.corpora.download.fetching import LastingError, Patience, adopt, fetch, forget, tidy
from isoglot.corpora.download.unpacking import member_stream
from isoglot.corpora.readers.decompression import found
from isoglot.errors import IsoglotError
from isoglot.files import FULL, UNUSABLE, flush, lease


@contextmanager
def clear_folder_errors(root: Path) -> Iterator[None]:
    """Turns a full or closed data folder into an error that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise IsoglotError(
                f"no room left in the data folder {root} ({error.strerror}): free some and run again; "
                "what was fetched is kept"
            ) from error
        if error.errno in UNUSABLE:
            raise IsoglotError(
                f"the data folder {root} cannot be used ({error.strerror}): "
                "make it a folder that you may read and write, or choose another with --data"
            ) from error
        raise


class UnreachableError(IsoglotError):
    """None of the files that are left of a data set can be had either."""


class Outcome(StrEnum):
    """How a file came to be there."""

    FETCHED = "fetched"
    UNPACKED = "unpacked"
    VERIFIED = "there already, and as it should be"
    PRESENT = "there already; no checksum is known for it"


class Observer:
    """Told how it goes; deaf unless someone listens."""

    def progress(self, path: str, *, activity: str, done: int, total: int | None) -> None: ...
    def finished(self, path: str, *, outcome: Outcome) -> None: ...
    def waiting(self, path: str, *, holder: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Getter:
    """Brings files into a data folder."""

    root: Path
    home: str
    """Where a person finds what cannot be fetched."""
    by_hand: str = ""
    patience: Patience = field(default_factory=Patience)
    observer: Observer = field(default_factory=Observer)
    sound: set[Path] = field(default_factory=set)
    """Archives that need no second look: many files come out of one."""

    def get(self, file: DataFile) -> Outcome:
        """Sees to it that a file is there; raises if it is not, or is there and damaged."""
        with clear_folder_errors(self.root):
            outcome = self._verified(file)
            if outcome is None:
                with self._alone(file.path):
                    # Whoever was waited for may have brought it.
                    outcome = self._verified(file) or self._brought(file)
        self.observer.finished(file.path, outcome=outcome)
        return outcome

    def _verified(self, file: DataFile) -> Outcome | None:
        there = found(self.root / file.path)
        if there is None:
            return None
        tidy(self._part(there.relative_to(self.root).as_posix()))
        known = refuse_other_content(there, file, root=self.root, progress=self._verifying(there))
        return Outcome.VERIFIED if known else Outcome.PRESENT

    def _brought(self, file: DataFile) -> Outcome:
        match file.source:
            case Link() as link:
                self._download(link, to=f"{file.path}{link.suffix}", sha256=None if link.suffix else file.sha256)
                return Outcome.FETCHED
            case Member() as member:
                self._unpack(member, to=file.path, archive=self._archive(member.archive))
                return Outcome.UNPACKED
            case None:
                raise UnreachableError(f"{self.root / file.path} cannot be fetched: {self.by_hand}; see {self.home}")

    def _archive(self, archive: Archive) -> Path:
        path = self.root / archive.path
        with self._alone(archive.path):
            if not path.is_file():
                self._download(archive.link, to=archive.path, sha256=None)
            elif path not in self.sound:
                tidy(self._part(archive.path))
                refuse_other_content(path, DataFile(path=archive.path), root=self.root, progress=self._verifying(path))
        self.sound.add(path)
        return path

    def _download(self, link: Link, *, to: str, sha256: str | None) -> None:
        part = self._part(to)

        def fetched(done: int, total: int | None) -> None:
            self.observer.progress(to, activity="fetching", done=done, total=total)

        try:
            fetch(link.url, part=part, patience=self.patience, progress=fetched)
        except LastingError as trouble:
            kind = IsoglotError if trouble.connected else UnreachableError
            raise kind(
                f"{link.url}: {trouble}; or fetch it by hand from {self.home} and put it at {self.root / to}"
            ) from trouble
        self._keep(part, to=to, sha256=sha256, changes=link.changes, source=link.url)

    def _unpack(self, member: Member, *, to: str, archive: Path) -> None:
        part = self._part(to)
        try:
            with (
                archive.open("rb") as file,
                member_stream(file, member.names, most_bytes=member.archive.most_bytes) as stream,
                part.open("wb") as out,
            ):
                _copy(stream, out, rewrite=member.rewrite)
        except IsoglotError as error:
            part.unlink(missing_ok=True)
            # A better one must not be refused for being another.
            record_digest(self.root, member.archive.path, None)
            raise IsoglotError(
                f"{archive}: {'/'.join(member.names)}: {error}; delete the archive and have it again from {self.home}"
            ) from error
        flush(part)
        self._keep(part, to=to, sha256=None, changes=False, source=str(archive))

    def _keep(self, part: Path, *, to: str, sha256: str | None, changes: bool, source: str) -> None:
        """Recorded before it is renamed: what is at its place always has its digest written down."""
        digest = bytes_digest(part, progress=self._verifying(part))
        expected = sha256 or (digest if changes else recorded_digests(self.root).get(to, digest))
        if digest != expected:
            forget(part)
            raise IsoglotError(
                f"{source}: this is not {to} as it is known (sha256 {digest[:12]}... in place of {expected[:12]}...), "
                f"and none of it is kept: run again, or see {self.home} for what has changed"
            )
        record_digest(self.root, to, digest)
        adopt(part, to=self.root / to)

    def _part(self, to: str) -> Path:
        return self.root / f"{to}.part"

    def _alone(self, path: str) -> AbstractContextManager[None]:
        place = self.root / f"{path}.lease"
        place.parent.mkdir(parents=True, exist_ok=True)
        return lease(place, waiting=lambda holder: self.observer.waiting(path, holder=holder))

    def _verifying(self, path: Path) -> Callable[[int], None]:
        name, total, done = path.relative_to(self.root).as_posix(), path.stat().st_size, 0

        def read(more: int) -> None:
            nonlocal done
            done += more
            self.observer.progress(name, activity="verifying", done=done, total=total)

        return read


def _copy(stream: IO[bytes], out: IO[bytes], *, rewrite: Rewrite | None) -> None:
    if rewrite is None:
        shutil.copyfileobj(stream, out)
        return
    # Only "\n" ends a line: sentences hold other characters that Python takes for line ends.
    text = TextIOWrapper(stream, encoding="utf-8", newline="\n")
    for line in rewrite(line.removesuffix("\n").removesuffix("\r") for line in text):
        out.write(f"{line}\n".encode())


SECONDS_BETWEEN_LINES = 15.0
WIDTH_OF_NUMBERS = 56
"""What the bar, sizes, rate and time need beside the name of the file."""


class Watch(Observer):
    """Shows one bar for the file in work, and leaves a line for each one that is there."""

    def __init__(self, console: Console):
        self.console = console
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.description = ""
        self.task = self.bars.add_task("", visible=False)
        self.last_line = monotonic()

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def progress(self, path: str, *, activity: str, done: int, total: int | None) -> None:
        description = f"{activity} {path.rpartition('/')[2]}"
        if description != self.description:
            # What an earlier attempt brought must not count as this one's speed.
            shown = description[: max(20, self.console.width - WIDTH_OF_NUMBERS)]
            self.bars.reset(self.task, description=shown, completed=done, total=total, visible=True)
            self.description, self.last_line = description, monotonic()
        self.bars.update(self.task, completed=done, total=total)
        if not self.console.is_terminal and monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            of = "" if total is None else f" of {total / 1e6:,.0f}"
            self.console.print(f"  {description}: {done / 1e6:,.0f}{of} MB")
            self.last_line = monotonic()

    def finished(self, path: str, *, outcome: Outcome) -> None:
        self.bars.update(self.task, visible=False)
        self.console.print(f"  {path}: {outcome.value}")

    def waiting(self, path: str, *, holder: str) -> None:
        self.console.print(f"  {path}: being fetched by {holder}; waiting for it")
