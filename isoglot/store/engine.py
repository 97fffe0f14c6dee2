"""The interface of an engine, which makes stages for a plan, and the simplest engine: this process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

from isoglot.errors import IsoglotError, unexpected
from isoglot.store.stage import Stage
from isoglot.store.store import Store

SECONDS_BETWEEN_LOOKS = 0.1
TRACEBACK_NAME = "traceback.txt"


@dataclass(frozen=True)
class Event:
    """Something that happened to the stage of this digest."""

    digest: str


@dataclass(frozen=True)
class Started(Event):
    """The index-th, from 1, of the count stages that were not done when the run began."""

    index: int
    count: int


@dataclass(frozen=True)
class Progressed(Event):
    """A stage's own report of its progress."""

    done: float
    total: float
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Waiting(Event):
    """The stage was started and waits for its turn: "Slurm job 4711, pending"."""

    where: str


@dataclass(frozen=True)
class Made(Event):
    """The artifact is now in the store."""

    seconds: float | None = None  # over all attempts; an engine leaves this to the run


class Reused(Event):
    """The artifact was in the store already, or another process has made it meanwhile."""


@dataclass(frozen=True)
class Held(Event):
    """Another run is making the stage: "host, process 4711". It starts again when that run has ended."""

    holder: str


@dataclass(frozen=True)
class Awaited(Event):
    """Nothing can be done before this other process has made the stage. Sent once a stage."""

    holder: str


@dataclass(frozen=True)
class Failed(Event):
    """The stage cannot be made. Stages that only serve targets resting on it are skipped; the others go on."""

    error: IsoglotError


Emit: TypeAlias = Callable[[Event], None]
Observer: TypeAlias = Callable[[Stage, Event], None]
"""Is called with all that happens while a plan runs. Events of several stages may come mixed."""


class Engine(Protocol):
    """A place where stages are made, several at once where it has room.

    Every stage that is started ends with one of Made, Reused, Held and Failed. Events are emitted while `start` or
    `wait` runs, in the thread that called it. Leaving the context stops the stages that still run.
    """

    def takes(self, stage: Stage) -> bool:
        """Whether the engine has room for this stage now."""

    def start(self, stage: Stage, emit: Emit) -> None:
        """Begin a stage whose inputs are finished. Its events may be emitted at once."""

    def wait(self) -> None:
        """Wait for an event, or for about a second."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class InThisProcess(Engine):
    """Makes one stage after the other; each is done when `start` returns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def takes(self, stage: Stage) -> bool:  # noqa: ARG002
        return True

    def start(self, stage: Stage, emit: Emit) -> None:
        emit(make_or_fail(stage, store=self._store, emit=emit))

    def wait(self) -> None:
        time.sleep(SECONDS_BETWEEN_LOOKS)

    def __exit__(self, *_: object) -> None: ...


class _HeldError(Exception):
    """Another process has the lease."""


def make_stage(stage: Stage, *, store: Store, emit: Emit, seconds_between: float = 0.0) -> Event:
    """Make a stage's artifact in this process, unless it is there or another process is making it.

    Progress is emitted, at most once in so many seconds; the end is returned.
    """
    next_report = 0.0

    def progress(done: float, total: float, unit: str, note: str = "") -> None:
        nonlocal next_report
        if done >= total or time.monotonic() >= next_report:
            next_report = time.monotonic() + seconds_between
            emit(Progressed(stage.digest, done, total, unit, note))

    def give_way(holder: str) -> None:
        # Raised through `ensure`, which would wait here while other stages could be made.
        raise _HeldError(holder)

    try:
        is_made = store.ensure(stage, progress, waiting=give_way)
    except _HeldError as held:
        return Held(stage.digest, str(held))
    except IsoglotError as error:
        return Failed(stage.digest, error)
    return Made(stage.digest) if is_made else Reused(stage.digest)


def make_or_fail(stage: Stage, *, store: Store, emit: Emit, seconds_between: float = 0.0) -> Event:
    """Like `make_stage`, but an unexpected error fails this stage alone; its traceback is saved with its logs."""
    try:
        return make_stage(stage, store=store, emit=emit, seconds_between=seconds_between)
    except Exception as error:
        text = unexpected(error, store.log_folder(stage) / TRACEBACK_NAME, title=stage.title)
        return Failed(stage.digest, IsoglotError(text))
