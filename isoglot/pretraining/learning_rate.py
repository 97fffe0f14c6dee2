"""The learning rate of each update: linear warm-up, then decay (section 3.1)."""

from math import sqrt
from typing import assert_never

from isoglot.study.scales import Decay, Optimization

FIRST_RATE = 1e-7
TAIL_SHARE = 0.3


def learning_rate(update: int, *, optimization: Optimization, updates: int) -> float:
    """The rate of an update counted from 1; XLM sets the rate after each step, so the first runs at FIRST_RATE."""
    done, warmup = update - 1, optimization.warmup_updates
    if done < warmup:
        return FIRST_RATE + done * (optimization.learning_rate - FIRST_RATE) / warmup
    match optimization.decay:
        case Decay.INVERSE_SQUARE_ROOT:
            return optimization.learning_rate * sqrt(max(warmup, 1) / max(done, 1))
        case Decay.LINEAR_TAIL:
            tail = TAIL_SHARE * updates
            return optimization.learning_rate * min(1.0, (updates - done) / tail)
    assert_never(optimization.decay)
