"""The needs of a run, predicted before it starts: parameters exactly, memory within a few percent, and disk."""

# A batch is read in pieces. C = masked positions of a piece, V = tokens of the largest table

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from isoglot.errors import IsoglotError, option
from isoglot.hardware import FreeMemory, memory_share
from isoglot.machine import number_in
from isoglot.pretraining.run import EVALUATED_AT_ONCE, PretrainingRun
from isoglot.study.scales import NormPlacement

FLOAT = 4
ID = 8
MOMENTS = 2
ALIGNMENT = 64
"""In training every tensor begins at a multiple of so many numbers, as matrix products want round addresses."""
DRAWN_BYTES = 1 + FLOAT + ID
"""Bytes drawn to mask a token: whether it is chosen, its fate, and another word."""
GPU_FIXED_BYTES = 64 << 20  # workspaces of libraries and sums of kernels
DESCRIPTION_BYTES, LOG_LINE_BYTES = 500, 250
TENSORS_OF_A_BLOCK, TENSORS_OF_A_TABLE, TENSORS_OF_A_NORM = 12, 5, 2
HEADER_BYTES = 140  # a tensor's name, shape and place in a safetensors file
MICRO_BATCH_VARIABLE = "ISOGLOT_MICRO_BATCH"
USABLE_SHARE = 0.9
"""Share of free memory to plan with: predictions are a few percent off, and memory gets fragmented."""
GIGABYTE = 1e9


def aligned(numbers: int) -> int:
    """How many numbers a tensor of this size takes in training."""
    return ceil(numbers / ALIGNMENT) * ALIGNMENT


