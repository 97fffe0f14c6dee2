"""Processes that belong together: one of them handles Ctrl-C, and none outlives its parent."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import ModuleType


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Delay Ctrl-C to the end of the block. Processes started inside it never receive Ctrl-C."""
    # A terminal sends it to every process of a run, and only the first one may act on it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def script_hidden() -> Iterator[None]:
    """Processes spawned inside the block do not read the script that this process runs."""
    # A spawned process imports the main module of its parent: without `if __name__ == "__main__"` a user's script
    # would start the whole study again in every worker. Workers need nothing of it, so they find an empty one.
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def end_with_parent(*, grace_seconds: float = 0.0) -> None:
    """Have this process end when the process that spawned it has ended, even by kill -9."""
    if parent := multiprocessing.parent_process():
        end_after(parent.join, grace_seconds=grace_seconds)


def end_after(wait: Callable[[], object], *, grace_seconds: float = 0.0) -> None:
    """End this process when `wait`, which runs in its own thread, returns.

    With a grace period the main thread gets SIGTERM first, so that it can clean up.
    """

    def end() -> None:
        wait()
        if grace_seconds:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(grace_seconds)
        # sys.exit would end this thread alone.
        os._exit(1)

    Thread(target=end, daemon=True).start()
