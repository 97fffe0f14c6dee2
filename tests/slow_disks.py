"""A disk that takes files only when a test lets it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore

LONGEST_WAIT = 300.0
"""Lest a test that ought to fail hangs."""
_held: dict[Path, Semaphore] = {}


@contextmanager
def slow_disk(folder: Path) -> Iterator[Semaphore]:
    """Whoever begins to write tensors in the folder waits; each release lets one file through."""
    _held[folder] = Semaphore(0)
    try:
        yield _held[folder]
    finally:
        _held.pop(folder).release(1000)


def _hold(event: str, arguments: tuple[object, ...]) -> None:
    # The first thing that a writing asks of the system.
    if _held and event == "shutil.rmtree":
        for folder, gate in list(_held.items()):
            if Path(str(arguments[0])).is_relative_to(folder):
                gate.acquire(timeout=LONGEST_WAIT)


sys.addaudithook(_hold)
