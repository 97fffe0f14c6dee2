"""One rule for all verdicts: noise, seeds, and claims that rest on several comparisons."""

from math import sqrt

import pytest

from isoglot.report.verdicts import CLOSE_CKA, Sample, Verdict, few_seeds, joint_verdict, mean_sample, order_verdict

A, D, T, N = Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE, Verdict.NOT_TESTED


def sample(*values: float) -> Sample:
    return Sample.of(dict(enumerate(values)))


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        (sample(80.0), sample(77.0), T),
        (sample(80.0), sample(76.9), A),
        (sample(76.9), sample(80.0), D),
        # Three seeds of each side: 3 / sqrt(3) = 1.73 points.
        (sample(80.0, 80.0, 80.0), sample(78.3, 78.3, 78.3), T),
        (sample(80.0, 80.0, 80.0), sample(78.2, 78.2, 78.2), A),
        # Far apart on average, but seeds lie among each other.
        (sample(90.0, 90.0, 60.0), sample(70.0, 70.0, 70.0), T),
        (sample(70.0, 70.0, 70.0), sample(90.0, 90.0, 60.0), T),
        (sample(80.0), Sample.certain(77.8), A),
        (sample(80.0), Sample.certain(78.0), T),
    ],
)
def test_an_order_is_decided_beyond_noise_and_by_every_seed(better: Sample, worse: Sample, verdict: Verdict) -> None:
    assert order_verdict(better, worse) is verdict


def test_a_mean_of_many_scores_is_decided_sooner_and_a_difference_of_differences_later() -> None:
    nine = mean_sample([sample(71.1)] * 9), mean_sample([sample(70.0)] * 9)
    assert order_verdict(*nine) is A
    assert order_verdict(sample(71.1), sample(70.0)) is T
    gains = sample(74.0) - sample(70.0), sample(70.0) - sample(70.0)
    assert 3 < gains[0].mean < 3 * sqrt(2)
    assert order_verdict(*gains) is T
    assert order_verdict(sample(74.3) - sample(70.0), gains[1]) is A


def test_similarities_have_a_noise_of_their_own() -> None:
    assert order_verdict(sample(0.60), sample(0.57), close=CLOSE_CKA) is A
    assert order_verdict(sample(0.60), sample(0.57)) is T
    # 0.69 - 0.67 is a little more than 0.02 in binary.
    assert order_verdict(sample(0.69), sample(0.67), close=CLOSE_CKA) is T


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([], N),
        ([N, N], N),
        ([A], A),
        ([A, T], A),
        ([A, T, T], T),
        ([A, A, A, D], D),
        ([T, D], D),
        ([T, T], T),
        # What could not be compared keeps a claim from being borne out, and not from being refuted.
        ([A, N], A),
        ([A, N, N], N),
        ([A, T, N], N),
        ([T, N, N], T),
        ([D, N, N, N], D),
    ],
)
def test_one_exception_refutes_and_half_bear_out(parts: list[Verdict], verdict: Verdict) -> None:
    assert joint_verdict(parts) is verdict


def test_few_seeds_are_told() -> None:
    assert [few_seeds(number) for number in (1, 2, 3)] == [", on 1 seed only", ", on 2 seeds only", ""]
