"""The schedule against XLM's, written down anew."""

import math
from itertools import pairwise

import pytest

from isoglot.pretraining.updates import learning_rate
from isoglot.study.scales import PAPER, Decay, Optimization

HIGHEST = 1e-3


def optimization(decay: Decay = Decay.INVERSE_SQUARE_ROOT, *, warmup: int = 50) -> Optimization:
    return Optimization(learning_rate=HIGHEST, warmup_updates=warmup, decay=decay)


def rates(settings: Optimization, *, updates: int = 400) -> list[float]:
    return [learning_rate(update, optimization=settings, updates=updates) for update in range(1, updates + 1)]


def xlm_rates(*, warmup: int, updates: int) -> list[float]:
    """XLM changes the rate after each step, by the number of steps done; before the first it is 1e-7."""
    rate, used = 1e-7, []
    for steps_done in range(1, updates + 1):
        used.append(rate)
        if steps_done < warmup:
            rate = 1e-7 + steps_done * (HIGHEST - 1e-7) / warmup
        else:
            rate = HIGHEST * math.sqrt(warmup) * steps_done**-0.5
    return used


@pytest.mark.parametrize("warmup", [1, 2, 50, 399])
def test_the_papers_schedule_is_that_of_xlm(warmup: int) -> None:
    expected = xlm_rates(warmup=warmup, updates=400)
    assert rates(optimization(warmup=warmup)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("decay", Decay)
def test_the_first_update_is_tiny_and_the_warm_up_ends_at_the_highest_rate(decay: Decay) -> None:
    found = rates(optimization(decay))
    assert found[0] == 1e-7
    assert found[50] == max(found) == pytest.approx(HIGHEST)
    steps = [after - before for before, after in pairwise(found[:51])]
    assert steps == pytest.approx([HIGHEST / 50] * 50, rel=1e-3)


def test_the_linear_tail_is_flat_then_falls_evenly_to_nearly_nothing() -> None:
    found = rates(optimization(Decay.LINEAR_TAIL))
    assert found[50:281] == [HIGHEST] * 231
    falls = [before - after for before, after in pairwise(found[280:])]
    assert falls == pytest.approx([HIGHEST / 120] * 119)
    assert found[-1] == pytest.approx(HIGHEST / 120)
    assert learning_rate(401, optimization=optimization(Decay.LINEAR_TAIL), updates=400) == 0


@pytest.mark.parametrize("decay", Decay)
def test_without_warm_up_the_first_rate_is_the_highest(decay: Decay) -> None:
    found = rates(optimization(decay, warmup=0))
    assert found[0] == HIGHEST
    assert all(rate > 0 for rate in found)
    assert found == sorted(found, reverse=True)


def test_the_papers_last_rate() -> None:
    """1e-4 times the root of 30,000 / 416,666."""
    last = learning_rate(PAPER.updates, optimization=PAPER.optimization, updates=PAPER.updates)
    assert last == pytest.approx(1e-4 * 0.26833, rel=1e-4)
