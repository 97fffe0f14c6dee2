"""A run as it goes: bars with rate and time left in a terminal, plain lines elsewhere."""

from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from isoglot.artifacts import Observer, Stage
from isoglot.errors import IsoglotError
from isoglot.report.quantities import short_number

SECONDS_BETWEEN_LINES = 15.0


class RateColumn(ProgressColumn):
    """81k tokens/s"""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if not speed else f"{short_number(speed)} {task.fields['unit']}/s", style="cyan")


class Watch(Observer):
    """Shows one bar for the stage in work, and leaves a line for each one that is finished."""

    def __init__(self, console: Console):
        self.console = console
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            RateColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bars.add_task("", total=None, unit="", note="")
        self.begun = False
        self.last_line = monotonic()

    def __enter__(self) -> "Watch":
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        self.bars.remove_task(self.task)
        self.task = self.bars.add_task(f"[{index}/{count}] {stage.title}", total=None, unit="", note="")
        self.begun = False
        self.last_line = monotonic()

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        if not self.begun:
            # What an earlier attempt did must not count as this one's speed.
            self.bars.reset(self.task, completed=int(done))
            self.begun = True
        self.bars.update(self.task, completed=done, total=total, unit=unit, note=note)
        if not self.console.is_terminal and monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            told = f"  {stage.title}: {short_number(done)} of {short_number(total)} {unit}"
            self.console.print(f"{told}, {note}" if note else told)
            self.last_line = monotonic()

    def finished(self, stage: Stage, *, seconds: float) -> None:
        amount = stage.amount()
        size = "" if amount is None else f" ({short_number(amount.units)} {amount.of}"
        rate = "" if amount is None or seconds <= 0 else f", {short_number(amount.units / seconds)}/s"
        self.console.print(f"  {stage.title}: {seconds:.1f} s{size}{rate}{')' if size else ''}")

    def waiting(self, stage: Stage, *, holder: str) -> None:
        self.console.print(f"  {stage.title}: being made by {holder}; waiting for it")

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        self.console.print(Text(f"  {stage.title}: {error}", style="red"))
