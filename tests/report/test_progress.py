"""A run as it goes: plain lines in a file, a bar in a terminal."""

import io
from dataclasses import dataclass
from typing import ClassVar

import pytest
from rich.console import Console

from isoglot.errors import IsoglotError
from isoglot.report.planning import progress
from isoglot.report.planning.progress import Watch, failures_in_brief
from isoglot.store import Amount, Stage, Work
from isoglot.store.engine import Awaited, Event, Failed, Held, Made, Progressed, Reused, Started, Waiting


@dataclass(frozen=True, kw_only=True)
class Digging(Stage):
    kind: ClassVar[str] = "digging"
    metres: int | None = None

    def make(self, work: Work) -> None: ...

    def amount(self) -> Amount | None:
        return None if self.metres is None else Amount(units=self.metres, of="metres")


def watched(*, terminal: bool) -> tuple[Watch, io.StringIO]:
    file = io.StringIO()
    # A terminal that can move its cursor, whichever the tests were started in.
    environment = {"TERM": "xterm"}
    return Watch(Console(file=file, force_terminal=terminal, width=200, soft_wrap=True, _environ=environment)), file


def tell(watch: Watch, stage: Stage, event: type[Event], *details: object) -> None:
    watch(stage, event(stage.digest, *details))


def test_a_file_gets_one_line_for_each_stage() -> None:
    watch, file = watched(terminal=False)
    with watch:
        tell(watch, Digging(metres=5000), Started, 1, 2)
        tell(watch, Digging(metres=5000), Progressed, 10, 5000, "metres", "rock")
        tell(watch, Digging(metres=5000), Made, 2.0)
        tell(watch, Digging(), Made, 0.25)
        tell(watch, Digging(metres=3), Made, 0.0)
        tell(watch, Digging(), Awaited, "mole, process 7")
        tell(watch, Digging(), Failed, IsoglotError("[/x] is rock: dig elsewhere"))
    assert file.getvalue().splitlines() == [
        "  digging: 2.0 s (5.0k metres, 2.5k/s)",
        "  digging: 0.2 s",
        "  digging: 0.0 s (3 metres)",
        "  digging: being made by mole, process 7; waiting for it",
        "  digging: [/x] is rock: dig elsewhere",
    ]


def test_a_file_is_told_of_each_long_stage_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    watch, file = watched(terminal=False)
    first, second = Digging(metres=1), Digging(metres=2)
    with watch:
        tell(watch, first, Started, 1, 2)
        now = 8.0
        tell(watch, second, Started, 2, 2)
        tell(watch, second, Waiting, "Slurm job 7, pending")
        for now in range(9, 30):
            tell(watch, first, Progressed, now, 100, "metres", "")
            tell(watch, second, Progressed, 10 * now, 1000, "metres", "")
        tell(watch, second, Held, "mole, process 7")
        tell(watch, first, Reused)
    assert file.getvalue().splitlines() == [
        "  digging: Slurm job 7, pending",
        "  digging: 16 of 100 metres",
        "  digging: 240 of 1.0k metres",
    ]


def test_a_terminal_gets_a_bar_for_each_stage_in_work() -> None:
    watch, file = watched(terminal=True)
    first, second, third, fourth = (Digging(metres=metres) for metres in (1, 2, 3, 4))

    def shown() -> str:
        printed = len(file.getvalue())
        watch.bars.refresh()
        return file.getvalue()[printed:]

    with watch:
        tell(watch, fourth, Reused)
        tell(watch, first, Started, 1, 7)
        tell(watch, second, Started, 2, 7)
        tell(watch, second, Progressed, 1, 4, "metres", "clay")
        tell(watch, first, Progressed, 1, 2, "metres", "rock")
        text = shown()
        assert text.index("[1/7] digging") < text.index("rock") < text.index("[2/7] digging") < text.index("clay")
        assert "0 of 7 done, 2 in work" in text
        tell(watch, first, Made, 1.0)
        tell(watch, third, Started, 3, 7)
        tell(watch, third, Waiting, "Slurm job 7, pending")
        text = shown()
        assert "[1/7]" not in text
        assert "Slurm job 7, pending" in text
        assert "1 of 7 done, 2 in work" in text
        tell(watch, third, Held, "mole, process 7")
        assert "1 of 7 done, 1 in work" in shown()
        tell(watch, second, Failed, IsoglotError("rock"))
        assert "2 of 7 done, 0 in work" in shown()


def test_what_was_done_before_the_start_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, _ = watched(terminal=True)
    now = 0.0
    monkeypatch.setattr(watch.bars, "get_time", lambda: now)
    with watch:
        tell(watch, Digging(), Started, 1, 1)
        for now in range(5, 25, 5):
            tell(watch, Digging(), Progressed, 9000 + now, 10_000, "metres", "")
        (task,) = watch.bars.tasks
        assert task.speed == pytest.approx(1.0)
        assert task.time_remaining == 980


def test_each_cause_is_told_once() -> None:
    failed = [("a, seed 0", "no room"), ("b", "damaged: delete it"), ("a, seed 1", "no room"), ("a, seed 2", "no room")]
    assert failures_in_brief(failed, skipped=[f"score {number}" for number in range(6)]).splitlines() == [
        "4 failed, 6 skipped because of that:",
        "  a, seed 0 and 2 more: no room",
        "  b: damaged: delete it",
        "  skipped: score 0; score 1; score 2; score 3; score 4; and 1 more",
    ]
    assert failures_in_brief(failed, skipped=["one"]).endswith("\n  skipped: one")
    assert "skipped: " not in failures_in_brief(failed, skipped=[])
