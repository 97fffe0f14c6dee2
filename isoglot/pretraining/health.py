"""How a run is doing, line by line in a file and, where the user wants it, in TensorBoard."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from statistics import fmean
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from isoglot.errors import IsoglotError
from isoglot.files import file_to_extend, parsed_json
from isoglot.pretraining.run import HEALTH, PretrainingRun, UpdateRecord

if TYPE_CHECKING:
    import torch
    from torch.utils.tensorboard import SummaryWriter

FORWARD_AND_BACKWARD = 3  # a matrix product's backward pass is two more of its size
SECONDS_OF_MEASURING = 0.1
UPDATES_BETWEEN_LINES = 100
SECONDS_BETWEEN_LINES = 10.0  # a line is due when either has gone by
TENSORBOARD_VARIABLE = "ISOGLOT_TENSORBOARD"
EVENTS = "tensorboard"


def useful_operations_per_token(run: PretrainingRun, *, table_size: int) -> float:
    """Multiplications and additions that training the model needs for each token of the windows."""
    # They are the matrix products of the layers, attention over the window, and the softmax at masked positions alone.
    # Look-ups, norms, dropout and the optimizer do not count. The last layer counts at all positions, though the pass
    # computes it at masked ones alone.
    shape = run.shape
    weights = 4 * shape.width**2 + 2 * shape.width * shape.feed_forward
    attention = 2 * run.window * shape.width
    masked_share = run.mask_rate * (run.window - 1) / run.window  # never the first position
    products = shape.layers * (weights + attention) + masked_share * shape.width * table_size
    return FORWARD_AND_BACKWARD * 2 * products


def measured_matmul_peak(device: torch.device) -> float:
    """Operations a second in large matrix products, as training computes them there: bf16 where a GPU has it."""
    # On a CPU it is measured with as many threads as the process uses now.
    import torch

    on_gpu = device.type == "cuda"
    size, products_at_once = (8192, 4) if on_gpu else (1024, 1)
    dtype = torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    # Random numbers, since a GPU computes faster with zeros; from its own generator, to leave the run's draws alone.
    generator = torch.Generator(device=device).manual_seed(0)
    left, right = (torch.randn(size, size, device=device, generator=generator).to(dtype) for _ in range(2))
    product = torch.mm(left, right)

    def seconds() -> float:
        product[0, 0].item()  # waits for the device
        start = perf_counter()
        for _ in range(products_at_once):
            torch.mm(left, right, out=product)
        product[0, 0].item()
        return perf_counter() - start

    end = perf_counter() + SECONDS_OF_MEASURING
    best = seconds()  # once at least: a process that is stopped meanwhile would find that no time is left
    while perf_counter() < end:
        best = min(best, seconds())
    if on_gpu:
        del left, right, product
        torch.cuda.empty_cache()  # others may train on this GPU
    return products_at_once * 2 * size**3 / best


class HealthLog:
    """Gathers updates into lines of a file."""

    # A run that resumes after a kill appends under the next number of `attempt`. Updates that were lost and done again
    # are there once for each attempt.

    def __init__(
        self,
        folder: Path,
        *,
        run: PretrainingRun,
        table_sizes: Mapping[str, int],
        device: torch.device,
        processes: int = 1,
    ):
        self.folder, self.device, self.processes = folder, device, processes
        self.tokens_per_update = run.batch * run.window
        self.num_skipped = 0
        self.gathered: list[UpdateRecord] = []
        self.update = 0
        self.timed_from: tuple[int, float] | None = None
        """The update and the time from which the next line's speed counts."""
        self.tensorboard = TensorBoard(folder) if check_tensorboard() else None
        # Languages may have tables of their own sizes.
        operations = fmean(useful_operations_per_token(run, table_size=size) for size in table_sizes.values())
        self.most_tokens_per_second = processes * measured_matmul_peak(device) / operations
        folder.mkdir(parents=True, exist_ok=True)
        self.attempt = _latest_attempt(folder / HEALTH) + 1

    def __call__(self, records: Sequence[UpdateRecord]) -> None:
        """Add updates that were done, in their order."""
        if not records:
            return
        if records[0].update <= self.update:
            # Processes that train together were started again.
            self._write_gathered()
            self.attempt, self.num_skipped, self.timed_from = self.attempt + 1, 0, None
        self.update = records[-1].update
        self.num_skipped += sum(record.skipped for record in records)
        self.gathered += records
        if self.timed_from is None:
            # Not from the start, as the first updates had to wait for everything to be set up.
            self.timed_from = self.update, monotonic()
        if len(self.gathered) >= UPDATES_BETWEEN_LINES or monotonic() - self.timed_from[1] >= SECONDS_BETWEEN_LINES:
            self._write_gathered()

    def remark(self, text: str) -> None:
        self._write({"remark": text})

    def close(self) -> None:
        """Write the updates since the last line."""
        self._write_gathered()
        if self.tensorboard is not None:
            self.tensorboard.close()

    def _write_gathered(self) -> None:
        if not self.gathered or self.timed_from is None:
            return
        now, (timed_update, timed_at) = monotonic(), self.timed_from
        updates, seconds = self.update - timed_update, now - timed_at
        speed = updates * self.tokens_per_update / seconds if updates and seconds else None
        peak_memory = None
        # Known for a GPU that this process trains on, and not where others train.
        if self.device.type == "cuda" and self.processes == 1:
            import torch

            peak_memory = torch.cuda.max_memory_allocated(self.device)
        numbers: dict[str, object] = {
            "tokens": self.update * self.tokens_per_update,
            **_learning(self.gathered),
            "tokens_per_second": speed,
            "useful_mfu": None if speed is None else speed / self.most_tokens_per_second,
            "skipped": self.num_skipped,
            "peak_memory_bytes": peak_memory,
        }
        self._write(numbers)
        if self.tensorboard is not None:
            self.tensorboard.write(numbers, update=self.update, first_update=self.gathered[0].update)
        self.gathered, self.timed_from = [], (self.update, now)

    def _write(self, content: Mapping[str, object]) -> None:
        time = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"attempt": self.attempt, "update": self.update, "time": time, **content}
        # One write for each line, so that programs that follow the file see whole ones.
        with file_to_extend(self.folder / HEALTH) as file:
            file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def _learning(records: Sequence[UpdateRecord]) -> dict[str, object]:
    """Means over updates that were not skipped, and the largest gradient of all that have one."""
    taken = [record for record in records if not record.skipped]
    languages = sorted({language for record in taken for language in record.losses})
    norms = [record.gradient_norm for record in records if isfinite(record.gradient_norm)]
    return {
        "loss": _mean(fmean(record.losses.values()) for record in taken if record.losses),
        "losses": {name: _mean(record.losses[name] for record in taken if name in record.losses) for name in languages},
        "gradient_norm": _mean(record.gradient_norm for record in taken),
        "largest_gradient_norm": max(norms, default=None),
        "learning_rate": records[-1].learning_rate,
    }


