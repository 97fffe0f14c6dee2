"""How many processes a run gets, and what each of them may use."""

import os
from pathlib import Path

import pytest
from stand_in_driver import write_driver
from study_texts import TINY_STUDY

from isoglot import engines
from isoglot.artifacts import InThisProcess, PlannedStage, Store, plan
from isoglot.artifacts.local_processes import LocalProcesses
from isoglot.engines import local_engine, most_side_by_side, num_in_memory, shares
from isoglot.errors import IsoglotError
from isoglot.exhibits import targets
from isoglot.study import parse_study
from isoglot.workers import num_processors
from tests.artifacts.toy_stages import Count, Joined, Text

TEXTS = tuple(Text(word=word) for word in ("one", "two", "three"))
JOINED = Joined(texts=TEXTS)


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ISOGLOT_WORKERS", "ISOGLOT_PROCESSES_PER_MODEL", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ISOGLOT_DEVICE", "cpu")


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


def test_one_worker_is_this_process(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(local_engine(store, planned, workers=1), InThisProcess)
    monkeypatch.setenv("ISOGLOT_WORKERS", "1")
    assert isinstance(local_engine(store, planned, workers=None), InThisProcess)
    assert isinstance(local_engine(store, planned, workers=2), LocalProcesses)


def test_as_many_as_there_are_processors_memory_and_stages_for(
    store: Store, planned: tuple[PlannedStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_WORKERS", "2")
    assert num_asked_for(store, planned) == min(2, num_in_memory())
    monkeypatch.setenv("ISOGLOT_WORKERS", "9")
    assert num_asked_for(store, planned) == min(3, num_in_memory())
    monkeypatch.setattr(engines, "WORKER_BYTES", 1 << 60)
    assert num_asked_for(store, planned) == 1
    assert num_asked_for(store, planned, workers=5) == 5


def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(engines, "MEMORY_LIMITS", (str(tmp_path / "absent"), str(limit)))
    limit.write_text("max\n")
    assert num_in_memory() == max(1, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // engines.WORKER_BYTES)
    monkeypatch.setattr(engines, "WORKER_BYTES", 1 << 20)
    limit.write_text(f"{3 << 20}\n")
    assert num_in_memory() == 3
    limit.write_text("4096\n")
    assert num_in_memory() == 1


def test_workers_share_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    processors = num_processors()
    (share,) = shares(1, groups=())
    assert share == {"ISOGLOT_WORKERS": str(processors), "OMP_NUM_THREADS": str(processors)}
    monkeypatch.setenv("ISOGLOT_WORKERS", "7")
    assert [each["ISOGLOT_WORKERS"] for each in shares(3, groups=[("0",)])] == ["2", "2", "2"]
    assert shares(10 * processors, groups=())[0] == {"ISOGLOT_WORKERS": "1", "OMP_NUM_THREADS": "1"}
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert "OMP_NUM_THREADS" not in shares(2, groups=())[0]


def test_workers_take_turns_with_the_gpus() -> None:
    given = [each["CUDA_VISIBLE_DEVICES"] for each in shares(5, groups=[("2",), ("GPU-7",)])]
    assert given == ["2", "GPU-7", "2", "GPU-7", "2"]
    assert "CUDA_VISIBLE_DEVICES" not in shares(2, groups=[("2",)])[0]


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
