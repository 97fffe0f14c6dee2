"""The memory that pretraining a model takes, told before it starts."""

# A batch is read in pieces. M = masked positions of one, V = tokens of the largest table

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

from isoglot.pretraining.parameters import num_parameters, num_read
from isoglot.pretraining.run import EVALUATED_AT_ONCE, PretrainingRun
from isoglot.scales import NormPlacement

FLOAT = 4
ID = 8
MOMENTS = 2
NORM_NUMBERS = 2
"""Mean and deviation, which a LayerNorm keeps of each token."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """How a kind of device computes, as far as memory goes."""

    product_bytes: int
    """Of a number that a matrix product reads or writes; residual sums, norms and softmaxes have 4."""
    dropout_bytes: int
    """Kept for each number that dropout may have hidden."""
    keeps_attention: bool
    """Whether attention with dropout keeps its weights, of each position to each: a fused kernel need not."""
    spare_deviations: float
    """By how many standard deviations there is room for more masked positions than there should be."""
    copies_beside: bool
    """Whether copies of what is to be written to disk lie in the same memory."""
    fixed_bytes: int
    """Workspaces of libraries."""


ARITHMETIC = {
    "cpu": Arithmetic(
        product_bytes=FLOAT,
        dropout_bytes=FLOAT,
        keeps_attention=True,
        spare_deviations=0,
        copies_beside=True,
        fixed_bytes=0,
    ),
    "cuda": Arithmetic(
        product_bytes=2,
        dropout_bytes=1,
        keeps_attention=False,
        spare_deviations=4,
        copies_beside=False,
        fixed_bytes=32 << 20,
    ),
}
"""By torch's name for the kind of device; a GPU computes in bf16."""


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Of one model in training, in the memory of one process's device; without compilation, which may need less."""

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
        evaluation = self.state_bytes + self.gradient_bytes + self.evaluation_bytes
        return max(self.update_bytes, evaluation) + self.copied_bytes + self.arithmetic.fixed_bytes

    @property
    def update_bytes(self) -> int:
        """At the worst moment of an update."""
        return self.state_bytes + self.batch_bytes + max(self.moments_of_an_update.values())

    @cached_property
    def moments_of_an_update(self) -> dict[str, int]:
        """What may be the worst one, and what it needs beside weights, Adam's moments and the batch."""
        table = FLOAT * self.table_size * self.run.shape.width
        earlier = self.gradient_bytes if self.num_pieces > 1 else 0
        fresh = max(table, self.gradient_bytes - earlier)
        return {
            "softmax": earlier + self.kept_bytes + self.softmax_bytes,
            # The softmax has given the table a gradient, which waits for that of the embeddings until the end.
            "top block": earlier + self.kept_bytes + table + self.block_gradient_bytes,
            # Both of them, and then their sum.
            "embeddings": earlier + fresh + 2 * table,
            "exchange": self.gradient_bytes * (2 if self.processes > 1 else 1),
        }

    @cached_property
    def parameters(self) -> int:
        return num_parameters(self.run, table_sizes=self.table_sizes)

    @property
    def state_bytes(self) -> int:
        """Weights and Adam's moments."""
        return (1 + MOMENTS) * FLOAT * self.parameters

    @cached_property
    def gradient_bytes(self) -> int:
        """Once all pieces of an update are read; what belongs to a language that is not read has none."""
        return FLOAT * num_read(self.run, table_sizes=self.table_sizes, languages=self.run.language_draws)

    @property
    def copied_bytes(self) -> int:
        """A checkpoint and a model on their way to the disk."""
        return self.state_bytes + FLOAT * self.parameters if self.arithmetic.copies_beside else 0

    @property
    def rows(self) -> int:
        """Windows of the largest piece; none is of two languages, nor of two processes."""
        return min(self.micro_batch, ceil(self.run.batch / self.run.language_draws), self.own_rows)

    @property
    def own_rows(self) -> int:
        """Windows of an update that one process reads."""
        return ceil(self.run.batch / self.processes)

    @property
    def num_pieces(self) -> int:
        return ceil(self.own_rows / self.rows)

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
        """What reading a piece keeps for the way back."""
        shape = self.run.shape
        norm = FLOAT * (shape.width + NORM_NUMBERS)
        below, top = ID + norm + self._dropout_bytes, norm if shape.norm is NormPlacement.PRE else 0
        per_token = below + shape.layers * self.block_bytes_per_token + top
        return self.rows * self.run.window * per_token + self.cast_weight_bytes

    @property
    def block_bytes_per_token(self) -> int:
        """What a Transformer block keeps for the way back."""
        shape, arithmetic = self.run.shape, self.arithmetic
        norms = 2 * FLOAT * (shape.width + NORM_NUMBERS)
        # What both halves of the block read, queries, keys, values, what attention comes to, and the wide layer before
        # and after its GELU.
        products = arithmetic.product_bytes * (6 * shape.width + 2 * shape.feed_forward)
        attention = FLOAT * shape.heads
        if shape.attention_dropout and arithmetic.keeps_attention:
            # The weights, what dropout hides, and what it leaves.
            attention *= 3 * self.run.window
        return norms + products + attention + 2 * self._dropout_bytes

    @property
    def _dropout_bytes(self) -> int:
        return self.arithmetic.dropout_bytes * self.run.shape.width if self.run.shape.dropout else 0

    @property
    def cast_weight_bytes(self) -> int:
        """Weights once more, in the type that matrix products take."""
        if self.arithmetic.product_bytes == FLOAT:
            return 0
        return self.arithmetic.product_bytes * num_read(self.run, table_sizes=self.table_sizes, languages=1)

    @property
    def masked_positions(self) -> float:
        """Of a piece, none of them the first of its window."""
        positions, rate = self.rows * (self.run.window - 1), self.run.mask_rate
        return rate * positions + self.arithmetic.spare_deviations * sqrt(rate * (1 - rate) * positions)

    @property
    def softmax_bytes(self) -> int:
        """On the way back: M x V logarithms, the loss's gradient and that of the logits; and what these came from."""
        copies = 1 + (self.arithmetic.product_bytes < FLOAT)
        return int(FLOAT * self.masked_positions * (3 * self.table_size + copies * self.run.shape.width))

    @property
    def block_gradient_bytes(self) -> int:
        """On the way back through a block: that of its wide layer, and of what it gave."""
        shape, tokens = self.run.shape, self.rows * self.run.window
        return tokens * (self.arithmetic.product_bytes * shape.feed_forward + FLOAT * shape.width)

    @property
    def evaluation_bytes(self) -> int:
        """Of a pass over held-out windows, in full precision: logits, with the next ones or all hidden states."""
        shape, tokens = self.run.shape, EVALUATED_AT_ONCE * self.run.window
        logits = FLOAT * tokens * self.run.mask_rate * self.table_size
        hidden = FLOAT * tokens * ((shape.layers + 3) * shape.width + 2 * shape.feed_forward)
        return int(logits + max(logits + FLOAT * tokens * shape.width, hidden))
