"""Curves of growth: planted ones come back, intervals cover as often as they say, and noise is not extrapolated."""

from collections.abc import Sequence
from math import exp, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.growth.fits import FEWEST_MOMENTS, LEVEL, GrowthFit, Point, growth_fit, t_quantile

LAST = 1e9
MOMENTS = [LAST / 2**halvings for halvings in range(7, -1, -1)]
FAR = 82e9


def share(tokens: float, *, middle: float, slope: float, tail: float = 0.0) -> float:
    """The planted curve, whose odds are exp(middle) at the last moment without its tail."""
    return 1 / (1 + exp(-(middle + slope * log2(tokens / LAST) + tail)))


def points(shares: Sequence[float], *, floor: float = 0.0, ceiling: float = 100.0, tail: bool = False) -> list[Point]:
    return [
        Point(tokens, floor + value * (ceiling - floor), tail and tokens == LAST)
        for tokens, value in zip(MOMENTS, shares, strict=True)
    ]


def fitted(found: Sequence[Point], *, floor: float = 0.0, ceiling: float = 100.0) -> GrowthFit:
    fit, _ = growth_fit(found, floor=floor, ceiling=ceiling)
    assert fit is not None
    return fit


def test_student_has_the_quantiles_of_the_tables() -> None:
    printed = {(0.9, 1): 6.314, (0.9, 4): 2.132, (0.9, 6): 1.943, (0.95, 5): 2.571, (0.99, 3): 5.841, (0.9, 120): 1.658}
    for (level, num_free), value in printed.items():
        assert t_quantile(level, num_free) == pytest.approx(value, abs=1e-3)


@given(
    middle=st.floats(-4, 1),
    slope=st.floats(0.1, 1.0),
    tail=st.one_of(st.just(0.0), st.floats(0.1, 1.0)),
    floor=st.floats(0, 40),
)
def test_a_planted_curve_is_recovered(middle: float, slope: float, tail: float, floor: float) -> None:
    shares = [share(each, middle=middle, slope=slope, tail=tail if each == LAST else 0.0) for each in MOMENTS]
    fit = fitted(points(shares, floor=floor, tail=tail > 0), floor=floor)
    assert fit.slope.value == pytest.approx(exp(slope), rel=0.01)
    expected = floor + (100 - floor) * share(FAR, middle=middle, slope=slope, tail=tail)
    assert fit.predicted(FAR, is_annealed=tail > 0).value == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize(
    ("middle", "slope", "tail"),
    [
        (-2.0, 0.3, 0.5),
        pytest.param(-1.0, 0.3, 0.0, marks=pytest.mark.campaign),
        pytest.param(-4.0, 0.2, 0.3, marks=pytest.mark.campaign),
    ],
)
def test_intervals_hold_a_new_model_as_often_as_they_say(middle: float, slope: float, tail: float) -> None:
    """Noise with the variance of counting, times a number that the fit does not know."""
    random, times, hits = np.random.default_rng(7), 600, [0, 0, 0]

    def drawn(tokens: float, *, is_last: bool) -> float:
        mean = share(tokens, middle=middle, slope=slope, tail=tail if is_last else 0.0)
        return float(mean + random.normal() * (0.002 * mean * (1 - mean)) ** 0.5)

    truth = 100 * share(FAR, middle=middle, slope=slope, tail=tail)
    for _ in range(times):
        fit = fitted(points([drawn(each, is_last=each == LAST) for each in MOMENTS], tail=tail > 0))
        new, curve = fit.predicted(FAR, is_annealed=tail > 0), fit.curve(FAR, is_annealed=tail > 0)
        hits[0] += new.low <= 100 * drawn(FAR, is_last=True) <= new.high
        hits[1] += curve.low <= truth <= curve.high
        hits[2] += fit.slope.low <= exp(slope) <= fit.slope.high
    # Three standard errors of a share of 600, and what a linear approximation may cost.
    assert all(abs(count / times - LEVEL) < 0.037 + 0.02 for count in hits), hits


def test_the_estimate_is_where_a_search_over_the_plane_finds_the_likelihood_highest() -> None:
    shares = [0.02, 0.01, 0.05, 0.04, 0.12, 0.1, 0.22, 0.3]
    fit = fitted(points(shares))

    def likelihood(at_last: float, slope: float) -> float:
        means = [1 / (1 + exp(-(at_last + slope * log2(tokens / LAST)))) for tokens in MOMENTS]
        return sum(each * log(mean) + (1 - each) * log(1 - mean) for each, mean in zip(shares, means, strict=True))

    grid = [(a, b) for a in np.linspace(-2, 0, 201) for b in np.linspace(0.2, 0.8, 121)]
    at_last, slope = max(grid, key=lambda each: likelihood(*each))
    assert log(fit.slope.value) == pytest.approx(slope, abs=0.005)
    assert fit.curve(LAST, is_annealed=False).value == pytest.approx(100 / (1 + exp(-at_last)), abs=0.2)


