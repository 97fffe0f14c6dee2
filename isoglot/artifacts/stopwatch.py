"""Seconds spent on a work folder over all attempts, kept in the folder, so that kill -9 loses one second at most."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isoglot.artifacts.stage import Progress

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
