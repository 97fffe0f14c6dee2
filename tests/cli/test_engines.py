"""The engine of a run: how many processes it gets, what each may use, and the options for a cluster."""

import os
from pathlib import Path
from typing import Any

import pytest
from stand_in_driver import write_driver, write_mps
from study_texts import TINY_STUDY

from isoglot.cli.engines import SLURM_PROGRAMS, EngineOptions
from isoglot.errors import IsoglotError
from isoglot.machine import num_processors
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import InThisProcess, PlannedStage, Store, plan
from isoglot.store import local_engine as engines
from isoglot.store.local_engine import local_engine, most_side_by_side, num_in_memory, shares
from isoglot.store.local_processes import LocalProcesses
from isoglot.store.slurm import SlurmJobs
from isoglot.study.study_file import parse_study
from tests.store.toy_stages import Count, Joined, Text

TEXTS = tuple(Text(word=word) for word in ("one", "two", "three"))
JOINED = Joined(texts=TEXTS)
COUNT = Count(joined=JOINED)
Planned = tuple[PlannedStage, ...]


@pytest.fixture(autouse=True)
def _large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ("ISOGLOT_WORKERS", "ISOGLOT_PROCESSES_PER_MODEL", "ISOGLOT_MEMORY_SHARE")
    for name in (*own, "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ISOGLOT_DEVICE", "cpu")
    monkeypatch.setattr(engines, "num_processors", lambda: 64)
    monkeypatch.setattr(engines, "available_ram", lambda: 64 * engines.WORKER_BYTES)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def planned(store: Store) -> Planned:
    return plan([COUNT], store)


def num_started(store: Store, planned: Planned, *, workers: int | None = None) -> int:
    engine = local_engine(store, planned, workers=workers)
    return len(engine.workers) if isinstance(engine, LocalProcesses) else 1


