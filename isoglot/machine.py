"""How and where a run computes, never what it computes: device, precision, threads and processes."""

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

DEVICE_VARIABLE = "ISOGLOT_DEVICE"
PROCESSES_VARIABLE = "ISOGLOT_PROCESSES_PER_MODEL"
LONGEST_NUMBER = 9  # digits
WORKERS_VARIABLE = "ISOGLOT_WORKERS"
LARGE_ACTIVATIONS = 1 << 18
ARM = ("aarch64", "arm64")  # as Linux and macOS call it
# A cautious guess for any device of the type, such as two cores of a CPU.
GUESSED_OPERATIONS_PER_SECOND: Mapping[str, float] = {"cpu": 5e10, "cuda": 5e13}


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One process's share of a computer."""

    device: torch.device

    def autocast(self, *, cache: bool = True) -> AbstractContextManager[object]:
        """bf16 arithmetic where the device has it; weights stay in fp32."""
        import torch

        if self.compute_dtype is not torch.bfloat16:
            return nullcontext()
        # A CUDA graph must record the casts of the weights, so it needs `cache=False`.
        return torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=cache)

    @property
    def compute_dtype(self) -> torch.dtype:
        """The type of matrix products: bf16 where the device has it and does not only emulate it."""
        import torch

        has_bf16 = self.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if has_bf16 else torch.float32

    def seed(self, number: int) -> None:
        """Seed the device's own generator, which dropout draws from."""
        import torch

        # torch.manual_seed would seed every device, and keep a list of callers for those without a driver.
        if self.device.type == "cuda":
            torch.cuda.manual_seed(number)
        else:
            torch.default_generator.manual_seed(number)

    def wait(self) -> None:
        """Wait until the device has finished all queued work, as before reading a clock."""
        import torch

        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @contextmanager
    def threads_for(self, *, num_activations: int) -> Iterator[None]:
        """Use one thread where a layer's output is small: threads that share tiny tensors mostly wait."""
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1 if num_activations < LARGE_ACTIVATIONS else before)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    @contextmanager
    def derivatives(self) -> Iterator[None]:
        """Switch oneDNN off on ARM: its derivative of GELU is four times as slow there as torch's own."""
        import torch

        if self.device.type != "cpu" or platform.machine() not in ARM:
            yield
            return
        was_enabled, *_ = torch.backends.mkldnn.set_flags(False)  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            torch.backends.mkldnn.set_flags(was_enabled)  # type: ignore[no-untyped-call]


def this_machine() -> Machine:
    """The GPU if there is one, else the CPU; the environment variable ISOGLOT_DEVICE overrides this."""
    import torch

    name = os.environ.get(DEVICE_VARIABLE) or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
        if device.type == "cuda" and device.index is not None:
            # CUDA graphs are recorded on the current device, whichever the tensors are on.
            torch.cuda.set_device(device)
    except (RuntimeError, AssertionError) as error:
        known = "cpu, cuda or cuda:0" if torch.cuda.is_available() else "cpu"
        raise IsoglotError(
            f"{DEVICE_VARIABLE}={name!r} is no device that torch can use here; unset it, or take {known}"
        ) from error
    # From torch 2.11 on cuDNN's attention has gradients that are no numbers where all scores of a query are low
    # (pytorch issue 196678).
    torch.backends.cuda.enable_cudnn_sdp(False)
    return Machine(device=device)


def number_in(variable: str, *, of: str) -> int | None:
    """The number in an environment variable; None where it is not set."""
    text = os.environ.get(variable)
    if not text:
        return None
    if not text.isdecimal() or len(text) > LONGEST_NUMBER or int(text) < 1:
        raise IsoglotError(f"{variable}={text!r} is no number of {of}; unset it, or give 1 to 999999999")
    return int(text)


def processes_per_model() -> int:
    """How many processes train one model together, each on its own GPU; 1 unless the environment says more."""
    return number_in(PROCESSES_VARIABLE, of="processes") or 1


def num_workers() -> int:
    """ISOGLOT_WORKERS, or else one worker for each processor that this process may use."""
    return number_in(WORKERS_VARIABLE, of="processes") or num_processors()


def num_processors() -> int:
    # cpu_count has all of the machine's, of which a job or a container may use a few.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
