"""What a machine has to compute with, for the record: it is no part of what an artifact is."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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
    def of_json(cls, content: Mapping[str, Any] | None) -> "Hardware | None":
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