def with_gpus(number: int, *, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("ISOGLOT_DEVICE", "cuda")
    write_driver(folder, lines=[f"GPU {index}: NVIDIA H200" for index in range(number)])
    write_mps(folder, does="exit 1")  # so that nothing is started on machines that have it


def test_no_more_workers_than_stages_that_can_be_in_work_at_once(store: Store) -> None:
    assert most_side_by_side(plan([COUNT], store)) == 3
    store.ensure(TEXTS[0])
    assert most_side_by_side(plan([COUNT], store)) == 2
    for stage in (*TEXTS, JOINED, COUNT):
        store.ensure(stage)
    assert most_side_by_side(plan([COUNT], store)) == 1
    study = parse_study(TINY_STUDY, origin="tiny.toml")
    assert most_side_by_side(plan(targets(study), store)) >= 6
    assert PretrainedEncoder.fills_gpu


def test_as_many_as_there_are_processors_memory_and_stages_for_and_one_is_this_process(
    store: Store, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(local_engine(store, planned, workers=1), InThisProcess)
    assert isinstance(local_engine(store, planned, workers=2), LocalProcesses)
    monkeypatch.setenv("ISOGLOT_WORKERS", "1")
    assert isinstance(local_engine(store, planned, workers=None), InThisProcess)
    monkeypatch.setenv("ISOGLOT_WORKERS", "2")
    assert num_started(store, planned) == 2
    monkeypatch.setenv("ISOGLOT_WORKERS", "9")
    assert num_started(store, planned) == 3
    monkeypatch.setattr(engines, "available_ram", lambda: 2 * engines.WORKER_BYTES + 1)
    assert num_started(store, planned) == 2
    monkeypatch.setenv("ISOGLOT_MEMORY_SHARE", "0.9")
    assert num_in_memory() == num_started(store, planned) == 1
    monkeypatch.setattr(engines, "available_ram", lambda: 4096)
    assert num_in_memory() == 1


def test_more_workers_than_the_machine_has_room_for_are_warned_of(
    store: Store, planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert num_started(store, planned, workers=64) == 64
    monkeypatch.setattr(engines, "num_processors", lambda: 8)
    with pytest.warns(UserWarning, match="workers=9: there are 8 processors, so that 8 would do"):
        assert num_started(store, planned, workers=9) == 9
    monkeypatch.setattr(engines, "available_ram", lambda: 4 * engines.WORKER_BYTES)
    with pytest.warns(UserWarning, match="workers=5: there is memory for 4, so that 4 would do"):
        assert num_started(store, planned, workers=5) == 5
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "2")
    with pytest.warns(UserWarning, match="ISOGLOT_PROCESSES_PER_MODEL=2 gains nothing here: without a GPU each"):
        num_started(store, planned, workers=1)


def test_workers_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def memory_shares(number: int, groups: list[tuple[str, ...]]) -> list[float]:
        return [float(each["ISOGLOT_MEMORY_SHARE"]) for each in shares(number, groups=groups)]

    assert memory_shares(4, []) == [0.25] * 4
    assert memory_shares(2, [("0",), ("1",)]) == [1, 1]
    # The first GPU has two workers and the second one.
    assert memory_shares(3, [("0", "1"), ("2", "3")]) == [0.5, 1, 0.5]
    monkeypatch.setenv("ISOGLOT_MEMORY_SHARE", "0.5")
    assert memory_shares(2, []) == [0.25, 0.25]


def test_workers_share_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    (share,) = shares(1, groups=())
    assert (share["ISOGLOT_WORKERS"], share["OMP_NUM_THREADS"]) == (str(num_processors()), "64")
    monkeypatch.setenv("ISOGLOT_WORKERS", "7")
    assert [each["ISOGLOT_WORKERS"] for each in shares(3, groups=[("0",)])] == ["2", "2", "2"]
    many = shares(100, groups=())[0]
    assert (many["ISOGLOT_WORKERS"], many["OMP_NUM_THREADS"]) == ("1", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert "OMP_NUM_THREADS" not in shares(2, groups=())[0]


def test_workers_take_turns_with_the_gpus() -> None:
    for groups, expected in (
        ([("2",), ("GPU-7",)], ["2", "GPU-7", "2"]),
        ([("0", "1"), ("2", "3")], ["0,1", "2,3", "0,1"]),
        ([("2",)], [None] * 3),
    ):
        assert [each.get("CUDA_VISIBLE_DEVICES") for each in shares(3, groups=groups)] == expected


def test_a_gpu_that_cannot_be_shared_gets_one_worker_and_takes_two_models_at_once(
    store: Store, planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        with_gpus(number, folder=tmp_path, monkeypatch=monkeypatch)
        assert num_started(store, planned) == number
    engine = local_engine(store, planned, workers=3)
    assert isinstance(engine, LocalProcesses)
    assert [worker.gpu for worker in engine.workers] == [0, 1, 0]


def test_models_that_several_gpus_train_together_get_fewer_workers(
    store: Store, planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_gpus(5, folder=tmp_path, monkeypatch=monkeypatch)
    for per_model, number in ((2, 2), (5, 1)):
        monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", str(per_model))
        assert num_started(store, planned) == number
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "6")
    with pytest.raises(IsoglotError, match="ISOGLOT_PROCESSES_PER_MODEL=6 asks for a GPU each, and there are 5"):
        num_started(store, planned)


def test_narrow_models_share_a_gpu_where_a_service_for_that_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_gpus(2, folder=tmp_path, monkeypatch=monkeypatch)
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("ISOGLOT_WORKERS", "64")
    for width, number in ((16, 16), (512, 2)):
        text = TINY_STUDY.replace("shape.width = 16", f"shape.width = {width}")
        study = parse_study(text, origin="tiny.toml")
        planned = plan(targets(study), store)
        assert most_side_by_side(planned) >= number
        assert num_started(store, planned) == number
        assert num_started(store, planned, workers=5) == 5


@pytest.fixture
def login_node(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store where Slurm's programs are."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in SLURM_PROGRAMS:
        (programs / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return store


def slurm_jobs(store: Store, **options: Any) -> SlurmJobs:
    engine = EngineOptions(slurm=True, **options).chosen(store, (), say=print)
    assert isinstance(engine, SlurmJobs)
    return engine


def test_options_of_sbatch_are_parsed(login_node: Store) -> None:
    options = ["--mail-type=END", "cpu.partition=long", "gpu.constraint=a100|h100", "nice=5=6", "exclusive"]
    jobs = slurm_jobs(login_node, partition="any", account="me", slurm_option=[*options, "mem_per_cpu=4G"])
    assert jobs.max_jobs == 64
    submitter = jobs.submitter
    plain = {"mail-type": "END", "nice": "5=6", "exclusive": True, "mem-per-cpu": "4G"}
    assert submitter.options == {"partition": "any", "account": "me"} | plain
    assert submitter.gpu_options == {"constraint": "a100|h100"}
    assert submitter.cpu_options == {"partition": "long"}


def test_the_device_decides_whether_jobs_get_gpus(login_node: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for device, has_gpus in (("cpu", False), ("cuda:0", True), ("", True)):
        monkeypatch.setenv("ISOGLOT_DEVICE", device)
        jobs = slurm_jobs(login_node, max_jobs=3)
        assert (jobs.submitter.has_gpus, jobs.max_jobs) == (has_gpus, 3)


def test_without_slurm_or_submitit_a_way_out_is_named(login_node: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(login_node.root))
    with pytest.raises(IsoglotError, match=r"--slurm needs sbatch, squeue, .* not found on the PATH: run it on a"):
        slurm_jobs(login_node)
    monkeypatch.setattr("isoglot.cli.engines.find_spec", lambda _: None)
    with pytest.raises(IsoglotError, match=r"pip install submitit"):
        slurm_jobs(login_node)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"partition": "gpu"}, "--partition is for jobs of a cluster: give --slurm as well"),
        ({"account": "me"}, "--account is for jobs of a cluster: give --slurm as well"),
        ({"max_jobs": 3}, "--max-jobs is for jobs of a cluster: give --slurm as well"),
        ({"slurm_option": ["qos=long"]}, "--slurm-option is for jobs of a cluster: give --slurm as well"),
        ({"slurm": True, "workers": 2}, "--workers is for processes of this machine: with --slurm, give --max-jobs"),
        ({"slurm": True, "slurm_option": ["tpu.mem=3"]}, r"--slurm-option tpu.mem=3: tpu\. is neither gpu\. nor cpu\."),
        ({"slurm": True, "slurm_option": ["output=x"]}, "--slurm-option output: isoglot decides this itself"),
    ],
)
def test_options_that_do_not_go_together_are_named(login_node: Store, words: dict[str, object], sentence: str) -> None:
    with pytest.raises(IsoglotError, match=f"^{sentence}"):
        EngineOptions(**words).chosen(login_node, (), say=print)


def test_time_on_a_cluster_is_not_counted_here() -> None:
    assert EngineOptions(workers=3).side_by_side() == 3
    with pytest.raises(IsoglotError, match=r"--within counts the time on this machine: leave it out, or leave out"):
        EngineOptions(slurm=True).side_by_side()
