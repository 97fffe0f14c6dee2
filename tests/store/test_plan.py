import json
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.store import State, Store, plan, run_plan
from tests.oracles import sealed
from tests.store.toy_stages import Count, Joined, Size, Sized, Text

ONE, TWO = Text(word="one"), Text(word="two", lines=6)
BOTH = Joined(texts=(ONE, TWO))
COUNT = Count(joined=BOTH)


def states(store: Store, *targets: Count | Joined | Text) -> list[tuple[str, State]]:
    return [(each.stage.title, each.state) for each in plan(targets, store)]


def test_each_stage_once_and_after_its_inputs(store: Store) -> None:
    again = Joined(texts=(replace(TWO, log=Path("elsewhere")), ONE))
    planned = [each.stage for each in plan([COUNT, again, COUNT], store)]
    assert [stage.digest for stage in planned] == [stage.digest for stage in (ONE, TWO, BOTH, COUNT, again)]


def test_states(store: Store) -> None:
    store.ensure(ONE)
    store.ensure(TWO)
    (store.root / f"{store.folder(BOTH).name}.partial").mkdir()
    assert states(store, COUNT) == [
        ("text of one", State.DONE),
        ("text of two", State.DONE),
        ("toy-joined", State.INTERRUPTED),
        ("toy-count", State.TO_DO),
    ]
    (store.folder(TWO) / "record.json").write_text("{")
    assert states(store, TWO) == [("text of two", State.DAMAGED)]


def test_inputs_of_finished_stages_may_be_gone(store: Store) -> None:
    run_plan([COUNT], store)
    for stage in (TWO, BOTH):
        store.folder(stage).rename(store.root.parent / stage.kind)
    assert states(store, COUNT) == [("text of one", State.DONE), ("toy-count", State.DONE)]
    assert ("text of two", State.TO_DO) in states(store, replace(COUNT, at_most=99))


def made(store: Store, stage: Text | Joined | Sized, **changes: object) -> None:
    """Make a stage, or find it, and change fields of its record."""
    store.ensure(stage)
    path = store.folder(stage) / "record.json"
    path.write_text(sealed(json.loads(path.read_text()) | changes))


def estimates(store: Store, *stages: Text | Joined) -> list[float | None]:
    return [each.seconds_estimate for each in plan(stages, store)]


def test_estimates_follow_the_median_rate_of_the_kind(store: Store) -> None:
    assert estimates(store, BOTH) == [None, None, None]
    for lines, seconds, unit in ((2, 1, "lines"), (4, 4, "lines"), (6, 60, "lines"), (7, 0, "lines"), (8, 1, "pages")):
        made(store, Text(word="seen", lines=lines), seconds=seconds, amount={"units": lines, "of": unit})
    new, done = Text(lines=30), Text(word="seen", lines=2)
    assert estimates(store, new, done) == [pytest.approx(30.0), 0.0]
    for separator, seconds in (("a", 3), ("b", 5)):
        made(store, Joined(texts=(done,), separator=separator), seconds=seconds)
    assert estimates(store, Joined(texts=(done,)))[-1] == pytest.approx(4.0)


def test_stages_with_the_same_rate_settings_come_first(store: Store) -> None:
    for word, seconds in (("quick", 1), ("quicker", 1), ("slow", 8)):
        made(store, Text(word=word, lines=4), seconds=seconds)
    new = [Text(word="slow", lines=2), Text(word="quick", lines=8), Text(word="new", lines=4)]
    assert estimates(store, *new) == pytest.approx([4.0, 2.0, 1.0])
    assert [each.guessed for each in plan(new, store)] == [False, False, True]


def test_a_guess_of_its_own_is_better_than_the_rate_of_stages_unlike_it(store: Store) -> None:
    made(store, Sized(size=Size(width=64), lines=4), seconds=8)
    alike, other = Sized(size=Size(width=64), lines=2), Sized(size=Size(width=128), lines=2)
    assert [(each.seconds_estimate, each.guessed) for each in plan([alike, other], store)] == [
        (4.0, False),
        (7.0, True),
    ]


def test_stages_made_on_this_machine_come_first(store: Store) -> None:
    """Others may be all there is, as after `isoglot unpack` into a new store."""
    for lines, seconds, changes in ((4, 400, {"host": "slow"}), (5, 500, {"host": "slow"}), (6, 6, {})):
        made(store, Text(lines=lines), seconds=seconds, **changes)
    assert estimates(store, Text(lines=10)) == pytest.approx([10.0])
    made(store, Text(lines=6), host="slow")
    assert estimates(store, Text(lines=10)) == pytest.approx([1000.0])


def test_an_interrupted_stage_needs_the_time_of_what_is_left(store: Store) -> None:
    made(store, Text(word="seen", lines=4), seconds=40)
    new = Text(lines=8)
    lines = store.partial_folder(new) / "lines"
    lines.mkdir(parents=True)
    for number in range(6):
        (lines / f"{number}.txt").touch()
    (planned,) = plan([new], store)
    assert (planned.state, planned.share_done, planned.share_left) == (State.INTERRUPTED, 0.75, 0.25)
    assert planned.seconds_estimate == pytest.approx(20.0)
    assert planned.amount == new.amount(), "the whole, by which the store's rates go"
    store.ensure(new)
    assert [each.share_done for each in plan([new], store)] == [0.0]
