"""The machine's GPUs and free memory, also in a container or a job."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import pytest
import torch
from killed_processes import until
from stand_in_driver import write_driver, write_mps

from isoglot import hardware as module
from isoglot.errors import IsoglotError
from isoglot.hardware import (
    MPS_DEFAULT,
    MPS_PROGRAM,
    SHARE_VARIABLE,
    FreeMemory,
    available_ram,
    free_memory_here,
    free_memory_of,
    hardware,
    machine_in_brief,
    sharing_environment,
    usable_gpus,
)
from isoglot.machine import DEVICE_VARIABLE, Machine, this_machine

LISTING = (
    "GPU 0: NVIDIA H200 (UUID: GPU-5f1a)",
    "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-77b2)",
    "  MIG 1g.10gb     Device  0: (UUID: MIG-1234)",
    "GPU 2: Tesla V100 (32 GB) (UUID: GPU-9c00)",
)
NAMES = ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla V100 (32 GB)")
GIGABYTE = 1 << 30


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a program in the place of nvidia-smi, first on the PATH."""
    write_driver(tmp_path, lines=LISTING)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name in ("CUDA_VISIBLE_DEVICES", DEVICE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("variable", "value", "usable", "names"),
    [
        ("CUDA_VISIBLE_DEVICES", "2, 0", ("2", "0"), (NAMES[2], NAMES[0])),
        ("CUDA_VISIBLE_DEVICES", "GPU-77, MIG-1234", ("GPU-77", "MIG-1234"), (NAMES[1],)),
        ("CUDA_VISIBLE_DEVICES", "1,-1,0", ("1",), (NAMES[1],)),
        ("CUDA_VISIBLE_DEVICES", "", (), ()),
        ("CUDA_VISIBLE_DEVICES", "-1", (), ()),
        (DEVICE_VARIABLE, "cpu", (), NAMES),
        (DEVICE_VARIABLE, "", ("0", "1", "2"), NAMES),
        (DEVICE_VARIABLE, "cuda:1", ("1",), NAMES),
        (DEVICE_VARIABLE, "cuda:9", (), NAMES),
    ],
)
def test_variables_filter_gpus(
    variable: str, value: str, usable: tuple[str, ...], names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert usable_gpus() == usable
    assert hardware().gpus == names


@pytest.mark.parametrize("visible", [None, "0"])
def test_a_machine_without_gpus_has_none(driver: Path, visible: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    write_driver(driver, lines=["No devices found."])
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert usable_gpus() == hardware().gpus == ()


def test_two_threads_of_one_core_are_no_two_cores(
    driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "num_processors", lambda: 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 4, 5}, raising=False)
    write_driver(driver, lines=["No devices found."])
    for number, siblings in {0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5"}.items():
        folder = tmp_path / f"cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    processor, version = hardware().processor, metadata.version("torch")
    assert machine_in_brief(processors=tmp_path) == f"{processor}, 4 threads of 2 cores, torch {version}"
    # A machine that does not tell has as many cores as it shows.
    (tmp_path / "cpu5/topology/thread_siblings_list").unlink()
    assert machine_in_brief(processors=tmp_path) == f"{processor}, 4 cores, torch {version}"
    write_driver(driver, lines=LISTING)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert machine_in_brief(processors=tmp_path) == f"{processor}, 4 cores, NVIDIA H200, torch {version}"


def test_without_the_program_the_devices_are_counted(driver: Path) -> None:
    (driver / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert len(usable_gpus()) == len(list(Path("/dev").glob("nvidia[0-9]*")))


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """The /proc of a machine with 8 GB to give, and of a process in a job in a group of jobs."""
    (tmp_path / "self").mkdir()
    (tmp_path / "meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:   {8 << 20} kB\nSwapFree: 5 kB\n")
    (tmp_path / "self" / "cgroup").write_text("1:name=systemd:/old\n0::/jobs/job_7\n")
    return tmp_path


def limit(group: Path, *, most: str, used: int, files: int = 0) -> None:
    group.mkdir(parents=True, exist_ok=True)
    (group / "memory.max").write_text(f"{most}\n")
    (group / "memory.current").write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 1\ninactive_file {files}\nactive_file 3\n")


def test_available_ram_is_the_machines_or_less_in_a_job(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    assert available_ram(proc=proc, control_groups=groups) == 8 * GIGABYTE
    limit(groups / "jobs" / "job_7", most="max", used=GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 8 * GIGABYTE
    limit(groups / "jobs" / "job_7", most=str(6 * GIGABYTE), used=3 * GIGABYTE, files=GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 4 * GIGABYTE
    limit(groups / "jobs", most=str(6 * GIGABYTE), used=5 * GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == GIGABYTE
    limit(groups, most=str(GIGABYTE), used=2 * GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 0


def test_control_groups_of_version_1_count(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("9:cpuset,memory:/docker/0f\n1:name=systemd:/old\n")
    # Inside the container the folder of its name is missing, and the top is its own.
    group = tmp_path / "groups" / "memory"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text(f"{4 * GIGABYTE}\n")
    (group / "memory.usage_in_bytes").write_text(f"{3 * GIGABYTE}\n")
    assert available_ram(proc=proc, control_groups=tmp_path / "groups") == GIGABYTE


def test_other_systems_report_what_is_installed(tmp_path: Path) -> None:
    assert available_ram(proc=tmp_path, control_groups=tmp_path) >= available_ram()


def test_one_of_several_workers_plans_with_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_ram", lambda: 8 * GIGABYTE)
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    for text, share in (("", 8), ("1", 8), ("0.25", 2)):
        monkeypatch.setenv(SHARE_VARIABLE, text)
        expected = FreeMemory(device="cpu", free_bytes=share * GIGABYTE)
        assert free_memory_of(Machine(device=torch.device("cpu"))) == free_memory_here() == expected


@pytest.mark.parametrize("text", ["half", "0", "-1", "2", "nan"])
def test_a_bad_share_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE_VARIABLE, text)
    with pytest.raises(IsoglotError, match=f"ISOGLOT_MEMORY_SHARE='{text}' is no share of the memory"):
        free_memory_here()


def test_here_is_the_device_that_a_run_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    assert free_memory_here().device == this_machine().device.type
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    # A choice counts more than a driver.
    monkeypatch.setattr(module, "GPU_DRIVERS", (Path("/"),))
    monkeypatch.setattr(module, "free_memory_of", None)
    assert free_memory_here().device == "cpu"


@pytest.mark.gpu
def test_a_gpu_has_its_own_memory_with_the_part_that_torch_holds_idle() -> None:
    machine = this_machine()
    before = free_memory_of(machine)
    held = torch.empty(GIGABYTE, dtype=torch.uint8, device=machine.device)
    during = free_memory_of(machine)
    del held
    after = free_memory_of(machine)
    assert before.device == "cuda"
    assert before.free_bytes - during.free_bytes == pytest.approx(GIGABYTE, rel=0.01)
    assert after == FreeMemory(device="cuda", free_bytes=pytest.approx(before.free_bytes, rel=0.01))


@pytest.fixture
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Short, since the name of a socket has little room."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    return folder


@pytest.mark.skipif(MPS_DEFAULT.exists(), reason="NVIDIA's MPS runs on this machine already")
@pytest.mark.parametrize("does", ["exit 1", "sleep 1000", 'touch "$CUDA_MPS_PIPE_DIRECTORY/control"; sleep 1000'])
def test_a_service_that_does_not_come_up_is_ended(
    does: str, driver: Path, own_temporary_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mps(driver, does=f'[ -n "$1" ] || exit 1\necho $$ > {driver}/pid\n{does}')
    monkeypatch.setattr(module, "MPS_SECONDS", 1)
    assert sharing_environment() is None
    assert not list(own_temporary_folder.iterdir())
    assert not Path("/proc", (driver / "pid").read_text().strip()).exists()


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which(MPS_PROGRAM) is None, reason="NVIDIA's MPS is not installed")
def test_processes_share_a_gpu_until_the_run_is_killed(own_temporary_folder: Path) -> None:
    """The service has a server for clients, and ends with a process that is killed."""
    program = "from isoglot.hardware import *; print(sharing_environment(), flush=True); import time; time.sleep(1000)"
    environment = os.environ | {"TMPDIR": str(own_temporary_folder)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment) as run:
        assert run.stdout is not None
        assert "isoglot-mps-" in run.stdout.readline()
        run.kill()
    until(lambda: not any(str(own_temporary_folder).encode() in each for each in _environments()), seconds=20)


def _environments() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            yield path.read_bytes()
