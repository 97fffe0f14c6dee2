"""How much memory a model may take on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.machine import DEVICE_VARIABLE

if TYPE_CHECKING:
    from isoglot.machine import Machine

PROC = Path("/proc")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
GPU_DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/kfd"))


@dataclass(frozen=True, kw_only=True)
class FreeMemory:
    """Of the device that trains."""

    device: str
    """Its kind, "cpu" or "cuda"."""
    free_bytes: int


def free_memory_of(machine: Machine) -> FreeMemory:
    """What is free at this moment."""
    if machine.device.type != "cuda":
        return FreeMemory(device="cpu", free_bytes=available_ram())
    import torch

    free, _ = torch.cuda.mem_get_info(machine.device)
    # What torch holds and does not use is free for it, and for it alone.
    idle = torch.cuda.memory_reserved(machine.device) - torch.cuda.memory_allocated(machine.device)
    return FreeMemory(device="cuda", free_bytes=free + idle)


def free_memory_here() -> FreeMemory:
    """Of the device a run would get, without waiting for torch where there can be no GPU."""
    wanted = os.environ.get(DEVICE_VARIABLE)
    if wanted == "cpu" or not (wanted or any(driver.exists() for driver in GPU_DRIVERS)):
        return FreeMemory(device="cpu", free_bytes=available_ram())
    from isoglot.machine import this_machine

    return free_memory_of(this_machine())


def available_ram(*, proc: Path = PROC, control_groups: Path = CONTROL_GROUPS) -> int:
    """What the system can give without swapping, or what a container or a Slurm job may still take, if less."""
    limits = [*_room_in_control_groups(proc=proc, root=control_groups)]
    for line in _lines(proc / "meminfo"):
        if line.startswith("MemAvailable:"):
            limits.append(1024 * int(line.split()[1]))
    if not limits:
        # Not Linux, where this can be known only from what the machine has.
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits)


def _room_in_control_groups(*, proc: Path, root: Path) -> Iterator[int]:
    """Of this process's group and all that this one is in; those of version 1 are not looked at."""
    for line in _lines(proc / "self" / "cgroup"):
        number, _, name = line.partition("::")
        if number != "0":
            continue
        folder = root / name.strip("/")
        for each in (folder, *folder.parents):
            if not each.is_relative_to(root):
                break
            most, taken = (_lines(each / name) for name in ("memory.max", "memory.current"))
            if most and taken and most[0].isdecimal():
                yield max(0, int(most[0]) - int(taken[0]) + _given_back_at_need(each))


def _given_back_at_need(group: Path) -> int:
    """Files in memory, which count as taken."""
    for line in _lines(group / "memory.stat"):
        if line.startswith("inactive_file "):
            return int(line.split()[1])
    return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