def _mean(values: Iterable[float]) -> float | None:
    """The mean of finite values; None where there are none, since JSON has no nan."""
    numbers = [value for value in values if isfinite(value)]
    return fmean(numbers) if numbers else None


def _latest_attempt(path: Path) -> int:
    """The highest attempt in the file, 0 where there is none; a line that a kill left unfinished is cut off."""
    latest = end = position = 0
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        position += len(line)
        with suppress(ValueError, KeyError, TypeError):
            latest = max(latest, int(parsed_json(line)["attempt"]))
            end = position if line.endswith(b"\n") else end
    if end < position:
        os.truncate(path, end)
    return latest


def check_tensorboard() -> bool:
    """Whether the environment wants event files; raises, without loading torch, where they could not be written."""
    value = os.environ.get(TENSORBOARD_VARIABLE, "")
    if value not in ("", "0", "1"):
        raise IsoglotError(f"{TENSORBOARD_VARIABLE}={value!r} says neither yes nor no; set it to 1, or unset it")
    if value == "1" and find_spec("tensorboard") is None:
        raise IsoglotError(
            f"{TENSORBOARD_VARIABLE}=1 needs a library; get it with: pip install tensorboard, "
            f"or unset {TENSORBOARD_VARIABLE}"
        )
    return value == "1"


class TensorBoard:
    """Event files beside the health log."""

    def __init__(self, folder: Path):
        self.folder = folder / EVENTS
        self.writer: SummaryWriter | None = None

    def write(self, numbers: Mapping[str, object], *, update: int, first_update: int) -> None:
        """Write all numbers that are there; those of languages get names like losses/en."""
        from torch.utils.tensorboard import SummaryWriter

        if self.writer is None:
            # Hides what a killed attempt wrote about updates that this attempt does again.
            self.writer = SummaryWriter(self.folder, purge_step=first_update)
        for name, value in numbers.items():
            tagged = (
                {f"{name}/{key}": each for key, each in value.items()} if isinstance(value, Mapping) else {name: value}
            )
            for tag, number in tagged.items():
                if isinstance(number, int | float):
                    self.writer.add_scalar(tag, number, update)
        self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
