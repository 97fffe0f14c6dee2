"""How a run is doing, line by line, for people and programs that watch it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from math import inf, isfinite
from pathlib import Path
from statistics import fmean
from time import monotonic, perf_counter

import torch

from isoglot.pretraining.run import HEALTH, PretrainingRun, UpdateRecord
from isoglot.pretraining.tensorboard import TensorBoard, is_wanted

FORWARD_AND_BACKWARD = 3
"""A matrix product's backward pass is two more of its size."""
SECONDS_OF_MEASURING = 0.2


def useful_operations_per_token(run: PretrainingRun, *, table_size: int) -> float:
    """Multiplications and additions of the model that is trained, for each token of the windows.

    Matrix products of the layers, attention over the window, and the softmax at masked positions alone. What a device
    spends on look-ups, norms, dropout, the optimizer or on computing anything twice is not useful in this sense; what
    it is spared, as the last layer where no word is masked, counts as if it had been done.
    """
    shape = run.shape
    weights = 4 * shape.width**2 + 2 * shape.width * shape.feed_forward
    attention = 2 * run.window * shape.width
    masked_share = run.mask_rate * (run.window - 1) / run.window  # never the first position
    products = shape.layers * (weights + attention) + masked_share * shape.width * table_size
    return FORWARD_AND_BACKWARD * 2 * products


def measured_matmul_peak(device: torch.device) -> float:
    """Operations a second in large matrix products, as training computes them there: bf16 where a GPU has it.

    On a CPU with as many threads as the process uses now.
    """
    import torch

    return _measured_matmul_peak(device, num_threads=torch.get_num_threads())


@cache
def _measured_matmul_peak(device: torch.device, *, num_threads: int) -> float:  # noqa: ARG001
    import torch

    on_gpu = device.type == "cuda"
    size, products_at_once = (8192, 4) if on_gpu else (1024, 1)
    dtype = torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    # Random numbers, since a GPU computes faster with zeros; of a generator of its own, as the run has its own draws.
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

    best, end = inf, perf_counter() + SECONDS_OF_MEASURING
    while perf_counter() < end:
        best = min(best, seconds())
    if on_gpu:
        del left, right, product
        torch.cuda.empty_cache()  # others may train on this GPU
    return products_at_once * 2 * size**3 / best


UPDATES_BETWEEN_LINES = 100
SECONDS_BETWEEN_LINES = 10.0
"""A line is due when either has gone by."""


class HealthLog:
    """Gathers updates into lines of a file; without a folder it does nothing.

    A run that goes on after a kill appends, under the next number of `attempt`: updates that were lost and done again
    stand there once for each.
    """

    def __init__(
        self,
        folder: Path | None,
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
        if folder is not None:
            self.tensorboard = TensorBoard(folder) if is_wanted() else None
            self.most_tokens_per_second = processes * measured_matmul_peak(device) / _operations(run, table_sizes)
            folder.mkdir(parents=True, exist_ok=True)
            self.attempt = _latest_attempt(folder / HEALTH) + 1

    def __call__(self, records: Sequence[UpdateRecord]) -> None:
        """Take note of updates that were done, in their order."""
        if self.folder is None or not records:
            return
        if records[0].update <= self.update:
            # Processes that train together were started again.
            self._begin_again()
        self.update = records[-1].update
        self.num_skipped += sum(record.skipped for record in records)
        self.gathered += records
        now = monotonic()
        if self.timed_from is None:
            # Not from the start on, as the first updates had to wait for everything to be set up.
            self.timed_from = self.update, now
        if len(self.gathered) >= UPDATES_BETWEEN_LINES or now - self.timed_from[1] >= SECONDS_BETWEEN_LINES:
            self._write_gathered(now)

    def _begin_again(self) -> None:
        if self.gathered:
            self._write_gathered(monotonic())
        self.attempt, self.num_skipped, self.timed_from = self.attempt + 1, 0, None

    def remark(self, text: str) -> None:
        """Keep a sentence that was said to the user."""
        self._write({"remark": text})

    def close(self) -> None:
        """Write what has been gathered since the last line."""
        if self.gathered:
            self._write_gathered(monotonic())
        if self.folder is not None and self.tensorboard is not None:
            self.tensorboard.close()

    def _write_gathered(self, now: float) -> None:
        speed = self._tokens_per_second(now)
        numbers: dict[str, object] = {
            "tokens": self.update * self.tokens_per_update,
            **_learning(self.gathered),
            "tokens_per_second": speed,
            "useful_mfu": None if speed is None else speed / self.most_tokens_per_second,
            "skipped": self.num_skipped,
            "peak_memory_bytes": self._peak_memory(),
        }
        self._write(numbers)
        if self.tensorboard is not None:
            self.tensorboard.write(numbers, update=self.update, first_update=self.gathered[0].update)
        self.gathered, self.timed_from = [], (self.update, now)

    def _peak_memory(self) -> int | None:
        """Of this process, hence unknown where others train."""
        is_here = self.device.type == "cuda" and self.processes == 1
        return torch.cuda.max_memory_allocated(self.device) if is_here else None

    def _tokens_per_second(self, now: float) -> float | None:
        if self.timed_from is None:
            return None
        updates, seconds = self.update - self.timed_from[0], now - self.timed_from[1]
        return updates * self.tokens_per_update / seconds if updates and seconds else None

    def _write(self, content: Mapping[str, object]) -> None:
        if self.folder is None:
            return
        time = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"attempt": self.attempt, "update": self.update, "time": time, **content}
        # One write for each line, so that who reads along sees whole ones.
        with (self.folder / HEALTH).open("ab", buffering=0) as file:
            file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def _learning(records: Sequence[UpdateRecord]) -> dict[str, object]:
    """Means over updates that were not skipped, and the largest gradient of all that have one."""
    taken = [record for record in records if not record.skipped]
    languages = sorted({language for record in taken for language in record.losses})
    norms = [record.gradient_norm for record in records if isfinite(record.gradient_norm)]
    return {
        "loss": _mean(fmean(record.losses.values()) for record in taken if record.losses),
        "losses": {
            language: _mean(record.losses[language] for record in taken if language in record.losses)
            for language in languages
        },
        "gradient_norm": _mean(record.gradient_norm for record in taken),
        "largest_gradient_norm": max(norms, default=None),
        "learning_rate": records[-1].learning_rate,
    }


def _mean(values: Iterable[float]) -> float | None:
    """Of numbers; None where there are none, which JSON can say."""
    numbers = [value for value in values if isfinite(value)]
    return fmean(numbers) if numbers else None


def _operations(run: PretrainingRun, table_sizes: Mapping[str, int]) -> float:
    """Useful ones for each token, over languages that may have tables of their own."""
    return fmean(useful_operations_per_token(run, table_size=size) for size in table_sizes.values())


def _latest_attempt(path: Path) -> int:
    """The highest number in the file, 0 where there is none; a line that a kill left unfinished is cut off."""
    latest = end = position = 0
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    for line in lines:
        position += len(line)
        try:
            latest = max(latest, int(json.loads(line)["attempt"]))
        except (ValueError, KeyError, TypeError):
            continue
        if line.endswith(b"\n"):
            end = position
    if end < position:
        with path.open("r+b") as file:
            file.truncate(end)
    return latest
