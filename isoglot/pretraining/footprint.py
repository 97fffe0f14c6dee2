"""The memory that pretraining a model takes, told before it starts."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from isoglot.errors import IsoglotError
from isoglot.hardware import FreeMemory, memory_share
from isoglot.machine import number_in
from isoglot.pretraining.parameters import num_in_training, num_parameters
from isoglot.pretraining.run import EVALUATED_AT_ONCE, PretrainingRun
from isoglot.study.scales import NormPlacement

# A batch is read in pieces. C = masked positions of one, V = tokens of the largest table


FLOAT = 4
ID = 8
MOMENTS = 2
NORM_NUMBERS = 2
"""Mean and deviation, which a LayerNorm keeps of each token."""
IDS_OF_MASKED = 3
"""Where each masked position is, twice, and what is hidden there."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """How a kind of device computes, as far as memory goes."""

    number_bytes: int
    """Of a number that flows through the model; norms' own and gradients of weights have 4."""
    dropout_bytes: int
    """Kept for each number that dropout may have hidden; a GPU draws anew on the way back."""
    keeps_attention: bool
    """Whether attention keeps its weights, of each position to each: a fused kernel need not."""
    has_fixed_room: bool
    """Whether there is room for more masked positions than there should be, as nobody waits to hear how many."""
    keeps_graphs: bool
    """Whether what a piece takes stays taken once it is recorded, so that it is there twice for one that is not yet."""
    copies_beside: bool
    """Whether copies of what is to be written to disk lie in the same memory."""
    copies_table: bool
    """Whether logits are computed from a copy of the token table in another order."""
    fixed_bytes: int
    """Workspaces of libraries and sums of programs."""


