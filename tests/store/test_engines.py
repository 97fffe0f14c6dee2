"""How many processes a run gets, and what each of them may use."""

from pathlib import Path

import pytest
from stand_in_driver import write_driver
from study_texts import TINY_STUDY

from isoglot.cli import engines
from isoglot.cli.engines import local_engine, most_side_by_side, num_in_memory, shares
from isoglot.errors import IsoglotError
from isoglot.machine import num_processors
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import InThisProcess, PlannedStage, Store, plan
from isoglot.store.local_processes import LocalProcesses
from isoglot.study.study import parse_study
from tests.store.odd_stages import Filling
from tests.store.toy_stages import Count, Joined, Text

TEXTS = tuple(Text(word=word) for word in ("one", "two", "three"))
JOINED = Joined(texts=TEXTS)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORKERS", "PROCESSES_PER_MODEL", "MEMORY_SHARE"):
        monkeypatch.delenv(f"ISOGLOT_{name}", raising=False)
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ISOGLOT_DEVICE", "cpu")


@pytest.fixture
def _large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "num_processors", lambda: 64)
    monkeypatch.setattr(engines, "available_ram", lambda: 64 * engines.WORKER_BYTES)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def planned(store: Store) -> tuple[PlannedStage, ...]:
    return plan([Count(joined=JOINED)], store)


def num_asked_for(store: Store, planned: tuple[PlannedStage, ...], *, workers: int | None = None) -> int:
    return local_engine(store, planned, workers=workers).room()


def test_no_more_workers_than_stages_that_can_be_in_work_at_once(store: Store) -> None:
    count = Count(joined=JOINED)
    assert most_side_by_side(plan([count], store)) == 3
    store.ensure(TEXTS[0])
    assert most_side_by_side(plan([count], store)) == 2
    for text in TEXTS:
        store.ensure(text)
    assert most_side_by_side(plan([count], store)) == 1
    store.ensure(JOINED)
    store.ensure(count)
    assert most_side_by_side(plan([count], store)) == 1


def test_a_study_keeps_several_workers_busy(store: Store) -> None:
    study = parse_study(TINY_STUDY, origin="tiny.toml")
    assert most_side_by_side(plan(targets(study), store)) >= 6


