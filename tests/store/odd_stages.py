"""Stages that try an engine: they fail, warn, die, or will not stop."""

import os
import signal
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.store import NOT_IDENTITY, Stage, Work


class ColourError(IsoglotError):
    """An error with more than a sentence."""

    colour = ""


@dataclass(frozen=True, kw_only=True)
class Meeting(Stage):
    """Waits for the others, so that it is made only if they are made at the same time."""

    kind = "odd-meeting"
    name: str
    others: tuple[str, ...]
    place: Path = field(metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        (self.place / self.name).touch()
        deadline = time.monotonic() + 120
        while not all((self.place / other).exists() for other in self.others):
            if time.monotonic() > deadline:
                raise IsoglotError(f"{self.name} is alone")
            time.sleep(0.01)
        (work.folder / "process.txt").write_text(str(os.getpid()))


@dataclass(frozen=True, kw_only=True)
class Variables(Stage):
    """Records its process, and a variable of its environment."""

    kind = "odd-variables"
    name: str
    number: int = 0

    def make(self, work: Work) -> None:
        (work.folder / "process.txt").write_text(str(os.getpid()))
        (work.folder / "value.txt").write_text(os.environ.get(self.name, "unset"))
        time.sleep(0.05)


@dataclass(frozen=True, kw_only=True)
class Odd(Stage):
    """Does what its first word says."""

    kind = "odd"
    resumes = ("*",)
    way: str
    place: Path = field(default=Path(), metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        match self.way.split():
            case ["colour"]:
                error = ColourError("the wall is red: paint it")
                error.colour = "red"
                raise error
            case ["exit"]:
                raise SystemExit(3)
            case ["dies", times]:
                died = len(list(work.folder.glob("death-*")))
                if died < int(times):
                    (work.folder / f"death-{died}").touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            case ["rains", name]:
                warnings.warn("it rains everywhere", stacklevel=1)
                warnings.warn(f"it rains on {name}", stacklevel=1)
            case ["stays"]:
                self.place.write_text(str(os.getpid()))
                while True:
                    try:
                        work.progress(1, 2, "steps")
                        time.sleep(10)
                    except KeyboardInterrupt:
                        continue
            case _:
                raise ValueError(f"no way {self.way!r}")

    @property
    def title(self) -> str:
        return f"odd by {self.way}"


@dataclass(frozen=True, kw_only=True)
class Filling(Stage):
    """Fills a GPU until it is stopped."""

    kind = "odd-filling"
    fills_gpu = True
    number: int
    place: Path = field(metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:  # noqa: ARG002
        while self.place.exists():
            time.sleep(0.01)
