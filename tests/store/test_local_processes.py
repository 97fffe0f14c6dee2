"""Worker processes: the same artifacts, several at once, and nothing left behind however it ends."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from killed_processes import descendants, is_running, until

from isoglot.store import Engine, InThisProcess, Stage, Store, local_processes, run_plan
from isoglot.store.engine import Awaited, Event, Made, Progressed
from isoglot.store.local_processes import LocalProcesses
from tests.store.odd_stages import ColourError, Filling, Meeting, Odd, Variables
from tests.store.test_executor import Diary
from tests.store.test_interruption import assert_sound
from tests.store.toy_stages import Count, Joined, Patient, Text, files_of, python

ONE, TWO = Text(word="one"), Text(word="two")
BOTH = Joined(texts=(ONE, TWO))
COUNT = Count(joined=BOTH)


def workers(store: Store, number: int = 2) -> LocalProcesses:
    return LocalProcesses(store, environments=[{}] * number)


def maker_of(stage: Stage, store: Store) -> int:
    """The process that made a stage."""
    return int((store.folder(stage) / "process.txt").read_text())


def test_a_run_is_reported_as_it_happens_and_writes_the_same_bytes(store: Store, tmp_path: Path) -> None:
    alone = Store(tmp_path / "alone")
    run_plan([COUNT], alone)
    diary = Diary()
    outcome = run_plan([COUNT], store, diary, engine=workers(store))
    assert set(outcome.made) == {ONE, TWO, BOTH, COUNT}
    for stage in outcome.made:
        assert files_of(store.folder(stage)) == files_of(alone.folder(stage))
    assert_sound(store.root)
    assert [line for line in diary.lines if "two" in line or "toy" in line] == [
        "started text of two 2 4",
        "progressed text of two 1 2 lines",
        "progressed text of two 2 2 lines",
        "made text of two",
        "started toy-joined 3 4",
        "made toy-joined",
        "started toy-count 4 4",
        "made toy-count",
    ]


def test_stages_are_made_at_once_and_by_processes_that_stay(store: Store, tmp_path: Path) -> None:
    meetings = [Meeting(name=a, others=(b,), place=tmp_path) for a, b in ("ab", "ba", "cd", "dc")]
    assert run_plan(meetings, store, engine=workers(store)).failed == {}
    makers = {maker_of(stage, store) for stage in meetings}
    assert len(makers) == 2
    assert os.getpid() not in makers
    assert not any(map(is_running, makers))


def test_each_worker_has_its_own_environment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_GPU", "ours")
    stages = [Variables(name="TOY_GPU", number=number) for number in range(4)]
    engine = LocalProcesses(store, environments=[{"TOY_GPU": "0"}, {"TOY_GPU": "1"}])
    assert len(run_plan(stages, store, engine=engine).made) == 4
    by_maker = {(maker_of(each, store), (store.folder(each) / "value.txt").read_text()) for each in stages}
    assert sorted(value for _, value in by_maker) == ["0", "1"]
    assert os.environ["TOY_GPU"] == "ours"


def test_where_nothing_is_left_to_do_no_worker_starts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run_plan([BOTH], store)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert run_plan([BOTH], store, engine=workers(store)).reused == (ONE, TWO, BOTH)


def test_errors_come_whole_and_stop_only_the_stages_that_need_them(store: Store) -> None:
    colour, short = Odd(way="colour"), Count(joined=BOTH, at_most=3)
    outcome = run_plan([colour, short, COUNT], store, engine=workers(store))
    assert set(outcome.made) == {ONE, TWO, BOTH, COUNT}
    error = outcome.failed[colour.digest]
    assert isinstance(error, ColourError)
    assert (str(error), error.colour) == ("the wall is red: paint it", "red")
    assert str(outcome.failed[short.digest]) == "23 letters are more than 3: raise at_most"
    assert not store.log_folder(colour).exists()


def test_a_mistake_fails_its_stage_leaves_a_traceback_and_ends_its_worker(store: Store) -> None:
    before, after, stage = Variables(name="A"), Variables(name="B"), Odd(way="none")
    outcome = run_plan([before, stage, after], store, engine=workers(store, 1))
    assert outcome.made == (before, after)
    assert maker_of(before, store) != maker_of(after, store)
    log = store.log_folder(stage) / "traceback.txt"
    assert str(outcome.failed[stage.digest]) == (
        f"ValueError: no way 'none'; an error of isoglot's own, or of a library: its traceback is in {log}"
    )
    assert log.read_text().startswith("odd by none\n\nTraceback (most recent call last):\n")
    assert list(store.root.glob("*.lease*")) == []


def test_a_mistake_in_this_process_fails_its_stage_alone_as_well(store: Store) -> None:
    stage = Odd(way="none")
    outcome = run_plan([stage, COUNT], store)
    assert set(outcome.made) == {ONE, TWO, BOTH, COUNT}
    log = store.log_folder(stage) / "traceback.txt"
    assert str(outcome.failed[stage.digest]).startswith("ValueError: no way 'none'; ")
    assert str(outcome.failed[stage.digest]).endswith(str(log))
    assert "Traceback" in log.read_text()


def test_a_killed_worker_is_replaced_once_and_a_stage_whose_workers_die_fails_alone(store: Store) -> None:
    once, killed, exits = Odd(way="dies 1"), Odd(way="dies 9"), Odd(way="exit")
    with pytest.warns(UserWarning, match="worker") as warned:
        outcome = run_plan([once, killed, exits, COUNT], store, engine=workers(store))
    assert {str(each.message).removeprefix("a worker process ") for each in warned} == {
        f"was killed (SIGKILL), perhaps for lack of memory; {once.title} goes on from where it was",
        f"was killed (SIGKILL), perhaps for lack of memory; {killed.title} goes on from where it was",
        f"ended (exit 3); {exits.title} goes on from where it was",
    }
    assert set(outcome.made) == {once, ONE, TWO, BOTH, COUNT}
    assert files_of(store.folder(once)) == {"death-0": b""}
    assert {digest: str(error).removeprefix("its worker process ") for digest, error in outcome.failed.items()} == {
        killed.digest: "was killed (SIGKILL), perhaps for lack of memory, 2 times: give fewer workers",
        exits.digest: "ended (exit 3), 2 times: make it with workers=1 to see where it ends",
    }
    assert store.is_interrupted(killed)


@pytest.mark.campaign
def test_a_worker_killed_while_idle_costs_no_stage(store: Store) -> None:
    first = Variables(name="A")

    def killer(stage: Stage, event: Event) -> None:
        if stage == first and isinstance(event, Made):
            os.kill(maker_of(first, store), signal.SIGKILL)

    with pytest.warns(UserWarning, match="killed"):
        outcome = run_plan([first, COUNT], store, killer, engine=workers(store, 1))
    assert outcome.failed == {}
    assert len(outcome.made) == 5


def test_warnings_reach_the_user_once(store: Store) -> None:
    rains = [Odd(way=way) for way in ("rains here", "rains there")]
    with pytest.warns(UserWarning, match="it rains") as warned:
        run_plan(rains, store, engine=LocalProcesses(store, environments=[{"PYTHONWARNINGS": "default"}] * 2))
    texts = sorted(str(each.message) for each in warned)
    assert texts == ["it rains everywhere", "it rains on here", "it rains on there"]


def impatient(_: Stage, event: Event) -> None:
    if isinstance(event, Progressed):
        raise KeyboardInterrupt


def test_ctrl_c_stops_workers_and_keeps_the_work(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_processes, "SECONDS_TO_END", 300.0)
    stage = Text(word="many", lines=10**9, log=tmp_path / "log")
    with pytest.raises(KeyboardInterrupt):
        run_plan([stage], store, impatient, engine=workers(store))
    assert store.is_interrupted(stage)
    assert list(store.root.glob("*.lease")) == [], "a worker that was killed would have left it"
    assert not is_running(int((tmp_path / "log").read_text()))


@pytest.mark.campaign
def test_a_worker_that_ignores_ctrl_c_is_killed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_processes, "SECONDS_TO_END", 0.2)
    stage = Odd(way="stays", place=tmp_path / "log")
    with pytest.raises(KeyboardInterrupt):
        run_plan([stage], store, impatient, engine=workers(store))
    until(lambda: not is_running(int(stage.place.read_text())))


RUN = """
os.setsid()
from isoglot.store import run_plan
from isoglot.store.engine import Awaited, Event, Made, Progressed
from isoglot.store.local_processes import LocalProcesses
store = Store(Path(sys.argv[1]))
stages = [Patient(end=Path(sys.argv[2])), Text(word="many", lines=400, log=Path(sys.argv[3]))]
run_plan(stages, store, engine=LocalProcesses(store, environments=[{}, {}]))
"""


@contextmanager
def running(root: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run of two workers, when one has a checkpoint and the other has begun."""
    arguments = [str(root), str(tmp_path / "end"), str(tmp_path / "log")]
    with python(RUN, arguments=arguments) as process:
        partial = Store(root).partial_folder(Patient(end=tmp_path))
        until(lambda: (partial / "checkpoint").exists() and (tmp_path / "log").exists())
        yield process
        process.wait(timeout=300)


