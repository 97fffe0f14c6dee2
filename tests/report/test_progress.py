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


def test_a_file_gets_one_line_for_each_stage() -> None:
    watch, file = watched(terminal=False)
    with watch:
        watch.started(Digging(metres=5000), index=1, count=2)
        watch.progress(Digging(metres=5000), done=10, total=5000, unit="metres", note="rock")
        watch.finished(Digging(metres=5000), seconds=2.0)
        watch.finished(Digging(), seconds=0.25)
        watch.finished(Digging(metres=3), seconds=0.0)
        watch.waiting(Digging(), holder="mole, process 7")
        watch.failed(Digging(), error=IsoglotError("[/x] is rock: dig elsewhere"))
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
        watch.started(first, index=1, count=2)
        now = 8.0
        watch.started(second, index=2, count=2)
        watch.queued(second, where="Slurm job 7, pending")
        for now in range(9, 30):
            watch.progress(first, done=now, total=100, unit="metres", note="")
            watch.progress(second, done=10 * now, total=1000, unit="metres", note="")
        watch.gave_way(second)
        watch.reused(first)
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
        watch.reused(fourth)
        watch.started(first, index=1, count=7)
        watch.started(second, index=2, count=7)
        watch.progress(second, done=1, total=4, unit="metres", note="clay")
        watch.progress(first, done=1, total=2, unit="metres", note="rock")
        text = shown()
        assert text.index("[1/7] digging") < text.index("rock") < text.index("[2/7] digging") < text.index("clay")
        assert "0 of 7 done, 2 in work" in text
        watch.finished(first, seconds=1.0)
        watch.started(third, index=3, count=7)
        watch.queued(third, where="Slurm job 7, pending")
        text = shown()
        assert "[1/7]" not in text
        assert "Slurm job 7, pending" in text
        assert "1 of 7 done, 2 in work" in text
        watch.gave_way(third)
        assert "1 of 7 done, 1 in work" in shown()
        watch.failed(second, error=IsoglotError("rock"))
        assert "2 of 7 done, 0 in work" in shown()


def test_what_was_done_before_the_start_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, _ = watched(terminal=True)
    now = 0.0
    monkeypatch.setattr(watch.bars, "get_time", lambda: now)
    with watch:
        watch.started(Digging(), index=1, count=1)
        for now in range(5, 25, 5):
            watch.progress(Digging(), done=9000 + now, total=10_000, unit="metres", note="")
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
