"""A run as it goes: bars with rate and time left in a terminal, plain lines elsewhere."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from isoglot.report.quantities import short_number
from isoglot.store import Stage
from isoglot.store.engine import Awaited, Event, Failed, Held, Made, Progressed, Reused, Started, Waiting

SECONDS_BETWEEN_LINES = 15.0
WIDEST_BAR = 40
MOST_NAMED = 5  # of what a failure made a run skip


def failures_in_brief(failed: Sequence[tuple[str, str]], *, skipped: Sequence[str]) -> str:
    """How many, each different cause once, and titles of what was skipped; failed has the title and cause of each."""
    titles_by_cause = defaultdict(list)
    for title, cause in failed:
        titles_by_cause[cause].append(title)
    lines = [f"{len(failed)} failed, {len(skipped)} skipped because of that:"]
    for cause, (first, *others) in titles_by_cause.items():
        lines.append(f"  {first}{f' and {len(others)} more' if others else ''}: {cause}")
    if skipped:
        more = len(skipped) - MOST_NAMED
        lines.append(f"  skipped: {'; '.join(skipped[:MOST_NAMED])}{f'; and {more} more' if more > 0 else ''}")
    return "\n".join(lines)


class Words(ProgressColumn):
    """Words about each bar, such as "[3/61] pretraining, default, ela-or…" where there is no room for all of them."""

    def __init__(self, words: Callable[[Task], str], *, no_wrap: bool = False) -> None:
        super().__init__(Column(no_wrap=no_wrap))
        self.words = words

    def render(self, task: Task) -> Text:
        # The text may not wrap, but its column may: one that may not is made narrower only after all the others.
        return Text(self.words(task), no_wrap=True, overflow="ellipsis")


def _rate(task: Task) -> str:
    """81k tokens/s"""
    speed = task.finished_speed or task.speed
    return f"{short_number(speed)} {task.fields['unit']}/s" if speed else ""


class Bars(Progress):
    """A bar for each stage in work, and below them how far the run is."""

    summary = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        yield Text(self.summary)


@dataclass
class StageInWork:
    bar: TaskID
    # When a line about it was printed, or it began.
    last_line: float
    has_moved: bool = False


class Watch:
    """Shows a bar for each stage in work, and leaves a line for each one that is finished."""

    def __init__(self, console: Console):
        self.console = console
        self.bars = Bars(
            Words(lambda task: task.description),
            BarColumn(bar_width=min(WIDEST_BAR, console.width // 8), table_column=Column(no_wrap=True)),
            Words(_rate, no_wrap=True),
            TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
            Words(lambda task: str(task.fields["note"])),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.in_work: dict[str, StageInWork] = {}
        self.ended = self.count = 0

    def __enter__(self) -> "Watch":
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def __call__(self, stage: Stage, event: Event) -> None:
        if isinstance(event, Held | Made | Reused | Failed):
            self._end(stage, ended=not isinstance(event, Held))
        match event:
            case Started(_, index, count):
                bar = self.bars.add_task(f"[{index}/{count}] {stage.title}", total=None, unit="", note="")
                self.in_work[stage.digest] = StageInWork(bar, monotonic())
                self.count = count
                self._sum_up()
            case Progressed():
                self._show_progress(stage, event)
            case Waiting(_, where) if self.console.is_terminal:
                self.bars.update(self.in_work[stage.digest].bar, note=where)
            case Waiting(_, where):
                self.console.print(f"  {stage.title}: {where}")
            case Awaited(_, holder):
                self.console.print(f"  {stage.title}: being made by {holder}; waiting for it")
            case Made(_, float(seconds)):
                line = f"  {stage.title}: {seconds:.1f} s"
                if (amount := stage.amount()) is not None:
                    rate = f", {short_number(amount.units / seconds)}/s" if seconds > 0 else ""
                    line += f" ({short_number(amount.units)} {amount.of}{rate})"
                self.console.print(line)
            case Failed(_, error):
                self.console.print(Text(f"  {stage.title}: {error}", style="red"))

    def _show_progress(self, stage: Stage, event: Progressed) -> None:
        shown = self.in_work[stage.digest]
        if not shown.has_moved:
            # The work of an earlier attempt must not count as this one's speed.
            self.bars.reset(shown.bar, completed=int(event.done))
            shown.has_moved = True
        self.bars.update(shown.bar, completed=event.done, total=event.total, unit=event.unit, note=event.note)
        if not self.console.is_terminal and monotonic() - shown.last_line > SECONDS_BETWEEN_LINES:
            line = f"  {stage.title}: {short_number(event.done)} of {short_number(event.total)} {event.unit}"
            self.console.print(f"{line}, {event.note}" if event.note else line)
            shown.last_line = monotonic()

    def _end(self, stage: Stage, *, ended: bool) -> None:
        # Stages that were there before the run began are reported too, and never were in work.
        if (shown := self.in_work.pop(stage.digest, None)) is not None:
            self.bars.remove_task(shown.bar)
            self.ended += ended
            self._sum_up()

    def _sum_up(self) -> None:
        self.bars.summary = f"{self.ended} of {self.count} done, {len(self.in_work)} in work"