@pytest.mark.campaign
def test_ctrl_c_in_a_terminal_is_heard_once(root: Path, tmp_path: Path) -> None:
    """A terminal sends it to all processes at once; only the first may print a traceback."""
    with running(root, tmp_path) as process:
        started = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert errors.count("Traceback") == 1, errors
    assert process.returncode == -signal.SIGINT
    until(lambda: not any(map(is_running, started)))
    assert list(root.glob("*.lease")) == []


def test_kill_9_leaves_no_process_and_the_next_run_ends_with_the_same_bytes(root: Path, tmp_path: Path) -> None:
    with running(root, tmp_path) as process:
        started = descendants(process.pid)
        assert len(started) >= 2
        process.kill()
    until(lambda: not any(map(is_running, started)))
    assert_sound(root)
    store = Store(root)
    stages = [Patient(end=tmp_path / "end"), Text(word="many", lines=400)]
    (tmp_path / "end").touch()
    assert run_plan(stages, store, engine=workers(store)).failed == {}
    assert files_of(store.folder(stages[0])) == {"attempts.txt": b"2"}
    expected = {f"lines/{number}.txt": f"many {number}\n".encode() for number in range(400)}
    assert files_of(store.folder(stages[1])) == expected
    assert_sound(root)


HOLDER = """
import time
from isoglot.files import lease
with lease(Path(sys.argv[1]), waiting=print):
    print("held", flush=True)
    time.sleep(1.5)
"""


