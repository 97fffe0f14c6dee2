"""Where stages are made: what a plan's scheduler asks of such a place, and the simplest one, this very process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

from isoglot.errors import IsoglotError
from isoglot.store.stage import Stage
from isoglot.store.store import Store

SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True)
class Progressed:
    """A stage's own report of how far it is."""

    digest: str
    done: float
    total: float
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Waiting:
    """It is begun, but has to wait: "Slurm job 4711, pending"."""

    digest: str
    holder: str


@dataclass(frozen=True)
class Made:
    """The artifact is in the store, thanks to this start."""

    digest: str


@dataclass(frozen=True)
class Reused:
    """The artifact was in the store already."""

    digest: str


@dataclass(frozen=True)
class Held:
    """Another run is at it: "host, process 4711". Nothing was done; the scheduler may start it again later."""

    digest: str
    holder: str


@dataclass(frozen=True)
class Failed:
    """It cannot be made."""

    digest: str
    error: IsoglotError


Event: TypeAlias = Progressed | Waiting | Made | Reused | Held | Failed
Tell: TypeAlias = Callable[[Event], None]


class Engine(Protocol):
    """Where stages are made, several at once where it has room.

    Every stage that is started comes to one end, which is Made, Reused, Held or Failed. Events are told while `start`
    or `wait` runs and in the thread that called it. Leaving the context stops what still runs, so that a later run can
    go on from it.
    """

    def room(self) -> int:
        """How many more stages may be started now."""

    def takes(self, stage: Stage) -> bool:
        """Whether this one may be started now, where there is room at all."""

    def start(self, stage: Stage, tell: Tell) -> None:
        """Begin a stage whose inputs are finished; its events may be told at once."""

    def wait(self) -> None:
        """Until something was told, or about a second has passed."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class InThisProcess:
    """One stage after the other, each done when `start` returns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def room(self) -> int:
        return 1

    def takes(self, stage: Stage) -> bool:  # noqa: ARG002
        return True

    def start(self, stage: Stage, tell: Tell) -> None:
        make_telling(stage, store=self._store, tell=tell)

    def wait(self) -> None:
        time.sleep(SECONDS_BETWEEN_LOOKS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


class _HeldError(Exception):
    """Another process has the lease."""


def make_telling(stage: Stage, *, store: Store, tell: Tell) -> None:
    """Make a stage's artifact in this process unless it is there, or another process is at it."""

    def progress(done: float, total: float, unit: str, note: str = "") -> None:
        tell(Progressed(stage.digest, done, total, unit, note))

    def give_way(holder: str) -> None:
        raise _HeldError(holder)

    end: Event
    try:
        is_made = store.ensure(stage, progress, waiting=give_way)
        end = Made(stage.digest) if is_made else Reused(stage.digest)
    except _HeldError as held:
        end = Held(stage.digest, str(held))
    except IsoglotError as error:
        end = Failed(stage.digest, error)
    tell(end)
