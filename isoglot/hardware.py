"""What a machine has to compute with, for the record: it is no part of what an artifact is."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE

if TYPE_CHECKING:
    from isoglot.machine import Machine

VISIBLE_VARIABLE = "CUDA_VISIBLE_DEVICES"
PROCESSORS = Path("/proc/cpuinfo")


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """As a process saw it that made something there."""

    processor: str
    """Its name: "AMD EPYC 9554 64-Core Processor"."""
    cores: int
    """That the process might use."""
    memory_bytes: int
    gpus: tuple[str, ...]
    """Names of those that the process might use, whether it did or not."""

    @classmethod
    def of_json(cls, content: Mapping[str, Any] | None) -> Hardware | None:
        """As a record has it; none in a record that says nothing of it."""
        return None if content is None else cls(**{**content, "gpus": tuple(content["gpus"])})


@cache
def hardware() -> Hardware:
    """Of this machine."""
    return Hardware(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        gpus=visible_gpus(_driver_listing(), visible=os.environ.get(VISIBLE_VARIABLE)),
    )


def _processor() -> str:
    """By the name that its maker gave it, where the system tells that."""
    import platform  # with subprocess below, more time than the rest of this package takes to import

    try:
        named = re.search(r"^model name\s*:\s*(.+)$", PROCESSORS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def _driver_listing() -> str:
    """A line for each GPU, as the driver's own program prints it; nothing where there is none."""
    import subprocess

    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def visible_gpus(listing: str, *, visible: str | None) -> tuple[str, ...]:
    """Names from lines such as "GPU 0: NVIDIA H200 (UUID: GPU-5f...)", those that CUDA_VISIBLE_DEVICES lets through."""
    found = re.findall(r"^GPU (\d+): (.+?) \(UUID: ([^)]+)\)", listing, flags=re.MULTILINE)
    if visible is None:
        return tuple(name for _, name, _ in found)
    chosen = []
    for wanted in (word.strip() for word in visible.split(",")):
        fitting = [name for index, name, uuid in found if wanted == index or (wanted and uuid.startswith(wanted))]
        if not fitting:
            # As CUDA does: what follows a name that is none is not seen either.
            break
        chosen.append(fitting[0])
    return tuple(chosen)


NO_MORE = ("", "-1")


def usable_gpus() -> tuple[str, ...]:
    """The names that CUDA_VISIBLE_DEVICES has for those this process may use; none if ISOGLOT_DEVICE is no GPU."""
    device, _, index = os.environ.get(DEVICE_VARIABLE, "").partition(":")
    if device not in ("", "cuda"):
        return ()
    gpus = _visible(_num_installed())
    return gpus[int(index) : int(index) + 1] if index.isdecimal() else gpus


def _visible(installed: int) -> tuple[str, ...]:
    visible = os.environ.get(VISIBLE_VARIABLE)
    if visible is None or not installed:
        return tuple(str(index) for index in range(installed))
    names = (name.strip() for name in visible.split(","))
    return tuple(takewhile(lambda name: name not in NO_MORE, names))


def _num_installed() -> int:
    """By the driver's own program, which takes a second at most; torch would take several."""
    try:
        answer = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        # A container may have GPUs without the program.
        return len(list(Path("/dev").glob("nvidia[0-9]*")))
    return sum(line.startswith("GPU ") for line in answer.stdout.splitlines())


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
