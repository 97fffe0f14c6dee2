"""Stages that stop half way until a test lets them go on, or that fail."""

import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work

HALF, TOP = 50, 100
TURNS = "turns.txt"


@dataclass(frozen=True, kw_only=True)
class Counting(Stage):
    """Counts to TOP from where it was; at HALF it waits for a file to be there."""

    kind = "counting"
    resumes = ("count.txt",)
    name: str
    gate: Path = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return self.name

    def resources(self) -> Resources:
        # So short that submitit takes every signal for the end of the time.
        return Resources(hours=0.1)

    def make(self, work: Work) -> None:
        path = work.folder / "count.txt"
        warnings.warn("counting is slow", stacklevel=1)
        begin = len(path.read_text().splitlines()) if path.exists() else 0
        with (work.log_folder / TURNS).open("a") as turns:
            turns.write(f"{begin}\n")
        with path.open("a") as file:
            for number in range(begin, TOP):
                file.write(f"{number}\n")
                file.flush()
                work.progress(number + 1, TOP, "numbers")
                # No longer than any test takes: nobody opens the gate where tests were killed.
                deadline = time.monotonic() + 1000
                while number + 1 == HALF and not self.gate.exists() and time.monotonic() < deadline:
                    work.progress(HALF, TOP, "numbers")
                    time.sleep(0.05)


@dataclass(frozen=True, kw_only=True)
class Failing(Stage):
    """Cannot be made."""

    kind = "failing"
    by_mistake_of: str

    def resources(self) -> Resources:
        return Resources(gpus=1) if self.by_mistake_of == "slurm" else Resources()

    def make(self, work: Work) -> None:  # noqa: ARG002
        if self.by_mistake_of == "user":
            raise IsoglotError("words.txt:3: no word; give one")
        raise ZeroDivisionError("by zero")


@dataclass(frozen=True, kw_only=True)
class Doubled(Stage):
    """Rests on another stage."""

    kind = "doubled"
    of: Stage

    def make(self, work: Work) -> None:
        (work.folder / "count.txt").write_text(2 * (work.path(self.of) / "count.txt").read_text())
