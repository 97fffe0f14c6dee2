"""Workers that share a GPU: two of them fill it, the others do what is left."""

from collections import Counter
from pathlib import Path

from isoglot.store import Store, run_plan
from isoglot.store.local_processes import LocalProcesses
from tests.store.odd_stages import Filling, Meeting, Variables


def test_others_go_on_beside_two_that_fill_and_a_third_waits(store: Store, tmp_path: Path) -> None:
    # The first two end when both others are made, which come after the third in line.
    first = [Filling(number=number, others=("a", "b"), place=tmp_path) for number in range(2)]
    third = Filling(number=2, place=tmp_path)
    others = [Meeting(name=a, others=(b,), place=tmp_path) for a, b in ("ab", "ba")]
    engine = LocalProcesses(store, environments=[{}] * 4, gpus=[0] * 4)
    outcome = run_plan([*first, third, *others], store, engine=engine)
    assert outcome.failed == {}
    at_once = [(store.folder(each) / "at_once.txt").read_text().split() for each in (*first, third)]
    assert all(len(names) <= 2 for names in at_once)


def test_two_fill_each_gpu_and_any_number_where_there_is_none(store: Store, tmp_path: Path) -> None:
    stages = [Filling(number=number, others=("never",), place=tmp_path) for number in range(7)]
    for gpus, most in (([0, 1, 0, 1, 0, 1], 4), ([0] * 6, 2), (None, 6)):
        engine = LocalProcesses(store, environments=[{}] * 6, gpus=gpus)
        started = 0
        with engine:
            while engine.room() and engine.takes(stages[started]):
                engine.start(stages[started], lambda _: None)
                started += 1
            assert started == most
            assert engine.takes(Variables(name="A")) == (most < 6)


def test_the_gpu_that_is_filled_less_comes_first(store: Store, tmp_path: Path) -> None:
    filling = [Filling(number=number, others=("a", "filling-0", "filling-1"), place=tmp_path) for number in range(2)]
    other = Meeting(name="a", others=("filling-0", "filling-1"), place=tmp_path)
    with LocalProcesses(store, environments=[{}] * 4, gpus=[0, 1, 0, 1]) as engine:
        # The other one takes the desk at the second GPU that the second model would have had.
        for stage in (filling[0], other, filling[1]):
            assert engine.takes(stage)
            engine.start(stage, lambda _: None)
        busy = Counter(desk.gpu for desk in engine._desks if desk.stage and desk.stage.fills_gpu)
    assert busy == {0: 1, 1: 1}
