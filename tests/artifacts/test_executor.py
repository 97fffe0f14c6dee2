import subprocess
import sys
from pathlib import Path

import pytest

from isoglot.artifacts import Observer, Stage, Store, run_plan
from isoglot.errors import IsoglotError
from tests.artifacts.toy_stages import Count, Joined, Text

ONE, TWO = Text(word="one"), Text(word="two")
BOTH = Joined(texts=(ONE, TWO))


class Diary(Observer):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        self.lines.append(f"started {stage.title} {index}/{count}")

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        self.lines.append(f"progress {stage.title} {done:.0f}/{total:.0f} {unit}{note}")

    def finished(self, stage: Stage, *, seconds: float) -> None:
        self.lines.append(f"finished {stage.title}")
        assert seconds > 0

    def reused(self, stage: Stage) -> None:
        self.lines.append(f"reused {stage.title}")

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        self.lines.append(f"failed {stage.title}: {error}")


def test_a_run_is_told_as_it_happens_and_a_second_one_does_nothing(store: Store) -> None:
    store.ensure(ONE)
    diary = Diary()
    outcome = run_plan([BOTH], store, diary)
    assert diary.lines == [
        "reused text of one",
        "started text of two 1/2",
        "progress text of two 1/2 lines",
        "progress text of two 2/2 lines",
        "finished text of two",
        "started toy-joined 2/2",
        "finished toy-joined",
    ]
    assert (outcome.made, outcome.reused) == ((TWO, BOTH), (ONE,))
    again = run_plan([BOTH], store)
    assert (again.made, again.reused, again.failed) == ((), (ONE, TWO, BOTH), {})


def test_a_failure_skips_what_needs_it_and_nothing_else(store: Store) -> None:
    failing, fine = Count(joined=BOTH, at_most=3), Count(joined=BOTH)
    diary = Diary()
    outcome = run_plan([failing, fine], store, diary)
    assert outcome.made == (ONE, TWO, BOTH, fine)
    assert outcome.failed.keys() == {failing.digest}
    assert "failed toy-count: 23 letters are more than 3: raise at_most" in diary.lines
    assert store.is_interrupted(failing)
    assert list(store.root.glob("*.lease")) == []


def test_a_damaged_artifact_stops_only_its_users(store: Store) -> None:
    run_plan([ONE, TWO], store)
    (store.folder(TWO) / "record.json").unlink()
    alone = Joined(texts=(ONE,))
    count = Count(joined=BOTH)
    outcome = run_plan([count, alone], store)
    assert outcome.made == (alone,)
    assert outcome.skipped == (BOTH, count)
    assert "delete the folder" in str(outcome.failed[TWO.digest])


def test_a_corrupted_input_fails_its_user(root: Path) -> None:
    run_plan([ONE, TWO], Store(root))
    path = Store(root).folder(TWO) / "lines" / "0.txt"
    path.write_bytes(path.read_bytes().upper())
    outcome = run_plan([BOTH], Store(root))
    assert f"{path} is corrupted" in str(outcome.failed[BOTH.digest])


def test_ctrl_c_passes_through(store: Store) -> None:
    class Impatient(Observer):
        def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:  # noqa: ARG002
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan([BOTH], store, Impatient())
    assert store.is_interrupted(ONE)
    assert run_plan([BOTH], store).made == (ONE, TWO, BOTH)


def test_nothing_is_made_for_a_target_that_is_lost_already(store: Store) -> None:
    run_plan([ONE], store)
    (store.folder(ONE) / "record.json").unlink()
    outcome = run_plan([BOTH], store)
    assert (outcome.made, outcome.skipped) == ((), (TWO, BOTH))
    assert not store.has(TWO)


def test_what_another_process_is_at_comes_last(store: Store) -> None:
    """Here the other process is a child that holds the lease of the first text until it is told to let go."""
    run_plan([TWO], store)
    three = Text(word="three")
    held = store.root / f"{store.folder(ONE).name}.lease"
    command = [sys.executable, "-c", HOLDER, str(held)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        diary = LetsGo(holder)
        outcome = run_plan([BOTH, three], store, diary)
    assert outcome.made == (three, ONE, BOTH)
    assert "waiting for text of one" in diary.lines
    assert not store.is_held(ONE)


class LetsGo(Diary):
    def __init__(self, holder: "subprocess.Popen[str]") -> None:
        super().__init__()
        self.holder = holder

    def waiting(self, stage: Stage, *, holder: str) -> None:  # noqa: ARG002
        self.lines.append(f"waiting for {stage.title}")
        assert self.holder.stdin is not None
        self.holder.stdin.write("\n")
        self.holder.stdin.flush()


HOLDER = """
import sys
from pathlib import Path
from isoglot.artifacts.lease import lease
with lease(Path(sys.argv[1]), waiting=print):
    print("held", flush=True)
    sys.stdin.readline()
"""