def num_parameters(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """Parameters of the whole model: what the languages share once, and what each owns."""
    shared, *owned = _num_shared_and_owned(run, table_sizes)
    return shared + sum(owned)


def num_read(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """Parameters that take part when one language is read, for the language that owns most."""
    shared, *owned = _num_shared_and_owned(run, table_sizes)
    return shared + max(owned)


def _num_shared_and_owned(run: PretrainingRun, table_sizes: Mapping[str, int]) -> list[int]:
    shape, separate = run.shape, run.separate
    with_one, without = (replace(shape, layers=layers).num_parameters(table_size=0) for layers in (1, 0))
    block = with_one - without
    no_layers = replace(shape, layers=0, norm=NormPlacement.POST)
    biases = list(table_sizes.values())
    # Embeddings with their norm; the softmax has no other number than a bias for each word.
    tables = [no_layers.num_parameters(table_size=size) - size for size in biases]
    top = 2 * shape.width if shape.norm is NormPlacement.PRE else 0
    shared = (shape.layers - len(separate.layers)) * block + top
    shared += (0 if separate.embeddings else max(tables)) + (0 if separate.has_own_bias else max(biases))
    own_layers = len(separate.layers) * block
    return [
        shared,
        *(
            own_layers + (table if separate.embeddings else 0) + (bias if separate.has_own_bias else 0)
            for table, bias in zip(tables, biases, strict=True)
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class DiskUse:
    """Disk space of one run."""

    run: PretrainingRun
    table_sizes: Mapping[str, int]

    @cached_property
    def weight_bytes(self) -> int:
        return FLOAT * num_parameters(self.run, table_sizes=self.table_sizes)

    @property
    def model_bytes(self) -> int:
        """A model file with its description."""
        return self.weight_bytes + self._header_bytes + DESCRIPTION_BYTES

    @property
    def checkpoint_bytes(self) -> int:
        """Weights and Adam's moments."""
        return (1 + MOMENTS) * self.weight_bytes + self._header_bytes

    @property
    def _header_bytes(self) -> int:
        owners, separate = len(self.table_sizes), self.run.separate
        blocks = self.run.shape.layers + len(separate.layers) * (owners - 1)
        tables = owners if separate.embeddings else 1
        return HEADER_BYTES * (blocks * TENSORS_OF_A_BLOCK + tables * TENSORS_OF_A_TABLE + TENSORS_OF_A_NORM)

    @property
    def finished_bytes(self) -> int:
        """Files that stay: the best model, those kept from the course of training, and the log."""
        kept = self.model_bytes - (self.weight_bytes // 2 if self.run.keeps_halves else 0)
        return self.model_bytes + len(self.run.kept_updates) * kept + self.run.evaluations * LOG_LINE_BYTES

    @property
    def passing_bytes(self) -> int:
        """Files that are there during training only: two checkpoints and the next, and a better model than the best."""
        return 3 * self.checkpoint_bytes + self.model_bytes


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Memory of one model in training, on the device of one process."""

    run: PretrainingRun
    table_sizes: Mapping[str, int]
    device: str  # its kind, "cpu" or "cuda"; a GPU computes in bf16
    micro_batch: int  # windows read at once, at most
    processes: int = 1  # processes that train the model together, each on its share of the batch

    @property
    def on_gpu(self) -> bool:
        return self.device == "cuda"

    @property
    def peak_bytes(self) -> int:
        """Memory at the worst moment of training."""
        passing = max(self.batch_bytes + self.piece_bytes, self.evaluation_bytes)
        if self.on_gpu:
            # A CUDA graph keeps the memory it was recorded in, while a piece not recorded yet is read beside it.
            return self.state_bytes + passing + self.piece_bytes + GPU_FIXED_BYTES
        # A checkpoint and a model wait in the same memory for the disk.
        return self.state_bytes + passing + (2 + MOMENTS) * FLOAT * self.parameters

    @cached_property
    def parameters(self) -> int:
        return num_parameters(self.run, table_sizes=self.table_sizes)

    @property
    def rows(self) -> int:
        """Windows of the largest piece; no piece has two languages, nor two processes."""
        return min(self.micro_batch, ceil(self.run.batch / self.run.language_draws), self._own_rows)

    @property
    def _own_rows(self) -> int:
        return ceil(self.run.batch / self.processes)

    @property
    def state_bytes(self) -> int:
        """Weights, gradients and Adam's moments; on a GPU, weights once more in bf16. Gaps for alignment are small."""
        return ((2 + MOMENTS) * FLOAT + (self._number if self.on_gpu else 0)) * self.parameters

    @property
    def batch_bytes(self) -> int:
        """Ids of this process's rows, and the mask of the whole batch, all drawn at the beginning of an update."""
        return (ID * self._own_rows + DRAWN_BYTES * self.run.batch) * self.run.window

    @property
    def _number(self) -> int:
        """Bytes of a number that flows through the model."""
        return 2 if self.on_gpu else FLOAT

    @property
    def masked_positions(self) -> float:
        if self.on_gpu:
            from isoglot.pretraining.masking import room_for_masked  # which loads torch

            return room_for_masked(self.rows * self.run.window, rate=self.run.mask_rate)
        return self.run.mask_rate * self.rows * (self.run.window - 1)

    @cached_property
    def piece_bytes(self) -> int:
        """Memory at the worst moment of reading a piece, beside what is always there."""
        # The way forward keeps every layer's numbers for the way back, so the worst moment is where that begins: at the
        # softmax over all words, in the top block's attention, or in the feed-forward layer below it.
        shape, tokens, masked = self.run.shape, self.rows * self.run.window, self.masked_positions
        width, wide = self._number * shape.width, self._number * shape.feed_forward
        # A norm keeps a sum and its output; on a CPU also which numbers dropout hid, which a GPU draws once more.
        norm = 2 * width + 2 * FLOAT + (shape.width if shape.dropout and not self.on_gpu else 0)
        # Attention keeps queries, keys, values and its output, and each position's share in each other. A fused kernel
        # keeps one number for each query instead.
        shares = FLOAT * shape.heads * (1 if self.on_gpu else self.run.window)
        hidden = shape.heads * self.run.window if shape.attention_dropout and not self.on_gpu else 0
        attention = 4 * width + shares + hidden
        below: float = tokens * (ID + norm + (shape.layers - 1) * (attention + 2 * norm + 2 * wide) + attention)
        if shape.norm is NormPlacement.PRE:
            below += tokens * width
        # Above its attention, the top block is computed at masked positions alone.
        below += masked * (3 * ID + width)
        logits = self._number * max(self.table_sizes.values())
        table = self._table_copy_bytes + self._rounded_table_bytes
        at_softmax = below + masked * (width + 2 * norm + 2 * wide + logits) + table
        # Gradients of the sum and of the mixed values, and of queries, keys and values, or of the shares before those.
        gradients = 5 * width if self.on_gpu else max(4 * width + 2 * shares, 6 * width + shares, 8 * width)
        in_attention = below + masked * width + tokens * gradients
        in_feed_forward = below + tokens * ((2 if shape.dropout else 1) * width + wide - attention - norm)
        return int(max(at_softmax, in_attention, in_feed_forward if shape.layers > 1 else 0))

    @property
    def _table_copy_bytes(self) -> int:
        """Bytes of a copy by rows, which torch for Linux on ARM makes for the Arm Compute Library to multiply by."""
        copies = not self.on_gpu and platform.machine() == "aarch64"
        return FLOAT * max(self.table_sizes.values()) * self.run.shape.width if copies else 0

    @property
    def _rounded_table_bytes(self) -> int:
        """Bytes of a copy with rows to a multiple of 64, which the loss on a GPU reads unless the table has as many."""
        size = max(self.table_sizes.values())
        return self._number * size * self.run.shape.width if self.on_gpu and size != aligned(size) else 0

    @property
    def evaluation_bytes(self) -> int:
        """A pass over held-out windows, in full precision: logits, with the next ones or all hidden states."""
        shape, tokens = self.run.shape, EVALUATED_AT_ONCE * self.run.window
        logits = FLOAT * tokens * self.run.mask_rate * max(self.table_sizes.values())
        hidden = FLOAT * tokens * ((shape.layers + 3) * shape.width + 2 * shape.feed_forward)
        return int(logits + max(logits + FLOAT * tokens * shape.width + self._table_copy_bytes, hidden))


class TooLargeError(IsoglotError):
    """Not even one window fits."""


def micro_batch(run: PretrainingRun, *, table_sizes: Mapping[str, int], free: FreeMemory, processes: int = 1) -> int:
    """The number in ISOGLOT_MICRO_BATCH, or else all windows of an update if they fit, or half of them, and so on."""
    if wanted := number_in(MICRO_BATCH_VARIABLE, of="windows"):
        return wanted
    # Each process has a GPU of its own, but they share the CPU's memory.
    usable = USABLE_SHARE * free.free_bytes / (processes if free.device == "cpu" else 1)
    whole = Footprint(run=run, table_sizes=table_sizes, device=free.device, micro_batch=run.batch, processes=processes)
    # In halves, so that a little more or less free memory does not change what a resumed run reads at once.
    windows = whole.rows
    while (footprint := replace(whole, micro_batch=windows)).peak_bytes > usable:
        if windows == 1:
            fewer = f"give fewer {option('workers', python='workers')}, " if memory_share() < 1 else ""
            raise TooLargeError(
                f"a model of {whole.parameters:,} parameters needs {footprint.peak_bytes / GIGABYTE:.2f} GB of the "
                f"{free.device}'s memory to train on one window of {run.window} tokens at a time, and of "
                f"{free.free_bytes / GIGABYTE:.2f} GB that are free {usable / GIGABYTE:.2f} can be counted on: {fewer}"
                "stop what else is running there, take another device, or lower window, merges, shape.width or "
                "shape.layers in the table [change] of the study"
            )
        windows = ceil(windows / 2)
    return windows
