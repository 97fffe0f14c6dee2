"""Trends of growth: planted ones come back, intervals hold as often as they say, and noise is not carried on."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from isoglot.report.findings.samples import t_quantile
from isoglot.report.growth.trends import FEWEST_MOMENTS, LEVEL, Moment, Trend, trend

MOMENTS = 7


def paths(*scores: Sequence[float]) -> list[list[Moment]]:
    """Moments of each seed, which are doublings."""
    return [[Moment(20.0 + place, score) for place, score in enumerate(of_seed)] for of_seed in scores]


def known(*scores: Sequence[float]) -> Trend:
    found, _ = trend(paths(*scores))
    assert found is not None
    return found


def test_student_has_the_quantiles_of_the_tables() -> None:
    printed = {(0.9, 1): 6.314, (0.9, 4): 2.132, (0.9, 6): 1.943, (0.95, 5): 2.571, (0.99, 3): 5.841, (0.9, 120): 1.658}
    for (level, num_free), value in printed.items():
        assert t_quantile(level, num_free) == pytest.approx(value, abs=1e-3)


@given(rate=st.floats(0.1, 10), first=st.floats(0, 40), gaps=st.lists(st.floats(0.2, 2), min_size=5, max_size=8))
def test_a_straight_line_is_carried_on_whatever_lies_between_moments(
    rate: float, first: float, gaps: list[float]
) -> None:
    places = np.cumsum([20.0, *gaps])
    found, reason = trend([[Moment(float(place), first + rate * float(place)) for place in places]] * 2)
    assert found is not None
    assert reason == ""
    assert found.per_doubling == pytest.approx((rate, rate, rate), rel=1e-6)
    assert found.after(6.0, score=first) == pytest.approx([first + 6 * rate] * 3, rel=1e-6)


def errors_by_hand(scores_SM: NDArray[np.float64]) -> float:
    """The spread, from what the rule says in a table of seeds and moments."""
    squares = []
    for moment in range(2, scores_SM.shape[1]):
        for seed, other in np.ndindex(len(scores_SM), len(scores_SM)):
            if seed != other or len(scores_SM) == 1:
                now, before = scores_SM[seed, moment], scores_SM[seed, moment - 2]
                ahead = np.arange(1, scores_SM.shape[1] - moment)
                errors = scores_SM[other, moment + 1 :] - (now + ahead * (now - before) / 2)
                squares += list(errors**2 / (ahead + ahead**2 / 2))
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_intervals_are_as_wide_as_errors_at_earlier_moments(seeds: int) -> None:
    scores_SM = np.cumsum(np.random.default_rng(seeds).normal(3, 1, (seeds, MOMENTS)), axis=1)
    found = known(*scores_SM.tolist())
    assert found.deviation == pytest.approx(errors_by_hand(scores_SM))
    assert found.rate == pytest.approx(np.mean(scores_SM[:, -1] - scores_SM[:, -3]) / 2)
    a_doubling = stats.t.ppf((1 + LEVEL) / 2, MOMENTS - 3) * found.deviation / 2**0.5
    assert found.per_doubling == pytest.approx((found.rate, found.rate - a_doubling, found.rate + a_doubling), rel=1e-4)
    value, low, high = found.after(3.0, score=10.0)
    half = stats.t.ppf((1 + LEVEL) / 2, MOMENTS - 3) * found.deviation * (3 + 9 / 2) ** 0.5
    assert (value - low, high - value) == pytest.approx((half, half), rel=1e-4)
    assert value == pytest.approx(10 + 3 * found.rate)


@pytest.mark.parametrize(("seeds", "walks"), [(1, True), (2, False), (3, False)])
def test_intervals_hold_what_comes_about_as_often_as_they_say(seeds: int, walks: bool) -> None:
    """A model goes on in steps of its own, or a new one comes beside others on one line."""
    random, times, hits = np.random.default_rng(7), 800, np.zeros(3)
    for _ in range(times):
        steps_SM = random.normal(size=(seeds + 1, MOMENTS + 6))
        scores_SM = 3 * np.arange(MOMENTS + 6) + (steps_SM.cumsum(axis=1) if walks else steps_SM)
        found = known(*scores_SM[:seeds, :MOMENTS].tolist())
        ahead = scores_SM[0 if walks else -1, MOMENTS - 1 :]
        now = scores_SM[:seeds, MOMENTS - 1].mean()
        for place, doublings in enumerate((1, 3, 6)):
            _, low, high = found.after(doublings, score=now)
            hits[place] += low <= ahead[doublings] <= high
    if walks:  # three standard errors of a share of 800
        assert hits / times == pytest.approx(LEVEL, abs=0.032)
    else:  # noise that does not add up is less than the rule takes it for
        assert all(hits / times > LEVEL)
        assert hits[0] / times < 0.99


def test_seeds_that_lie_apart_widen_the_interval() -> None:
    """One model that goes its way evenly says nothing of another."""
    line = np.arange(MOMENTS) * 2.0
    alone, beside, apart = (known(*each) for each in ([line], [line, line + 0.1], [line, line * 1.5]))
    assert alone.deviation == pytest.approx(0.0)
    assert beside.deviation < 0.15
    assert apart.deviation > 1.0


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=MOMENTS, max_size=MOMENTS), min_size=1, max_size=3),
    st.floats(-5, 5),
    st.floats(0.5, 200),
)
def test_other_units_give_the_same_trend(shares: list[list[float]], moved: float, factor: float) -> None:
    ours, theirs = known(*shares), known(*([moved + factor * each for each in of_seed] for of_seed in shares))
    expected = [moved + factor * each for each in ours.after(4.0, score=0.5)]
    assert theirs.after(4.0, score=moved + factor * 0.5) == pytest.approx(expected, abs=1e-6 * factor)
    later, _ = trend([[Moment(place + 3.0, score) for place, score in of_seed] for of_seed in paths(*shares)])
    assert later is not None
    assert later.per_doubling == pytest.approx(ours.per_doubling)


def test_intervals_widen_with_the_doublings_ahead() -> None:
    found = known([2, 5, 5, 10, 12, 20, 22])
    halves = [found.after(ahead, score=22.0).high - found.after(ahead, score=22.0).value for ahead in (0, 1, 2, 4)]
    assert halves[0] == 0
    # Faster than the root of the time, as of a walk whose rate is known; slower than the time.
    assert halves[1] * 2**0.5 < halves[2] < 2 * halves[1]
    assert halves[2] * 2**0.5 < halves[3] < 2 * halves[2]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([30, 20, 31, 25, 22, 30, 28], "no growth beyond noise"),
        ([90, 80, 72, 60, 50, 40, 20], "no growth beyond noise"),
        ([-6, 11, -30, 11, 12, 6, 13], "no growth beyond noise"),
        ([2, 3, 4, 6, 8.5, 12, 16], ""),
        # NER of No anchors in results/replication, points above the untrained model.
        ([-3, 2, 0, -3, -2, 17, 61], ""),
        ([0, 0, 0, 0, 100, 100, 100], ""),
        ([0.7] * MOMENTS, "no growth beyond noise"),
    ],
)
def test_growth_that_is_none_is_called_so(scores: list[float], reason: str) -> None:
    found, said = trend(paths(scores))
    assert said == reason
    assert found is not None
    assert all(np.isfinite([*found.per_doubling, *found.after(6.0, score=scores[-1])]))


def test_noise_is_called_growth_in_one_row_of_twenty() -> None:
    """Intervals are of 90%, and half of what lies outside of them falls."""
    random, times = np.random.default_rng(7), 1000
    called = sum(trend(paths(*random.normal(size=(2, MOMENTS)).tolist()))[1] == "" for _ in range(times))
    # Three standard errors of a share of 1,000.
    assert abs(called / times - 0.05) < 0.021


def test_seeds_that_grow_far_from_each_other_grow() -> None:
    line = np.arange(MOMENTS) * 2.0
    assert trend(paths(line.tolist(), (line + 25).tolist()))[1] == ""


def test_few_moments_have_no_trend_however_many_seeds_there_are() -> None:
    few = paths(*[[10.0, 20.0, 30.0, 40.0]] * 5)
    assert trend(few) == (None, f"4 moments before the learning rate falls, and a trend needs {FEWEST_MOMENTS}")
    assert trend([])[0] is None


def test_a_seed_that_has_just_begun_takes_part_as_far_as_it_has_come() -> None:
    """Its few moments are held against what the other said of them, and it has no rate of its own yet."""
    whole = [0.0, 2, 4, 6, 8, 10, 12]
    assert known(whole, [0.0, 2.0]) == known(whole)
    assert known(whole, [5.0, 7.0, 9.0]).deviation > 1.0
    # The others grow faster by now than it did when it was there.
    faster = [0.5, 1, 2, 4, 8, 14, 22]
    assert known(faster, faster[:4]).rate == known(faster).rate == 7.0
