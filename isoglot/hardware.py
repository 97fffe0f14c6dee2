"""The machine's processor, memory and GPUs: for the record of an artifact, and to share them among processes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, num_processors

if TYPE_CHECKING:
    from isoglot.machine import Machine

VISIBLE_VARIABLE = "CUDA_VISIBLE_DEVICES"
SHARE_VARIABLE = "ISOGLOT_MEMORY_SHARE"
PROC = Path("/proc")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
PROCESSORS = Path("/sys/devices/system/cpu")
MPS_PROGRAM = "nvidia-cuda-mps-control"
MPS_VARIABLE = "CUDA_MPS_PIPE_DIRECTORY"
MPS_DEFAULT = Path("/tmp/nvidia-mps")  # the driver's own choice
MPS_SECONDS = 30
# The smallest program that uses a GPU.
GPU_CLIENT = """
import ctypes
cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
raise SystemExit(
    cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0)
    or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
)
"""
GPU_DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/dxg"), Path("/dev/kfd"))


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """A machine as a process saw it. It is recorded with an artifact and is no part of its identity."""

    processor: str  # a name such as "AMD EPYC 9554 64-Core Processor"
    cores: int  # with the GPUs, only those that the process was allowed to use
    memory_bytes: int
    gpus: tuple[str, ...]


def hardware() -> Hardware:
    return Hardware(
        processor=_processor(),
        cores=num_processors(),
        memory_bytes=_installed_ram(),
        gpus=visible_gpus(_driver_listing() or "", visible=os.environ.get(VISIBLE_VARIABLE)),
    )


def machine_in_brief(*, processors: Path = PROCESSORS) -> str:
    """For people, beside a time: "Intel Xeon 8488C, 2 threads of 1 core, torch 2.11.0"."""
    from importlib import metadata

    seen, mine = hardware(), usable_gpus()
    numbers = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(seen.cores)
    # Two threads of one core get little more done than one of them alone.
    siblings = {tuple(_lines(processors / f"cpu{number}/topology/thread_siblings_list")) for number in numbers}
    physical = seen.cores if () in siblings else len(siblings)
    words = _counted(seen.cores, "core")
    if physical < seen.cores:
        words = f"{seen.cores} threads of {_counted(physical, 'core')}"
    gpus = [f"{len(mine)} x {seen.gpus[0]}" if len(mine) > 1 else seen.gpus[0]] if mine and seen.gpus else []
    return ", ".join([seen.processor, words, *gpus, f"torch {metadata.version('torch')}"])


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def visible_gpus(listing: str, *, visible: str | None) -> tuple[str, ...]:
    """Names from lines such as "GPU 0: NVIDIA H200 (UUID: GPU-5f...)", filtered by CUDA_VISIBLE_DEVICES."""
    gpus = re.findall(r"^GPU (\d+): (.+?) \(UUID: ([^)]+)\)", listing, flags=re.MULTILINE)
    if visible is None:
        return tuple(name for _, name, _ in gpus)
    chosen = []
    for wanted in (word.strip() for word in visible.split(",")):
        matching = [name for index, name, uuid in gpus if wanted == index or (wanted and uuid.startswith(wanted))]
        if not matching:
            # CUDA, too, ignores everything after the first entry that names no GPU.
            break
        chosen.append(matching[0])
    return tuple(chosen)


def usable_gpus() -> tuple[str, ...]:
    """The GPUs this process may use, as CUDA_VISIBLE_DEVICES names them; none if ISOGLOT_DEVICE is no GPU."""
    device, _, index = os.environ.get(DEVICE_VARIABLE, "").partition(":")
    if device not in ("", "cuda"):
        return ()
    listing = _driver_listing()
    # A container may have GPUs without the driver's program.
    devices = Path("/dev").glob("nvidia[0-9]*") if listing is None else re.findall(r"^GPU ", listing, re.MULTILINE)
    gpus = tuple(str(number) for number, _ in enumerate(devices))
    visible = os.environ.get(VISIBLE_VARIABLE)
    if gpus and visible is not None:
        names = (name.strip() for name in visible.split(","))
        gpus = tuple(takewhile(lambda name: name not in ("", "-1"), names))
    return gpus[int(index) : int(index) + 1] if index.isdecimal() else gpus


def sharing_environment() -> dict[str, str] | None:
    """Variables that let processes compute on one GPU at the same moment, by NVIDIA's MPS; None where it cannot be had.

    Without it they take turns. A service that this process starts ends with it, even by kill -9.
    """
    import atexit
    import ctypes
    import shutil
    import signal
    import subprocess
    import sys
    import tempfile
    import time

    if os.environ.get(MPS_VARIABLE) or MPS_DEFAULT.exists():
        return {}  # it runs already
    if shutil.which(MPS_PROGRAM) is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="isoglot-mps-"))
    environment = {MPS_VARIABLE: str(folder)}
    system = os.environ | environment | {"CUDA_MPS_LOG_DIRECTORY": str(folder)}
    libc, end_signal = ctypes.CDLL(None), 1  # PR_SET_PDEATHSIG
    service = subprocess.Popen(
        [MPS_PROGRAM, "-f"],
        env=system,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the workers, which end before it
        preexec_fn=lambda: libc.prctl(end_signal, signal.SIGTERM),
    )

    def end() -> None:
        service.terminate()
        service.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    with suppress(OSError, subprocess.SubprocessError):
        deadline = time.monotonic() + MPS_SECONDS
        while not (folder / "control").exists() and service.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        # A client that finds no service computes by itself, so the service is asked whether it came.
        subprocess.run([sys.executable, "-c", GPU_CLIENT], env=system, check=True, timeout=MPS_SECONDS)
        answer = subprocess.run(
            [MPS_PROGRAM], input=b"get_server_list", env=system, capture_output=True, check=True, timeout=MPS_SECONDS
        )
        if answer.stdout.strip():
            return environment
    atexit.unregister(end)
    end()
    return None


def _driver_listing() -> str | None:
    """One line per GPU from the driver's own program, which is much faster than torch; None where it fails."""
    return _output_of("nvidia-smi", "-L")


