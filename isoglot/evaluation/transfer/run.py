"""One run of fine-tuning: everything that decides what comes out, and nothing else."""

from dataclasses import dataclass, field
from math import ceil

from isoglot.study.searches import Schedule


@dataclass(frozen=True, kw_only=True)
class FineTuningRun:
    """A setting of the grid with its budget, on the labelled examples of one language."""

    language: str
    batch: int
    learning_rate: float
    head_learning_rate: float
    epochs: int
    epoch_examples: int | None
    schedule: Schedule
    warmup_share: float
    beta2: float
    most_tokens: int
    """The longest sequence: pretraining's window, as no position beyond was learned."""
    freeze_encoder: bool
    """For a baseline, where only the task's own layer learns."""
    seed: int
    normed: bool = field(default=False, metadata={"isoglot.identity": "unless default"})
    """Whether the task reads the last layer through a LayerNorm without weights."""

    def examples(self, size: int) -> int:
        """The examples of each epoch, for a training set of so many sequences."""
        return size if self.epoch_examples is None else self.epoch_examples

    def epoch_updates(self, size: int) -> int:
        return ceil(self.examples(size) / self.batch)

    def rate_share(self, update: int, *, updates: int) -> float:
        """The share of the full rate at an update, counted from 1: a linear warm-up, then linearly to 0; or 1."""
        if self.schedule is Schedule.CONSTANT:
            return 1.0
        warmup = self.warmup_share * updates
        return min(update / max(warmup, 1.0), (updates - update + 1) / max(updates - warmup, 1.0), 1.0)
