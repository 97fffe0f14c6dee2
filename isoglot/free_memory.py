"""How much memory a model may take on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE

if TYPE_CHECKING:
    from isoglot.machine import Machine

SHARE_VARIABLE = "ISOGLOT_MEMORY_SHARE"
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
    """This process's share of what is free at this moment."""
    if machine.device.type != "cuda":
        return _share_of_ram()
    import torch

    free, _ = torch.cuda.mem_get_info(machine.device)
    # What torch holds and does not use is free for it, and for it alone.
    idle = torch.cuda.memory_reserved(machine.device) - torch.cuda.memory_allocated(machine.device)
    return FreeMemory(device="cuda", free_bytes=int(memory_share() * free) + idle)


def free_memory_here() -> FreeMemory:
    """Of the device a run would get, without waiting for torch where there can be no GPU."""
    wanted = os.environ.get(DEVICE_VARIABLE)
    if wanted == "cpu" or not (wanted or any(driver.exists() for driver in GPU_DRIVERS)):
        return _share_of_ram()
    from isoglot.machine import this_machine

    return free_memory_of(this_machine())


def memory_share() -> float:
    """What part of free memory this process may plan with: one of several workers gets less than all of it."""
    wanted = os.environ.get(SHARE_VARIABLE) or "1"
    try:
        share = float(wanted)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise IsoglotError(f"{SHARE_VARIABLE}={wanted!r} is no share of the memory; unset it, or give 0.5 for a half")
    return share


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


def _share_of_ram() -> FreeMemory:
    return FreeMemory(device="cpu", free_bytes=int(memory_share() * available_ram()))


def _room_in_control_groups(*, proc: Path, root: Path) -> Iterator[int]:
    """Of this process's group and all that this one is in, in both versions of control groups."""
    for line in _lines(proc / "self" / "cgroup"):
        number, controllers, name = line.split(":", maxsplit=2)
        if number == "0":
            top, limits = root, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, limits = root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        folder = top / name.strip("/")
        for each in (folder, *folder.parents):
            if not each.is_relative_to(top):
                break
            most, taken = (_lines(each / limit) for limit in limits)
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
