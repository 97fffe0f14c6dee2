"""Words of `isoglot run` about a cluster, where there is none."""

import os
from pathlib import Path

import pytest

from isoglot.cli.engines import NEEDED, chosen_engine, slurm_engine
from isoglot.errors import IsoglotError
from isoglot.store import Store
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_submission import Submitter

NOTHING = {
    "workers": None,
    "slurm": False,
    "partition": None,
    "account": None,
    "max_jobs": None,
    "options": (),
    "say": print,
}


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Where Slurm's programs are."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in NEEDED:
        (programs / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    return Store(tmp_path / "store")


def submitter(engine: object) -> Submitter:
    assert isinstance(engine, SlurmJobs)
    return engine._submitter


def test_options_of_sbatch_are_taken_apart(login_node: Store) -> None:
    options = [
        "--mail-type=END",
        "cpu.partition=long",
        "gpu.constraint=a100|h100",
        "nice=5=6",
        "exclusive",
        "mem_per_cpu=4G",
    ]
    asked = submitter(
        chosen_engine(
            login_node, (), **NOTHING | {"slurm": True, "partition": "any", "account": "me", "options": options}
        )
    )
    assert asked.options == {
        "partition": "any",
        "account": "me",
        "mail-type": "END",
        "nice": "5=6",
        "exclusive": True,
        "mem-per-cpu": "4G",
    }
    assert asked.gpu_options == {"constraint": "a100|h100"}
    assert asked.cpu_options == {"partition": "long"}


@pytest.mark.parametrize(("device", "has_gpus"), [("cpu", False), ("cuda:0", True), (None, True)])
def test_the_device_decides_whether_gpus_are_asked_for(
    login_node: Store, device: str | None, has_gpus: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISOGLOT_DEVICE", raising=False)
    if device:
        monkeypatch.setenv("ISOGLOT_DEVICE", device)
    assert submitter(slurm_engine(login_node, max_jobs=3, options=(), say=print)).has_gpus == has_gpus


def test_max_jobs_is_how_many_wait_or_run(login_node: Store) -> None:
    assert chosen_engine(login_node, (), **NOTHING | {"slurm": True}).room() == 64
    assert chosen_engine(login_node, (), **NOTHING | {"slurm": True, "max_jobs": 3}).room() == 3


def test_without_slurm_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        IsoglotError, match=r"--slurm needs sbatch, squeue, .* not found on the PATH: run it on a login"
    ):
        chosen_engine(Store(tmp_path), (), **NOTHING | {"slurm": True})


def test_without_submitit_the_way_out_is_told(login_node: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoglot.cli.engines.find_spec", lambda _: None)
    with pytest.raises(IsoglotError, match=r"pip install 'isoglot\[slurm\]'"):
        chosen_engine(login_node, (), **NOTHING | {"slurm": True})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"partition": "gpu"}, "--partition is for jobs of a cluster: give --slurm as well"),
        ({"account": "me"}, "--account is for jobs of a cluster: give --slurm as well"),
        ({"max_jobs": 3}, "--max-jobs is for jobs of a cluster: give --slurm as well"),
        ({"options": ["qos=long"]}, "--slurm-option is for jobs of a cluster: give --slurm as well"),
        ({"slurm": True, "workers": 2}, "--workers is for processes of this machine: with --slurm, give --max-jobs"),
        ({"slurm": True, "options": ["tpu.mem=3"]}, r"--slurm-option tpu.mem=3: tpu\. is neither gpu\. nor cpu\."),
        ({"slurm": True, "options": ["output=x"]}, "--slurm-option output: isoglot decides this itself"),
    ],
)
def test_words_that_do_not_go_together_are_named(login_node: Store, words: dict[str, object], sentence: str) -> None:
    with pytest.raises(IsoglotError, match=f"^{sentence}"):
        chosen_engine(login_node, (), **NOTHING | words)