ARITHMETIC = {
    "cpu": Arithmetic(
        number_bytes=FLOAT,
        dropout_bytes=1,
        keeps_attention=True,
        has_fixed_room=False,
        keeps_graphs=False,
        copies_beside=True,
        # torch for Linux on ARM multiplies matrices by the Arm Compute Library, which wants the second by rows.
        copies_table=platform.machine() == "aarch64",
        fixed_bytes=0,
    ),
    "cuda": Arithmetic(
        number_bytes=2,
        dropout_bytes=0,
        keeps_attention=False,
        has_fixed_room=True,
        keeps_graphs=True,
        copies_beside=False,
        copies_table=False,
        fixed_bytes=64 << 20,
    ),
}
"""By torch's name for the kind of device; a GPU computes in bf16."""


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Of one model in training, in the memory of one process's device."""

    run: PretrainingRun
    table_sizes: Mapping[str, int]
    arithmetic: Arithmetic
    micro_batch: int
    """Windows read at once, at most."""
    processes: int
    """That train the model together, each on its share of the batch."""

    @classmethod
    def of(
        cls, run: PretrainingRun, *, table_sizes: Mapping[str, int], device: str, micro_batch: int, processes: int = 1
    ) -> "Footprint":
        """On a kind of device, "cpu" or "cuda"."""
        return cls(
            run=run,
            table_sizes=table_sizes,
            arithmetic=ARITHMETIC[device],
            micro_batch=micro_batch,
            processes=processes,
        )

    @property
    def peak_bytes(self) -> int:
        """At the worst moment of training."""
        passing = max(self.batch_bytes + self.piece_bytes, self.evaluation_bytes)
        recorded = self.piece_bytes if self.arithmetic.keeps_graphs else 0
        return self.state_bytes + passing + recorded + self.copied_bytes + self.arithmetic.fixed_bytes

    @property
    def update_bytes(self) -> int:
        """At the worst moment of an update."""
        return self.state_bytes + self.batch_bytes + self.piece_bytes

    @property
    def piece_bytes(self) -> int:
        """At the worst moment of reading a piece, beside what is always there."""
        return max(self.moments_of_a_piece.values())

    @cached_property
    def moments_of_a_piece(self) -> dict[str, int]:
        """What may be the worst one, and what it needs; all come on the way back or where it begins."""
        shape, number, tokens = self.run.shape, self.arithmetic.number_bytes, self.rows * self.run.window
        width = number * shape.width
        # Of every token: the gradient of a sum, and that of what dropout let through.
        found = (2 if shape.dropout else 1) * width
        below_top = self.kept_bytes - int(self.masked_positions * (self._top_bytes - IDS_OF_MASKED * ID - width))
        moments = {
            "softmax": self.kept_bytes
            + int(self.masked_positions * (number * self.table_size + width))
            + self._table_copy_bytes,
            "attention": below_top + int(self.masked_positions * width) + tokens * self._attention_gradient_bytes,
        }
        if shape.layers > 1:
            # Of the block below the top, whose last norm is done with; what its wide layer gave is let go for a
            # gradient.
            moments["feed-forward"] = below_top + tokens * (
                found + number * shape.feed_forward - self._attention_bytes - self._norm_bytes
            )
        return moments

    @cached_property
    def parameters(self) -> int:
        return num_parameters(self.run, table_sizes=self.table_sizes)

    @cached_property
    def state_bytes(self) -> int:
        """Weights, gradients and Adam's moments, and weights once more where matrix products take another type."""
        twin = self.arithmetic.number_bytes if self.arithmetic.number_bytes < FLOAT else 0
        return ((2 + MOMENTS) * FLOAT + twin) * num_in_training(self.run, table_sizes=self.table_sizes)

    @property
    def copied_bytes(self) -> int:
        """A checkpoint and a model on their way to the disk."""
        return (2 + MOMENTS) * FLOAT * self.parameters if self.arithmetic.copies_beside else 0

    @property
    def _table_copy_bytes(self) -> int:
        return FLOAT * self.table_size * self.run.shape.width if self.arithmetic.copies_table else 0

    @property
    def rows(self) -> int:
        """Windows of the largest piece; none is of two languages, nor of two processes."""
        return min(self.micro_batch, ceil(self.run.batch / self.run.language_draws), self.own_rows)

    @property
    def own_rows(self) -> int:
        """Windows of an update that one process reads."""
        return ceil(self.run.batch / self.processes)

    @property
    def table_size(self) -> int:
        return max(self.table_sizes.values())

    @property
    def batch_bytes(self) -> int:
        """Ids, and what was drawn to mask them, all at the beginning of an update."""
        drawn = 1 + FLOAT + ID
        return (ID * self.own_rows + drawn * self.run.batch) * self.run.window

    @property
    def kept_bytes(self) -> int:
        """What reading a piece keeps for the way back, with the ids as the model sees them."""
        width = self.arithmetic.number_bytes * self.run.shape.width
        lowest_norm = width + FLOAT * NORM_NUMBERS if self.run.shape.norm is NormPlacement.PRE else 0
        blocks = (self.run.shape.layers - 1) * self.block_bytes_per_token + self._attention_bytes
        per_token = ID + self._norm_bytes + lowest_norm + blocks
        return self.rows * self.run.window * per_token + int(self.masked_positions * self._top_bytes)

    @property
    def block_bytes_per_token(self) -> int:
        """What a Transformer block below the top keeps for the way back."""
        return self._attention_bytes + 2 * self._norm_bytes + self._wide_bytes

    @property
    def _top_bytes(self) -> int:
        """What the top block keeps of a masked position beside attention: no other is computed there."""
        mixed = self.arithmetic.number_bytes * self.run.shape.width
        return IDS_OF_MASKED * ID + mixed + 2 * self._norm_bytes + self._wide_bytes

    @property
    def _attention_bytes(self) -> int:
        """Queries, keys, values and what they come to; and each position's share in each, or one number to find it."""
        shape, shares = self.run.shape, FLOAT * self.run.shape.heads
        if self.arithmetic.keeps_attention:
            hidden = self.arithmetic.dropout_bytes if shape.attention_dropout else 0
            shares = (FLOAT + hidden) * shape.heads * self.run.window
        return 4 * self.arithmetic.number_bytes * shape.width + shares

    @property
    def _attention_gradient_bytes(self) -> int:
        """Of each token in the top block's attention, with the gradients of its sum and of the mixed values."""
        width, shares = (
            self.arithmetic.number_bytes * self.run.shape.width,
            FLOAT * self.run.shape.heads * self.run.window,
        )
        if not self.arithmetic.keeps_attention:
            return (2 + 3) * width
        # Mixed values in another order and values, with attention's weights before and after their softmax; then with
        # one of these also queries and keys; then all three in both orders.
        return max((2 + 2) * width + 2 * shares, (2 + 4) * width + shares, (2 + 6) * width)

    @property
    def _norm_bytes(self) -> int:
        """A sum, its norm, and what dropout hid of it."""
        return 2 * self.arithmetic.number_bytes * self.run.shape.width + FLOAT * NORM_NUMBERS + self._dropout_bytes

    @property
    def _wide_bytes(self) -> int:
        """Of the wide layer before and after its GELU."""
        return 2 * self.arithmetic.number_bytes * self.run.shape.feed_forward

    @property
    def _dropout_bytes(self) -> int:
        return self.arithmetic.dropout_bytes * self.run.shape.width if self.run.shape.dropout else 0

    @property
    def masked_positions(self) -> float:
        """Of a piece, none of them the first of its window."""
        if self.arithmetic.has_fixed_room:
            from isoglot.pretraining.masking import room_for_masked  # which loads torch

            return room_for_masked(self.rows * self.run.window, rate=self.run.mask_rate)
        return self.run.mask_rate * self.rows * (self.run.window - 1)

    @property
    def evaluation_bytes(self) -> int:
        """Of a pass over held-out windows, in full precision: logits, with the next ones or all hidden states."""
        shape, tokens = self.run.shape, EVALUATED_AT_ONCE * self.run.window
        logits = FLOAT * tokens * self.run.mask_rate * self.table_size
        hidden = FLOAT * tokens * ((shape.layers + 3) * shape.width + 2 * shape.feed_forward)
        return int(logits + max(logits + FLOAT * tokens * shape.width + self._table_copy_bytes, hidden))


