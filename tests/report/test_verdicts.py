"""One rule for all verdicts: samples over seeds, noise, and claims that rest on several comparisons."""

import math
from math import sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import (
    CLOSE_POINTS,
    LEAST_REPEATS,
    Noise,
    Sample,
    Verdict,
    joint_verdict,
    mean_sample,
    noise_between,
    order_verdict,
)
from tests.report.made_up_measurements import scored

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
    expected = max(least, scipy.stats.t.ppf(0.975, 2 * number - 2) * error)
    found = noise_between(sample(*a), sample(*b), close=50.0)
    assert found == pytest.approx(expected, rel=5e-3)


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


def test_a_mean_of_scores_is_surer_by_their_number() -> None:
    found = mean_sample([Sample.of({0: 10.0, 1: 20.0}), Sample.of({0: 30.0, 1: 60.0})])
    assert found.by_seed == {0: 20.0, 1: 40.0}
    assert (found.mean, found.variance) == (30.0, pytest.approx(0.25))
    assert (Sample.of({0: 10.0}) * 0.5).variance == 0.25


def test_two_models_of_different_seeds_lie_further_apart_in_one_case_of_twenty() -> None:
    """Against many pairs of models drawn at random, whose spread is known."""
    random = np.random.default_rng(0)
    scores = 50.0 + 20.0 * random.standard_normal((2000, 1)) + 4.0 * random.standard_normal((2000, 3))
    noise = Noise.of(dict(enumerate(row)) for row in scores.tolist())
    differences = scores[:, 0] - scores[:, 1]
    assert noise.points == pytest.approx(2.0 * 4.0 * np.sqrt(2.0), rel=0.03)
    assert np.mean(np.abs(differences) > noise.points) == pytest.approx(0.0455, abs=0.015)
    assert noise.num_scores == 2000


def test_few_repeats_and_lucky_ones_leave_the_constant() -> None:
    far_apart, once = {0: 10.0, 1: 40.0}, {0: 10.0}
    assert Noise.of([far_apart] * (LEAST_REPEATS - 1) + [once] * 50) == Noise(points=CLOSE_POINTS, num_scores=0)
    assert Noise.of([far_apart] * LEAST_REPEATS).num_scores == LEAST_REPEATS
    assert Noise.of([{0: 10.0, 1: 10.5}] * 50) == Noise(points=CLOSE_POINTS, num_scores=50)


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        (
            {0: 10.0},
            "Noise is taken to be 3 points for two single scores, as fewer than 5 that show transfer",
        ),
        ({0: 10.0, 1: 10.5}, "Noise is 3 points for two single scores, and seeds say no more (50 scores"),
        ({0: 10.0, 1: 13.0}, "Noise is 6.0 points for two single scores, in place of 3: twice the standard deviation"),
    ],
)
def test_a_page_says_whether_noise_is_known(by_seed: dict[int | None, float], words: str) -> None:
    assert words in Noise.of([by_seed] * 50).sentence()


def test_rows_without_transfer_make_no_other_row_more_certain() -> None:
    """Near chance seeds can hardly differ, however many of such scores there are."""
    names = ("default", "wiki-cc", "no-anchors", "default-anchors", "extra-anchors")
    live = list(zip(names, (60.0, 50.0, 40.0, 55.0, 65.0), strict=True))
    dead = {"sep-emb": 1.0, "sep-l1-6": 2.0, "sep-emb-l1-6": 0.5}

    def noise(rows: list[tuple[str, float]], *more: Measurement) -> Noise:
        found = [
            *scored({**dict(rows), **dead}),
            *scored({**{name: score + 6 for name, score in rows}, **dead}, seed=1),
        ]
        return Comparisons.of_tasks(list(transfer_scores([*found, *more]))).noise

    assert noise(live) == Noise(points=pytest.approx(12.0), num_scores=5)
    # Names that are found without pretraining are no transfer either.
    more = [*live, ("sep-l1-3", 20.0)]
    assert noise(more).num_scores == 6
    assert noise(more, *scored({"sep-l1-3": 21.0}, variant=UNTRAINED)).num_scores == 5
    assert noise([*live, ("sep-l1-3", math.nan)]) == noise(live)
