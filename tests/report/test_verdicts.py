"""One rule for all verdicts: samples over seeds, and claims that rest on several comparisons."""

import math
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.findings.samples import CLOSE_POINTS, Sample, mean_sample, noise_between, paired
from isoglot.report.findings.verdicts import Verdict, compared, joint_verdict, margin, order_verdict

A, D, T, N = Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE, Verdict.NOT_TESTED


def sample(*values: float) -> Sample:
    return Sample.of(dict(enumerate(values)))


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        *((sample(80.0), sample(77.0), T), (sample(80.0), sample(76.9), A), (sample(76.9), sample(80.0), D)),
        # Three seeds of each side: 3 / sqrt(3) = 1.73 points.
        (sample(80.0, 80.0, 80.0), sample(78.3, 78.3, 78.3), T),
        (sample(80.0, 80.0, 80.0), sample(78.2, 78.2, 78.2), A),
        # Far apart on average, but seeds lie among each other.
        (sample(90.0, 90.0, 60.0), sample(70.0, 70.0, 70.0), T),
        (sample(70.0, 70.0, 70.0), sample(90.0, 90.0, 60.0), T),
        *((sample(80.0), Sample.certain(77.8), A), (sample(80.0), Sample.certain(78.0), T)),
    ],
)
def test_an_order_is_decided_beyond_noise_and_by_every_seed(better: Sample, worse: Sample, verdict: Verdict) -> None:
    assert order_verdict(better, worse) is verdict


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=6), min_size=2, max_size=2))
def test_three_seeds_or_more_are_held_against_students_t(values: list[list[float]]) -> None:
    """With as many seeds on both sides, noise is where scipy's t-test turns; the noise of other models is no matter."""
    number = min(map(len, values))
    a, b = (np.round(each[:number], 3) for each in values)
    error = math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / number)
    least = CLOSE_POINTS / math.sqrt(number)
    with np.errstate(invalid="ignore"):
        degrees = scipy.stats.ttest_ind(a, b, equal_var=False).df if error else 1.0
    expected = max(least, scipy.stats.t.ppf(0.975, degrees) * error)
    found = noise_between(*(replace(sample(*each), close=50.0) for each in (a, b)))
    assert found == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize(("spread", "others"), [(10.0, 10.0), (20.0, 5.0), (20.0, 1.0)])
def test_chance_is_called_a_difference_once_in_twenty_however_unequal_the_spreads(spread: float, others: float) -> None:
    draw, calls = np.random.default_rng(0), 0
    for _ in range(2000):
        a, b = (sample(*draw.normal(50.0, each, 3)) for each in (spread, others))
        calls += order_verdict(a, b) is not T
    assert 0.03 < calls / 2000 < 0.065


def test_a_floor_of_one_seed_is_taken_to_vary_as_its_condition_does() -> None:
    lead = sample(60.0, 62.0, 64.0).above(20.0, variance=1.0)
    assert lead.mean == pytest.approx(42)
    assert lead.variance_by_seeds == pytest.approx(4 * (1 / 3 + 1))
    assert lead.of_seeds({0, 1}).variance == pytest.approx(1 / 2 + 1)
    assert (lead * 0.5).variance_by_seeds == pytest.approx(4 * (1 / 3 + 1) / 4)


def test_a_mean_of_many_scores_is_decided_sooner_and_a_difference_of_differences_later() -> None:
    nine = mean_sample([sample(71.1)] * 9), mean_sample([sample(70.0)] * 9)
    assert order_verdict(*nine) is A
    assert order_verdict(sample(71.1), sample(70.0)) is T
    gains = sample(74.0) - sample(70.0), sample(70.0) - sample(70.0)
    assert 3 < gains[0].mean < 3 * sqrt(2)
    assert order_verdict(*gains) is T
    assert order_verdict(sample(74.3) - sample(70.0), gains[1]) is A


def test_a_mean_of_tasks_is_as_certain_as_scores_drawn_with_the_noise_of_each() -> None:
    """Two means of three tasks, whose noise is known: they lie further apart in one case of twenty."""
    closes, random = (3.0, 21.0, 7.0), np.random.default_rng(0)
    drawn = random.normal(0.0, np.array(closes)[:, None] / 2 / sqrt(2), size=(2, 20_000, 3, 2))
    ours, theirs = (
        mean_sample([mean_sample([replace(sample(0.0), close=close)] * 2) for close in closes]) for _ in range(2)
    )
    noise = noise_between(ours, theirs)
    means = drawn.mean(axis=(2, 3))
    assert np.mean(np.abs(means[0] - means[1]) > noise) == pytest.approx(0.0455, abs=0.005)
    # Halves, differences, floors and fewer seeds leave it as certain as its parts.
    lead = replace(sample(60.0, 62.0), close=21.0).above(20.0, variance=1.0)
    for each in (lead * 0.5, lead.plain, lead.of_seeds({0}), lead - Sample.certain(4.0), Sample.certain(4.0) - lead):
        assert each.close == pytest.approx(21.0)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        *(([], N), ([N, N], N), ([A], A), ([A, T], A), ([A, T, T], T), ([A, A, A, D], D), ([T, D], D), ([T, T], T)),
        # What could not be compared keeps a claim from being borne out, and not from being refuted.
        *(([A, N], A), ([A, N, N], N), ([A, T, N], N), ([T, N, N], T), ([D, N, N, N], D)),
    ],
)
def test_one_exception_refutes_and_half_bear_out(parts: list[Verdict], verdict: Verdict) -> None:
    assert joint_verdict(parts) is verdict


