"""Free memory: of the machine, or of the container or job that this process is in."""

from pathlib import Path

import pytest
import torch

from isoglot import hardware as free_memory
from isoglot.errors import IsoglotError
from isoglot.hardware import (
    SHARE_VARIABLE,
    FreeMemory,
    available_ram,
    free_memory_here,
    free_memory_of,
)
from isoglot.machine import DEVICE_VARIABLE, Machine, this_machine

GIGABYTE = 1 << 30


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """Of a machine with 8 GB to give, and a process in a job in a group of jobs."""
    (tmp_path / "self").mkdir()
    (tmp_path / "meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:   {8 << 20} kB\nSwapFree: 5 kB\n")
    (tmp_path / "self" / "cgroup").write_text("1:name=systemd:/old\n0::/jobs/job_7\n")
    return tmp_path


def limit(group: Path, *, most: str, taken: int, files: int = 0) -> None:
    group.mkdir(parents=True, exist_ok=True)
    (group / "memory.max").write_text(f"{most}\n")
    (group / "memory.current").write_text(f"{taken}\n")
    (group / "memory.stat").write_text(f"anon 1\ninactive_file {files}\nactive_file 3\n")


def test_what_the_machine_can_give(proc: Path, tmp_path: Path) -> None:
    assert available_ram(proc=proc, control_groups=tmp_path / "none") == 8 * GIGABYTE


def test_a_job_may_take_less(proc: Path, tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    limit(groups / "jobs" / "job_7", most="max", taken=GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 8 * GIGABYTE
    limit(groups / "jobs" / "job_7", most=str(6 * GIGABYTE), taken=3 * GIGABYTE, files=GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 4 * GIGABYTE
    limit(groups / "jobs", most=str(6 * GIGABYTE), taken=5 * GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == GIGABYTE
    limit(groups, most=str(GIGABYTE), taken=2 * GIGABYTE)
    assert available_ram(proc=proc, control_groups=groups) == 0


def test_control_groups_of_version_1_count(proc: Path, tmp_path: Path) -> None:
    (proc / "self" / "cgroup").write_text("9:cpuset,memory:/docker/0f\n1:name=systemd:/old\n")
    # Inside the container the folder of its name is not there, and the top is its own.
    group = tmp_path / "groups" / "memory"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text(f"{4 * GIGABYTE}\n")
    (group / "memory.usage_in_bytes").write_text(f"{3 * GIGABYTE}\n")
    assert available_ram(proc=proc, control_groups=tmp_path / "groups") == GIGABYTE


def test_one_of_several_workers_plans_with_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available_ram", lambda: 8 * GIGABYTE)
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    for text, share in (("", 8), ("1", 8), ("0.25", 2)):
        monkeypatch.setenv(SHARE_VARIABLE, text)
        assert free_memory_of(Machine(device=torch.device("cpu"))).free_bytes == share * GIGABYTE
        assert free_memory_here().free_bytes == share * GIGABYTE


@pytest.mark.parametrize("text", ["half", "0", "-1", "2", "nan"])
def test_what_is_no_share_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHARE_VARIABLE, text)
    with pytest.raises(IsoglotError, match=f"ISOGLOT_MEMORY_SHARE='{text}' is no share of the memory"):
        free_memory_here()


def test_where_nothing_tells_it_is_what_the_machine_has(tmp_path: Path) -> None:
    found = available_ram(proc=tmp_path, control_groups=tmp_path)
    assert found >= available_ram()


def test_a_cpu_has_the_machines_memory() -> None:
    found = free_memory_of(Machine(device=torch.device("cpu")))
    assert found.device == "cpu"
    assert found.free_bytes == pytest.approx(available_ram(), rel=0.2)


def test_here_is_the_device_that_a_run_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    assert free_memory_here().device == this_machine().device.type
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    # A driver says nothing against a choice.
    monkeypatch.setattr(free_memory, "GPU_DRIVERS", (Path("/"),))
    monkeypatch.setattr(free_memory, "free_memory_of", None)
    assert free_memory_here().device == "cpu"


@pytest.mark.gpu
def test_a_gpu_has_its_own_with_what_torch_holds_idle() -> None:
    machine = this_machine()
    before = free_memory_of(machine)
    held = torch.empty(GIGABYTE, dtype=torch.uint8, device=machine.device)
    during = free_memory_of(machine)
    del held
    after = free_memory_of(machine)
    assert before.device == "cuda"
    assert before.free_bytes - during.free_bytes == pytest.approx(GIGABYTE, rel=0.01)
    assert after == FreeMemory(device="cuda", free_bytes=pytest.approx(before.free_bytes, rel=0.01))
