"""Where and how a run runs, never what it is: device, precision and threads."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    import torch


def number_in(variable: str, *, of: str) -> int | None:
    """The number of something that an environment variable gives; None where it is not set."""
    wanted = os.environ.get(variable)
    if not wanted:
        return None
    if not wanted.isdecimal() or int(wanted) < 1:
        raise IsoglotError(f"{variable}={wanted!r} is no number of {of}; unset it, or give 1 or more")
    return int(wanted)


DEVICE_VARIABLE = "ISOGLOT_DEVICE"
PROCESSES_VARIABLE = "ISOGLOT_PROCESSES_PER_MODEL"
LARGE_ACTIVATIONS = 1 << 18
ARM = ("aarch64", "arm64")
"""As Linux and macOS call it."""
GUESSED_OPERATIONS_PER_SECOND: Mapping[str, float] = {"cpu": 5e10, "cuda": 5e13}
"""What any device of the type should manage, two cores of a CPU among them."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One process's share of a computer."""

    device: torch.device

    def autocast(self, *, cache: bool = True) -> AbstractContextManager[object]:
        """bf16 arithmetic where the device has it; weights stay in fp32.

        What is recorded as a CUDA graph must cast weights every time, without a cache.
        """
        import torch

        if self.compute_dtype is torch.bfloat16:
            return torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=cache)
        return nullcontext()

    @property
    def compute_dtype(self) -> torch.dtype:
        """Of the numbers in matrix products: bf16 where the device has it and does not only emulate it."""
        import torch

        has_bf16 = self.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if has_bf16 else torch.float32

    def seed(self, number: int) -> None:
        """Begin the device's own random draws anew, as those of dropout.

        torch.manual_seed would do so on all devices, and keep for those without driver a list of who called.
        """
        import torch

        if self.device.type == "cuda":
            torch.cuda.manual_seed(number)
        else:
            torch.default_generator.manual_seed(number)

    def wait(self) -> None:
        """Until the device has done all it was told to, as a clock must before it is read."""
        import torch

        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @contextmanager
    def threads_for(self, *, num_activations: int) -> Iterator[None]:
        """One thread where a layer's output is small.

        Threads that share tiny tensors mostly wait for each other, and where another program has a core they wait long.
        """
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1 if num_activations < LARGE_ACTIVATIONS else before)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    @contextmanager
    def derivatives(self) -> Iterator[None]:
        """Without oneDNN on ARM, which has nothing but reference code for GELU's, four times as slow as torch's own.

        Products of matrices go through it in a forward pass alone, and are the faster for it.
        """
        import torch

        if self.device.type != "cpu" or platform.machine() not in ARM:
            yield
            return
        was_enabled, *_ = torch.backends.mkldnn.set_flags(False)  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            torch.backends.mkldnn.set_flags(was_enabled)  # type: ignore[no-untyped-call]


def processes_per_model() -> int:
    """How many processes train one model together, each on a GPU of its own; one unless the environment says more."""
    return number_in(PROCESSES_VARIABLE, of="processes") or 1


def this_machine() -> Machine:
    """The GPU if there is one, else the CPU; the environment variable ISOGLOT_DEVICE decides otherwise."""
    import torch

    wanted = os.environ.get(DEVICE_VARIABLE) or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.empty(1, device=device)
        if device.type == "cuda" and device.index is not None:
            # CUDA graphs are recorded on the current device, whichever the tensors are on.
            torch.cuda.set_device(device)
    except (RuntimeError, AssertionError) as error:
        raise IsoglotError(
            f"{DEVICE_VARIABLE}={wanted!r} is no device that torch can use here; unset it, or take cpu, cuda or cuda:0"
        ) from error
    return Machine(device=device)


WORKERS_VARIABLE = "ISOGLOT_WORKERS"


def num_workers() -> int:
    """One for each processor that this process may use; the environment variable ISOGLOT_WORKERS decides otherwise."""
    return number_in(WORKERS_VARIABLE, of="processes") or num_processors()


def num_processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
