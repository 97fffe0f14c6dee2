"""Closed forms of the diagonal against the sums that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.evaluation.geometry.alignment_model import TargetPlaces, diagonal_probabilities, distances

SIZES = st.integers(1, 120)
TENSIONS = st.floats(0.1, 14)


def places(num_targets: int, num_sources: int) -> TargetPlaces:
    return TargetPlaces(
        place_R=np.arange(1, num_targets + 1),
        num_targets_R=np.full(num_targets, num_targets),
        num_sources_R=np.full(num_targets, num_sources),
    )


def brute_force(j: int, n: int, m: int, tension: float) -> tuple[float, float]:
    """The normaliser and the mean distance of target place j, by summing over all m source places."""
    weights = [(np.exp(-tension * abs(j / n - i / m)), abs(j / n - i / m)) for i in range(1, m + 1)]
    normaliser = sum(weight for weight, _ in weights)
    return normaliser, sum(weight * distance for weight, distance in weights) / normaliser


@given(n=SIZES, m=SIZES, tension=TENSIONS)
def test_closed_forms_are_the_sums(n: int, m: int, tension: float) -> None:
    some = sorted({1, (n + 1) // 2, n})
    expected = np.array([brute_force(j, n, m, tension) for j in some])
    rows = np.array(some) - 1
    np.testing.assert_allclose(places(n, m).normaliser(tension)[rows], expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(places(n, m).expected_distance(tension)[rows], expected[:, 1], rtol=0, atol=1e-10)


@given(n=SIZES, m=SIZES, tension=TENSIONS)
def test_probabilities_add_up_and_fall_with_the_distance(n: int, m: int, tension: float) -> None:
    probability_NM = diagonal_probabilities(n, m, tension=tension)
    np.testing.assert_allclose(probability_NM.sum(1), 1, rtol=1e-11)
    order_NM = np.argsort(distances(n, m), axis=1)
    assert (np.diff(np.take_along_axis(probability_NM, order_NM, axis=1)) <= 0).all()


def test_places_as_far_on_either_side_are_exactly_as_likely() -> None:
    for n in (1, 2, 7, 30):
        distance_NM = distances(n, n)
        assert (distance_NM == distance_NM.T).all()
        assert (distance_NM == distance_NM[::-1, ::-1]).all()


def test_observed_distances_may_count_from_nothing() -> None:
    assert distances(2, 2, first_target=0).tolist() == [[0.5, 1.0], [0.0, 0.5]]
    assert distances(2, 2).tolist() == [[0.0, 0.5], [0.5, 0.0]]
    assert distances(1, 4)[0].tolist() == pytest.approx([0.75, 0.5, 0.25, 0.0])
