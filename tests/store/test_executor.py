"""Plans run on an engine: each stage after its inputs, and failures stop only what rests on them."""

from isoglot.store import InThisProcess, Stage, Store, run_plan
from isoglot.store.engine import Awaited, Emit, Event, Held, Made, Waiting
from tests.store.toy_stages import Count, Joined, Text

ONE, TWO = Text(word="one"), Text(word="two")
BOTH = Joined(texts=(ONE, TWO))


class Diary:
    """A line for each event but `Awaited`: its name, the stage, and what else it says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, stage: Stage, event: Event) -> None:
        assert event.digest == stage.digest
        _, *details = vars(event).values()
        if isinstance(event, Made):
            assert details.pop() > 0
        if not isinstance(event, Awaited):
            self.lines.append(" ".join([type(event).__name__.lower(), stage.title, *map(str, details)]).strip())


def test_a_run_is_reported_as_it_happens_and_a_second_one_does_nothing(store: Store) -> None:
    store.ensure(ONE)
    diary = Diary()
    outcome = run_plan([BOTH], store, diary)
    assert diary.lines == [
        "reused text of one",
        "started text of two 1 2",
        "progressed text of two 1 2 lines",
        "progressed text of two 2 2 lines",
        "made text of two",
        "started toy-joined 2 2",
        "made toy-joined",
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
    assert "failed toy-count 23 letters are more than 3: raise at_most" in diary.lines
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


def test_nothing_is_made_for_a_target_that_is_lost_already(store: Store) -> None:
    store.ensure(ONE)
    (store.folder(ONE) / "record.json").unlink()
    outcome = run_plan([BOTH], store)
    assert (outcome.made, outcome.skipped) == ((), (TWO, BOTH))
    assert not store.has(TWO)


class Elsewhere(InThisProcess):
    """An engine that finds another run at a text of one, which no lock on this machine shows, until it has waited."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.diary = Diary()
        self.is_free = False

    def start(self, stage: Stage, emit: Emit) -> None:
        emit(Waiting(stage.digest, "job 7, pending"))
        if stage == ONE and not self.is_free:
            emit(Held(stage.digest, "node, process 9"))
        else:
            super().start(stage, emit)

    def wait(self) -> None:
        self.diary.lines.append("waits")
        self.is_free = True


def test_a_stage_that_an_engine_reports_held_comes_again_after_a_wait(store: Store) -> None:
    three = Text(word="three", lines=1)
    engine = Elsewhere(store)
    outcome = run_plan([ONE, three], store, engine.diary, engine=engine)
    assert outcome.made == (three, ONE)
    assert engine.diary.lines[:9] == [
        "started text of one 1 2",
        "waiting text of one job 7, pending",
        "held text of one node, process 9",
        "started text of three 1 2",
        "waiting text of three job 7, pending",
        "progressed text of three 1 1 lines",
        "made text of three",
        "waits",
        "started text of one 2 2",
    ]


class Forgetful(InThisProcess):
    """An engine that reports artifacts as made that it has not made."""

    def start(self, stage: Stage, emit: Emit) -> None:
        emit(Made(stage.digest))


def test_an_artifact_that_an_engine_reports_and_has_not_made_fails(store: Store) -> None:
    outcome = run_plan([BOTH], store, engine=Forgetful(store))
    assert (outcome.made, outcome.skipped) == ((), (TWO, BOTH))
    assert "record.json cannot be read" in str(outcome.failed[ONE.digest])