def test_samples_are_added_seed_by_seed() -> None:
    both = Sample.of({0: 10.0, 1: 30.0}) - Sample.of({1: 1.0, 0: 5.0})
    assert (both.by_seed, both.mean, both.variance) == ({0: 5.0, 1: 29.0}, 17.0, 1.0)
    # Seeds that one side lacks count for the mean alone.
    one = Sample.of({0: 10.0, 1: 30.0}) - Sample.of({1: 1.0})
    assert (one.by_seed, one.mean, one.variance) == ({1: 29.0}, 19.0, 1.5)
    apart = Sample.of({0: 10.0}) - Sample.of({1: 4.0})
    assert (apart.mean, apart.by_seed, apart.values) == (6.0, {}, (6.0,))
    # Once no seed has all of it, none has, whatever is added.
    assert (apart + Sample.of({1: 1.0})).values == (7.0,)
    # What is certain has every seed, and adds no doubt.
    certain = Sample.of({0: 40.0, 7: 44.0}) - Sample.certain(33.0)
    assert (certain.by_seed, certain.variance) == ({0: 7.0, 7: 11.0}, 0.5)
    assert (Sample.certain(2.0) + Sample.certain(1.0)).values == (3.0,)


def test_a_score_that_is_no_number_decides_nothing() -> None:
    assert {order_verdict(sample(math.nan), sample(50.0)), order_verdict(sample(50.0), sample(math.nan))} == {T}
    assert margin(sample(math.nan), sample(50.0), text="") == (0.0, T, "")


def test_a_margin_counts_noise_and_its_sign_is_who_leads() -> None:
    # Three points lie between two single scores by noise, 1.73 between means of three.
    assert margin(sample(80.0), sample(74.0), text="a") == (pytest.approx(2.0), A, "a")
    assert margin(sample(78.5), sample(80.0), text="a") == (pytest.approx(-0.5), T, "a")
    assert margin(sample(*[70.0] * 3), sample(*[80.0] * 3), text="a") == (pytest.approx(-10 * sqrt(3) / 3), D, "a")
    # Seeds that lie among each other leave even a large one open, and so does a second look.
    noises, verdict, _ = margin(sample(95.0, 75.0), sample(76.0, 77.0), text="a")
    assert (noises, verdict) == (pytest.approx(8.5 / 3 * sqrt(2)), T)
    opened = compared(sample(80.0), sample(74.0), numbers="a").left_open("b")
    assert (opened.verdict, opened.numbers, opened.margins) == (T, "b", ((pytest.approx(2.0), T, "a"),))


@given(st.lists(st.lists(st.floats(0, 100), min_size=1, max_size=4), min_size=2, max_size=2))
def test_a_margin_is_decided_outside_of_noise_alone(values: list[list[float]]) -> None:
    better, worse = (sample(*each) for each in values)
    found, contrary = margin(better, worse, text=""), margin(worse, better, text="")
    assert found.noises == pytest.approx(-contrary.noises)
    assert {A: found.noises > 1, D: found.noises < -1, T: True}[found.verdict]
    assert {found.verdict, contrary.verdict} in ({T}, {A, D})


def test_a_mean_of_tests_has_all_seeds_of_each() -> None:
    """A second seed of one test counts, though the other test has none."""
    ours, theirs = (mean_sample([sample(first, second), sample(20.0)]) for first, second in ((5.0, 35.0), (10.0, 10.0)))
    assert (ours.mean, ours.by_seed, ours.variance) == (20.0, {0: 12.5}, pytest.approx((1 / 2 + 1) / 4))
    # Seed 0 alone would put them the other way.
    assert [each.mean for each in paired(ours, theirs)] == [20.0, 15.0]
    assert order_verdict(ours, theirs) is T
    # It does so where one side has a seed in all tests that the other lacks in one, halved or less another mean.
    more = mean_sample([sample(5.0, 35.0), sample(20.0, 60.0)])
    assert [(each.mean, each.by_seed) for each in paired(more, ours)] == [(30.0, {0: 12.5}), (20.0, {0: 12.5})]
    assert [each.mean for each in paired(more * 0.5, ours - theirs)] == [15.0, 5.0]


def test_in_one_test_only_seeds_count_that_both_sides_have() -> None:
    more, fewer = sample(5.0, 35.0), sample(10.0)
    assert [each.mean for each in paired(more, fewer)] == [5.0, 10.0]
    assert [each.mean for each in paired(mean_sample([more]), fewer)] == [5.0, 10.0]
    # Models of other languages have no seed in common.
    of_languages = replace(more, of_language="zh"), replace(fewer, of_language="fr")
    assert [each.mean for each in paired(*of_languages)] == [20.0, 10.0]


def test_a_mean_of_scores_is_surer_by_their_number() -> None:
    found = mean_sample([Sample.of({0: 10.0, 1: 20.0}), Sample.of({0: 30.0, 1: 60.0})])
    assert found.by_seed == {0: 20.0, 1: 40.0}
    assert (found.mean, found.variance) == (30.0, pytest.approx(0.25))
    assert (Sample.of({0: 10.0}) * 0.5).variance == 0.25
