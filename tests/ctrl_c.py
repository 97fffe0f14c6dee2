"""Processes that hear Ctrl-C, as those of a terminal do."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """For processes started meanwhile: where the tests themselves were started to ignore it, so would they."""
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ours)
