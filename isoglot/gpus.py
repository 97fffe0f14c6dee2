"""Which GPUs there are, found without torch."""

import os
import subprocess
from itertools import takewhile
from pathlib import Path

from isoglot.artifacts.hardware import VISIBLE_VARIABLE
from isoglot.machine import DEVICE_VARIABLE

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