@given(st.lists(st.floats(0, 1), min_size=8, max_size=8), st.floats(1.5, 1e3))
def test_other_units_give_the_same_curve(shares: list[float], factor: float) -> None:
    fit, reason = growth_fit(points(shares), floor=0, ceiling=100)
    longer = [Point(point.tokens * factor, point.score / 100) for point in points(shares)]
    same, same_reason = growth_fit(longer, floor=0, ceiling=1)
    assert reason == same_reason
    if fit is not None and same is not None:
        ours, theirs = fit.predicted(FAR, is_annealed=False), same.predicted(FAR * factor, is_annealed=False)
        assert [100 * each for each in theirs] == pytest.approx(list(ours), abs=0.01)
        assert 0 <= ours.low <= ours.value <= ours.high <= 100


def test_intervals_widen_away_from_the_moments() -> None:
    fit = fitted(points([0.02, 0.05, 0.05, 0.1, 0.12, 0.2, 0.22, 0.35]))
    widths = [each.high - each.low for each in (fit.curve(LAST * 2**k, is_annealed=False) for k in (-3, 0, 2, 4))]
    assert widths == sorted(widths)
    curve, new = fit.curve(FAR, is_annealed=False), fit.predicted(FAR, is_annealed=False)
    assert new.low < curve.low < curve.high < new.high


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ([0.001, 0.0, 0.002, 0.001, 0.0, 0.003, 0.001, 0.004], "at its floor"),
        ([0.3, 0.2, 0.31, 0.25, 0.22, 0.3, 0.2, 0.28], "no growth beyond noise"),
        ([0.9, 0.8, 0.72, 0.6, 0.5, 0.4, 0.31, 0.2], "no growth beyond noise"),
        ([0.02, 0.03, 0.04, 0.06, 0.085, 0.12, 0.16, 0.22], ""),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], None),
        ([-0.06, 0.11, -0.3, 0.11, 0.12, 0.16, 0.33, 0.58], "no growth beyond noise"),
    ],
)
def test_growth_that_is_none_is_called_so(shares: list[float], reason: str | None) -> None:
    fit, said = growth_fit(points(shares), floor=0, ceiling=100)
    assert reason in (None, said)
    # A leap from floor to ceiling has no slope that could be known, and yet nothing breaks.
    if fit is not None:
        assert all(np.isfinite([*fit.slope, *fit.predicted(FAR, is_annealed=False)]))
        assert reason is None or fit.slope.high < 10


@pytest.mark.parametrize("tail", [True, pytest.param(False, marks=pytest.mark.campaign)])
def test_noise_is_called_growth_in_one_row_of_twenty(tail: bool) -> None:
    """Intervals are of 90%, and half of what lies outside of them falls."""
    random, times = np.random.default_rng(7), 1000
    flat = (points(0.2 + 0.02 * random.normal(size=8), tail=tail) for _ in range(times))
    called = sum(growth_fit(each, floor=0, ceiling=100)[1] == "" for each in flat)
    # Three standard errors of a share of 1,000.
    assert abs(called / times - 0.05) < 0.021


def test_a_sudden_leap_is_growth_though_its_slope_is_hardly_known() -> None:
    """NER of No anchors in results/replication: 5.2, 8.5, 7.0, 4.8, 6.0, 19.0, 48.7 and 56.0, from 7.2 untrained."""
    shares = [-0.03, 0.02, 0.0, -0.03, -0.02, 0.17, 0.61, 0.72]
    fit, reason = growth_fit(points(shares, tail=True), floor=0, ceiling=100)
    assert fit is not None
    assert reason == ""
    assert fit.slope.low < 1, "so that the interval of the slope must not decide"
    assert fit.is_vague(fit.predicted(FAR, is_annealed=True))


@pytest.mark.parametrize(
    ("shares", "bend"),
    [
        ([0.05, 0.15, 0.3, 0.42, 0.5, 0.53, 0.55, 0.56], "slows down"),
        ([0.2, 0.2, 0.2, 0.21, 0.23, 0.3, 0.5, 0.9], "speeds up"),
        ([0.02, 0.035, 0.04, 0.065, 0.08, 0.125, 0.16, 0.22], ""),
    ],
)
def test_a_curve_that_its_points_leave_says_so(shares: list[float], bend: str) -> None:
    fit, reason = growth_fit(points(shares), floor=0, ceiling=100)
    assert fit is not None
    assert (fit.bend, reason) == (bend, "")


def test_a_row_without_a_bend_is_called_bent_once_in_a_hundred() -> None:
    random, times = np.random.default_rng(7), 400
    straight = np.array([share(each, middle=-1.0, slope=0.3) for each in MOMENTS])
    rows = (points(straight + 0.02 * random.normal(size=8)) for _ in range(times))
    bent = sum(fitted(each).bend != "" for each in rows)
    # Three standard errors of a share of 400; with a normal distribution instead of Student's it is 3.5%.
    assert 0 < bent / times < 0.025


def test_few_moments_have_no_curve_however_many_seeds_there_are() -> None:
    few = points([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])[-FEWEST_MOMENTS + 1 :]
    assert growth_fit(few * 5, floor=0, ceiling=100) == (None, f"4 moments, and a fit needs {FEWEST_MOMENTS}")
