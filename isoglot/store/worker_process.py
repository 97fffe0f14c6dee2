"""A process that makes the stages it is handed, one after the other, and tells its parent how they go."""

import multiprocessing
import os
import pickle
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from isoglot.errors import IsoglotError
from isoglot.store.engine import Event, Failed, Progressed, make_telling
from isoglot.store.stage import Stage
from isoglot.store.store import Store

SECONDS_BETWEEN_REPORTS = 0.1
SECONDS_TO_END = 5.0
"""For what a stage cleans up when it is stopped; a long sum of a C library may take longer."""
TRACEBACK_NAME = "traceback.txt"


@dataclass(frozen=True)
class Warned:
    """What a stage, or a library it uses, warns of."""

    text: str
    filename: str
    line: int


@dataclass(frozen=True)
class LastWord:
    """The end of a stage, and of the worker that made it."""

    end: Failed


def serve(pipe: Connection, *, root: Path) -> None:
    """Make stages from the pipe in the store at root until the pipe is closed; SIGTERM stops the one in work."""
    signal.signal(signal.SIGTERM, _stop)
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        try:
            _serve(pipe, store=Store(root))
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except (KeyboardInterrupt, EOFError):
        pass


def _serve(pipe: Connection, *, store: Store) -> None:
    with _warnings_into(pipe):
        while _make(pipe.recv(), store=store, pipe=pipe):
            pass


def _make(stage: Stage, *, store: Store, pipe: Connection) -> bool:
    """Whether this process is fit for another stage after this one."""
    reported = -SECONDS_BETWEEN_REPORTS

    def tell(event: Event) -> None:
        nonlocal reported
        if isinstance(event, Progressed) and event.done < event.total:
            # A pipe that is full of them would keep the stage waiting.
            if time.monotonic() - reported < SECONDS_BETWEEN_REPORTS:
                return
            reported = time.monotonic()
        _send(pipe, event)

    try:
        make_telling(stage, store=store, tell=tell)
    except Exception as error:
        # It may have left the GPU, or a library, in a state that would fail every stage after this one.
        _send(pipe, LastWord(Failed(stage.digest, _mistake(error, stage=stage, store=store))))
        return False
    return True


def _mistake(error: Exception, *, stage: Stage, store: Store) -> IsoglotError:
    """What to say of an error that no user can mend, after its traceback was put aside."""
    told = "".join(traceback.format_exception_only(error)).strip()
    path = store.log_folder(stage) / TRACEBACK_NAME
    lines = "".join(traceback.format_exception(error))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{stage.title}\n\n{lines}", encoding="utf-8", errors="backslashreplace")
    except OSError:
        return IsoglotError(f"{told}; an error of isoglot's own, or of a library:\n{lines}")
    return IsoglotError(f"{told}; an error of isoglot's own, or of a library: its traceback is in {path}")


def _send(pipe: Connection, message: Event | Warned | LastWord) -> None:
    if isinstance(message, Failed):
        message = Failed(message.digest, _portable(message.error))
    # A parent that is gone is noticed elsewhere.
    with suppress(OSError):
        pipe.send(message)


def _portable(error: IsoglotError) -> IsoglotError:
    """The error itself, or its sentence alone where its class cannot be read in another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return IsoglotError(str(error))
    return error


@contextmanager
def _warnings_into(pipe: Connection) -> Iterator[None]:
    """The parent shows them as its own, where they cannot tear the bars on the terminal."""

    def show(message: Warning | str, category: object, filename: str, lineno: int, *_: Any, **__: Any) -> None:  # noqa: ARG001
        _send(pipe, Warned(str(message), filename, lineno))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    """Stop when the parent has ended, even by kill -9: nobody would learn of what is made, or stop it."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
