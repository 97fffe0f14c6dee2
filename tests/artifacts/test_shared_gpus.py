"""Workers that share a GPU: two of them fill it, the others do what is left."""

from pathlib import Path

from isoglot.artifacts import Store, run_plan
from isoglot.artifacts.local_processes import LocalProcesses
from tests.artifacts.odd_stages import Filling, Meeting, Variables


def test_stages_that_fill_a_gpu_are_two_at_once_on_it_and_others_go_on_beside_them(
    store: Store, tmp_path: Path
) -> None:
    place = tmp_path / "gpu"
    place.mkdir()
    filling = [Filling(number=number, place=place) for number in range(6)]
    # All four workers are needed for these, so that no two of them are kept for what fills.
    meetings = [Meeting(name=name, others=tuple("wxyz"), place=tmp_path) for name in "wxyz"]
    engine = LocalProcesses(store, environments=[{}] * 4, gpus=[0] * 4)
    assert len(run_plan([*filling, *meetings], store, engine=engine).made) == 10
    at_once = [len((store.folder(each) / "at_once.txt").read_text().split()) for each in filling]
    assert max(at_once) <= 2


def test_two_fill_each_gpu_and_any_number_where_there_is_none(store: Store, tmp_path: Path) -> None:
    stages = [Filling(number=number, place=tmp_path) for number in range(7)]
    for gpus, most in (([0, 1, 0, 1, 0, 1], 4), ([0] * 6, 2), (None, 6)):
        engine = LocalProcesses(store, environments=[{}] * 6, gpus=gpus)
        started = 0
        with engine:
            while engine.room() and engine.takes(stages[started]):
                engine.start(stages[started], lambda _: None)
                started += 1
            assert started == most
            assert engine.takes(Variables(name="A")) == (most < 6)
