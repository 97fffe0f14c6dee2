"""Which settings of fine-tuning are tried, and the budget of each."""

from dataclasses import dataclass
from enum import StrEnum


class Schedule(StrEnum):
    """The learning rate of fine-tuning: always the same, or up over the first updates and then linearly to 0."""

    CONSTANT = "constant"
    LINEAR = "linear"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One point of a search."""

    batch: int
    learning_rate: float
    head_learning_rate: float


@dataclass(frozen=True, kw_only=True)
class Search:
    """Settings of fine-tuning to try on the source language, and the budget of each (section 3.2)."""

    batches: tuple[int, ...]
    learning_rates: tuple[float, ...]
    """Of the encoder."""
    head_learning_rates: tuple[float, ...] = ()
    """Of the task's own layer; none: the encoder's."""
    epochs: int
    """After each of them the dev set is scored and a checkpoint considered."""
    epoch_examples: int | None = None
    """None: each training example once."""
    schedule: Schedule
    warmup_share: float = 0.1
    """Of all updates, under the linear schedule."""
    beta2: float

    def settings(self) -> tuple[Setting, ...]:
        """Every combination, in the order in which they are tried."""
        return tuple(
            Setting(batch=batch, learning_rate=rate, head_learning_rate=head_rate)
            for batch in self.batches
            for rate in self.learning_rates
            for head_rate in self.head_learning_rates or (rate,)
        )
