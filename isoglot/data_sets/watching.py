"""A fetch or a check as it goes: a bar with rate and time left in a terminal, plain lines elsewhere."""

from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from isoglot.data_sets.getting import Observer, Outcome

SECONDS_BETWEEN_LINES = 15.0
WIDTH_OF_NUMBERS = 56
"""What the bar, sizes, rate and time need beside the name of the file."""


class Watch(Observer):
    """Shows one bar for the file in work, and leaves a line for each one that is there."""

    def __init__(self, console: Console):
        self.console = console
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.description = ""
        self.task = self.bars.add_task("", visible=False)
        self.last_line = monotonic()

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def progress(self, path: str, *, activity: str, done: int, total: int | None) -> None:
        description = f"{activity} {path.rpartition('/')[2]}"
        if description != self.description:
            # What an earlier attempt brought must not count as this one's speed.
            shown = description[: max(20, self.console.width - WIDTH_OF_NUMBERS)]
            self.bars.reset(self.task, description=shown, completed=done, total=total, visible=True)
            self.description, self.last_line = description, monotonic()
        self.bars.update(self.task, completed=done, total=total)
        if not self.console.is_terminal and monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            of = "" if total is None else f" of {total / 1e6:,.0f}"
            self.console.print(f"  {description}: {done / 1e6:,.0f}{of} MB")
            self.last_line = monotonic()

    def finished(self, path: str, *, outcome: Outcome) -> None:
        self.bars.update(self.task, visible=False)
        self.console.print(f"  {path}: {outcome.value}")

    def waiting(self, path: str, *, holder: str) -> None:
        self.console.print(f"  {path}: being fetched by {holder}; waiting for it")