def _output_of(*command: str) -> str | None:
    import subprocess  # with platform below, slower to import than the rest of this module

    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


@cache
def _processor() -> str:
    import platform

    names = [line.partition(":")[2].strip() for line in _lines(PROC / "cpuinfo") if line.startswith("model name")]
    # On ARM the kernel gives numbers alone, for which lscpu has the names.
    names = names or re.findall(r"^Model name: +(.+)$", _output_of("lscpu") or "", flags=re.MULTILINE)
    return names[0] if names else platform.processor() or platform.machine()


@dataclass(frozen=True, kw_only=True)
class FreeMemory:
    """Free memory of the device that trains, "cpu" or "cuda"."""

    device: str
    free_bytes: int


def free_memory_of(machine: Machine) -> FreeMemory:
    """This process's share of the memory that is free at this moment."""
    if machine.device.type != "cuda":
        return _share_of_ram()
    import torch

    free, _ = torch.cuda.mem_get_info(machine.device)
    # Memory that torch has reserved and does not use is free for this process alone.
    idle = torch.cuda.memory_reserved(machine.device) - torch.cuda.memory_allocated(machine.device)
    return FreeMemory(device="cuda", free_bytes=int(memory_share() * free) + idle)


def free_memory_here() -> FreeMemory:
    """Free memory of the device a run would get. Where there can be no GPU, torch is not imported."""
    device = os.environ.get(DEVICE_VARIABLE)
    if device == "cpu" or not (device or any(driver.exists() for driver in GPU_DRIVERS)):
        return _share_of_ram()
    from isoglot.machine import this_machine

    return free_memory_of(this_machine())


def memory_share() -> float:
    """The part of free memory that this process may plan with; less than 1 for one of several workers."""
    text, share = os.environ.get(SHARE_VARIABLE) or "1", 0.0
    with suppress(ValueError):
        share = float(text)
    if not 0 < share <= 1:
        raise IsoglotError(f"{SHARE_VARIABLE}={text!r} is no share of the memory; unset it, or give 0.5 for a half")
    return share


def available_ram(*, proc: Path = PROC, control_groups: Path = CONTROL_GROUPS) -> int:
    """Bytes the system can give without swapping, or less where a container or a Slurm job has a limit."""
    limits = [*_room_in_control_groups(proc=proc, root=control_groups)]
    limits += [1024 * int(line.split()[1]) for line in _lines(proc / "meminfo") if line.startswith("MemAvailable:")]
    # Other systems than Linux report only what is installed.
    return min(limits or [_installed_ram()])


def _installed_ram() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _share_of_ram() -> FreeMemory:
    return FreeMemory(device="cpu", free_bytes=int(memory_share() * available_ram()))


def _room_in_control_groups(*, proc: Path, root: Path) -> Iterator[int]:
    """Bytes left in this process's control group and in each group around it, for versions 1 and 2."""
    for line in _lines(proc / "self" / "cgroup"):
        number, controllers, name = line.split(":", maxsplit=2)
        if number == "0":
            top, files = root, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, files = root / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        folder = top / name.strip("/")
        for group in (folder, *folder.parents):
            if not group.is_relative_to(top):
                break
            limit, used = (_lines(group / file) for file in files)
            if limit and used and limit[0].isdecimal():
                # Cached files count as used, but the kernel drops them when memory is needed.
                stat = dict(line.split() for line in _lines(group / "memory.stat"))
                yield max(0, int(limit[0]) - int(used[0]) + int(stat.get("inactive_file", 0)))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