@pytest.mark.usefixtures("_large_machine")
def test_one_worker_is_this_process(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(local_engine(store, planned, workers=1), InThisProcess)
    monkeypatch.setenv("ISOGLOT_WORKERS", "1")
    assert isinstance(local_engine(store, planned, workers=None), InThisProcess)
    assert isinstance(local_engine(store, planned, workers=2), LocalProcesses)


@pytest.mark.usefixtures("_large_machine")
def test_two_models_are_in_training_at_once_on_a_gpu_and_on_processors_as_many_as_come(
    store: Store, planned: tuple[PlannedStage, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PretrainedEncoder.fills_gpu
    models = [Filling(number=number, others=("never",), place=tmp_path) for number in range(3)]
    for gpus, takes_a_third in ((("0",), False), (("0", "1"), True), ((), True)):
        monkeypatch.setattr(engines, "usable_gpus", lambda gpus=gpus: gpus)
        with local_engine(store, planned, workers=4) as engine:
            for model in models[:2]:
                engine.start(model, lambda _: None)
            assert engine.takes(models[2]) == takes_a_third
            assert engine.takes(TEXTS[0])


def test_as_many_as_there_are_processors_memory_and_stages_for(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "num_processors", lambda: 8)
    monkeypatch.setattr(engines, "available_ram", lambda: 64 << 30)
    monkeypatch.setenv("ISOGLOT_WORKERS", "2")
    assert num_asked_for(store, planned) == 2
    monkeypatch.setenv("ISOGLOT_WORKERS", "9")
    assert num_asked_for(store, planned) == 3
    monkeypatch.setattr(engines, "WORKER_BYTES", 1 << 60)
    assert num_asked_for(store, planned) == 1
    with pytest.warns(UserWarning, match="--workers 5: there is memory for 1, so that 1 would do"):
        assert num_asked_for(store, planned, workers=5) == 5


def test_memory_has_room_for_whole_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for num_bytes, number in ((4096, 1), (3 * engines.WORKER_BYTES + 1, 3)):
        monkeypatch.setattr(engines, "available_ram", lambda num_bytes=num_bytes: num_bytes)
        assert num_in_memory() == number
    monkeypatch.setenv("ISOGLOT_MEMORY_SHARE", "0.67")
    assert num_in_memory() == 2


@pytest.mark.usefixtures("_large_machine")
def test_more_workers_than_the_machine_has_room_for_are_warned_of(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert num_asked_for(store, planned, workers=64) == 64
    monkeypatch.setattr(engines, "num_processors", lambda: 8)
    with pytest.warns(UserWarning, match="--workers 9: there are 8 processors, so that 8 would do"):
        assert num_asked_for(store, planned, workers=9) == 9
    monkeypatch.setattr(engines, "available_ram", lambda: 4 * engines.WORKER_BYTES)
    with pytest.warns(UserWarning, match="--workers 5: there is memory for 4, so that 4 would do"):
        assert num_asked_for(store, planned, workers=5) == 5


def test_processes_that_share_the_processors_are_warned_of(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "2")
    with pytest.warns(UserWarning, match="ISOGLOT_PROCESSES_PER_MODEL=2 gains nothing here: without a GPU each"):
        num_asked_for(store, planned, workers=1)


def test_workers_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def memory_shares(number: int, groups: list[tuple[str, ...]]) -> list[float]:
        return [float(each["ISOGLOT_MEMORY_SHARE"]) for each in shares(number, groups=groups)]

    assert memory_shares(4, []) == [0.25] * 4
    assert memory_shares(2, [("0",)]) == [0.5, 0.5]
    assert memory_shares(2, [("0",), ("1",)]) == [1, 1]
    # The first GPU has two workers and the second one.
    assert memory_shares(3, [("0", "1"), ("2", "3")]) == [0.5, 1, 0.5]
    monkeypatch.setenv("ISOGLOT_MEMORY_SHARE", "0.5")
    assert memory_shares(2, []) == [0.25, 0.25]


def test_workers_share_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    processors = num_processors()
    (share,) = shares(1, groups=())
    assert (share["ISOGLOT_WORKERS"], share["OMP_NUM_THREADS"]) == (str(processors), str(processors))
    monkeypatch.setenv("ISOGLOT_WORKERS", "7")
    assert [each["ISOGLOT_WORKERS"] for each in shares(3, groups=[("0",)])] == ["2", "2", "2"]
    many = shares(10 * processors, groups=())[0]
    assert (many["ISOGLOT_WORKERS"], many["OMP_NUM_THREADS"]) == ("1", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert "OMP_NUM_THREADS" not in shares(2, groups=())[0]


def test_workers_take_turns_with_the_gpus() -> None:
    given = [each["CUDA_VISIBLE_DEVICES"] for each in shares(5, groups=[("2",), ("GPU-7",)])]
    assert given == ["2", "GPU-7", "2", "GPU-7", "2"]
    assert "CUDA_VISIBLE_DEVICES" not in shares(2, groups=[("2",)])[0]


@pytest.mark.usefixtures("_large_machine")
def test_a_gpu_gets_one_worker(
    store: Store, planned: tuple[PlannedStage, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("ISOGLOT_DEVICE", "cuda")
    for number in (1, 2):
        write_driver(tmp_path, lines=[f"GPU {index}: NVIDIA H200" for index in range(number)])
        assert num_asked_for(store, planned) == number
    assert num_asked_for(store, planned, workers=3) == 3


def test_models_that_several_gpus_train_together_get_fewer_workers(
    store: Store, planned: tuple[PlannedStage, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("ISOGLOT_DEVICE", "cuda")
    write_driver(tmp_path, lines=[f"GPU {index}: NVIDIA H200" for index in range(5)])
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "2")
    assert num_asked_for(store, planned) == 2
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "5")
    assert num_asked_for(store, planned) == 1
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "6")
    with pytest.raises(IsoglotError, match="ISOGLOT_PROCESSES_PER_MODEL=6 asks for a GPU each, and there are 5"):
        num_asked_for(store, planned)
    given = [each["CUDA_VISIBLE_DEVICES"] for each in shares(3, groups=[("0", "1"), ("2", "3")])]
    assert given == ["0,1", "2,3", "0,1"]
