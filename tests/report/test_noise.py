"""What counts as noise is what seeds say, where there are enough of them."""

import numpy as np
import pytest

from isoglot.report.noise import LEAST_REPEATS, Noise
from isoglot.report.verdicts import CLOSE_POINTS


def test_two_models_of_different_seeds_lie_further_apart_in_one_case_of_twenty() -> None:
    """Against many pairs of models drawn at random, whose spread is known."""
    random = np.random.default_rng(0)
    scores = 50.0 + 20.0 * random.standard_normal((2000, 1)) + 4.0 * random.standard_normal((2000, 3))
    noise = Noise.of(dict(enumerate(row)) for row in scores.tolist())
    differences = scores[:, 0] - scores[:, 1]
    assert noise.points == pytest.approx(2.0 * 4.0 * np.sqrt(2.0), rel=0.03)
    assert np.mean(np.abs(differences) > noise.points) == pytest.approx(0.0455, abs=0.015)
    assert noise.num_scores == 2000


def test_two_seeds_each_make_it_twice_the_root_of_their_mean_squared_difference() -> None:
    differences = [0.0, 2.0, 4.0, 6.0, 8.0]
    noise = Noise.of({0: 40.0, 1: 40.0 + each} for each in differences)
    assert noise.points == pytest.approx(2.0 * np.sqrt(np.mean(np.square(differences))))


def test_few_repeats_and_lucky_ones_leave_the_constant() -> None:
    far_apart = {0: 10.0, 1: 40.0}
    once = {0: 10.0}
    assert Noise.of([far_apart] * (LEAST_REPEATS - 1) + [once] * 50) == Noise(points=CLOSE_POINTS, num_scores=0)
    assert Noise.of([far_apart] * LEAST_REPEATS).num_scores == LEAST_REPEATS
    assert Noise.of([{0: 10.0, 1: 10.5}] * 50) == Noise()
    assert Noise.of([]) == Noise()