MICRO_BATCH_VARIABLE = "ISOGLOT_MICRO_BATCH"
USABLE_SHARE = 0.9
"""Of free memory: predictions are a few percent off, and memory falls into pieces."""
GIGABYTE = 1e9


class TooLargeError(IsoglotError):
    """Not even one window fits."""


def micro_batch(run: PretrainingRun, *, table_sizes: Mapping[str, int], free: FreeMemory, processes: int = 1) -> int:
    """What the environment variable ISOGLOT_MICRO_BATCH says, or else what fits."""
    wanted = number_in(MICRO_BATCH_VARIABLE, of="windows")
    return wanted or fitting_micro_batch(run, table_sizes=table_sizes, free=free, processes=processes)


def fitting_micro_batch(
    run: PretrainingRun, *, table_sizes: Mapping[str, int], free: FreeMemory, processes: int = 1
) -> int:
    """All windows that could be read at once if they fit, or half of them, or a quarter, and so on."""

    def footprint(windows: int) -> Footprint:
        return Footprint.of(run, table_sizes=table_sizes, device=free.device, micro_batch=windows, processes=processes)

    # Each process has a GPU of its own, but they share the CPU's memory.
    usable = USABLE_SHARE * free.free_bytes / (processes if free.device == "cpu" else 1)
    # In halves, so that a little more or less free memory does not change what a resumed run reads at once.
    windows = footprint(run.batch).rows
    while footprint(windows).peak_bytes > usable:
        if windows == 1:
            raise TooLargeError(_too_large(footprint(1), usable=usable, free=free))
        windows = ceil(windows / 2)
    return windows


def _too_large(footprint: Footprint, *, usable: float, free: FreeMemory) -> str:
    needed, found = footprint.peak_bytes / GIGABYTE, free.free_bytes / GIGABYTE
    fewer = "give fewer --workers, " if memory_share() < 1 else ""
    return (
        f"a model of {footprint.parameters:,} parameters needs {needed:.2f} GB of the {free.device}'s memory to train "
        f"on one window of {footprint.run.window} tokens at a time, and of {found:.2f} GB that are free "
        f"{usable / GIGABYTE:.2f} can be counted on: {fewer}stop what else is running there, take another device, or "
        "lower window, merges, shape.width or shape.layers in the table [change] of the study"
    )
