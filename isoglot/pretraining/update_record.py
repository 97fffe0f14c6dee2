"""What is known of one update once it is done."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class UpdateRecord:
    """Numbers for people who watch a run; none of them decides what it comes to."""

    update: int
    """Counted from 1."""
    losses: dict[str, float]
    """By language read in this update: the mean over its masked words."""
    gradient_norm: float
    """Before clipping."""
    learning_rate: float
    skipped: bool
    """Not a number, or a spike of the loss: weights were left as they were."""