@pytest.mark.parametrize("make_engine", [InThisProcess, pytest.param(workers, marks=pytest.mark.campaign)])
def test_a_stage_of_another_run_comes_last_and_waiting_for_it_costs_nothing(
    store: Store, make_engine: Callable[[Store], Engine]
) -> None:
    run_plan([TWO], store)
    held = store.root / f"{store.folder(ONE).name}.lease"
    three = Text(word="three")
    waits: list[str] = []

    def patience(stage: Stage, event: Event) -> None:
        if isinstance(event, Awaited):
            waits.append(f"{stage.title}: {event.holder}")

    with python(HOLDER, arguments=[str(held)]) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        wall, processor = time.monotonic(), time.process_time()
        outcome = run_plan([BOTH, three], store, patience, engine=make_engine(store))
        assert time.process_time() - processor < 0.3 * (time.monotonic() - wall)
    assert outcome.made == (three, ONE, BOTH)
    assert waits == [f"text of one: {os.uname().nodename}, process {holder.pid}"], "once"


def test_two_stages_fill_each_gpu_and_any_number_where_there_is_none(store: Store, tmp_path: Path) -> None:
    stages = [Filling(number=number, place=tmp_path) for number in range(7)]
    for gpus, most in (([0, 1, 0, 1, 0, 1], {0: 2, 1: 2}), ([0] * 6, {0: 2}), (None, {None: 6})):
        with LocalProcesses(store, environments=[{}] * 6, gpus=gpus) as engine:
            started = 0
            while engine.takes(stages[started]):
                engine.start(stages[started], lambda _: None)
                started += 1
            assert Counter(worker.gpu for worker in engine.workers if worker.stage) == most
            assert engine.takes(Variables(name="A")) == (started < 6), "stages that fill no GPU take what is left"
