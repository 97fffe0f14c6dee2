"""The folder that a stage writes into: closed to others, with the time of all attempts, perhaps finished already."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import descriptor_of, text_sum
from isoglot.store.file_sums import EVERYTHING
from isoglot.store.record import read_artifact
from isoglot.store.stage import Progress, Stage

SECONDS_NAME = ".isoglot-seconds"


class Stopwatch:
    """Passes progress on and counts the seconds of all attempts; an interrupted one leaves its count in a file."""

    def __init__(self, folder: Path, progress: Progress, *, check: Callable[[], None]) -> None:
        self._path, self._progress, self._check = folder / SECONDS_NAME, progress, check
        self._before = 0.0
        with suppress(FileNotFoundError):
            seal, _, number = self._path.read_bytes().decode(errors="replace").partition(" ")
            if seal == text_sum(number)[:16]:
                self._before = float(number)
            else:
                warnings.warn(f"{self._path} is damaged: the time of earlier attempts does not count", stacklevel=2)
        self._started = self._saved = time.monotonic()

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._started

    def __call__(self, done: float, total: float, unit: str, note: str = "") -> None:
        if time.monotonic() - self._saved >= 1:
            self._check()  # that the lock is still held: two hosts must not write into one folder for long
            self.save()
        self._progress(done, total, unit, note)

    def save(self) -> None:
        self._saved = time.monotonic()
        # The number always has the same length and overwrites the old one, so a kill leaves either of them.
        with os.fdopen(descriptor_of(self._path, os.O_WRONLY | os.O_CREAT), "wb", buffering=0) as file:
            number = f"{self.seconds:020.6f}"
            file.write(f"{text_sum(number)[:16]} {number}".encode())


@contextmanager
def closed_to_others(folder: Path, *, mode: int) -> Iterator[None]:
    """Let nobody else put a link into a folder while a stage writes there."""
    before = folder.lstat()
    # Another user's, in a store that several share: then only the links that are there already are found.
    with suppress(PermissionError):
        folder.chmod(before.st_mode & 0o7000 | 0o700)
    try:
        yield
        if not os.path.samestat(before, folder.lstat()):
            raise IsoglotError(f"{folder} was replaced while it was written into: see who did it, and run again")
    finally:
        with suppress(OSError):
            folder.chmod(before.st_mode & 0o7000 | mode & 0o777 | 0o700)


def lacks_only_the_rename(partial: Path, *, stage: Stage) -> bool:
    """Whether an attempt was killed between writing its record and the rename; a torn record does not count."""
    with suppress(IsoglotError):
        read_artifact(partial, stage=stage, read=EVERYTHING)
        return True
    return False
