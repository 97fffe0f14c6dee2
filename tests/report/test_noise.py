"""What counts as noise is what seeds say, where there are enough of them."""

import math

import numpy as np
import pytest

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.transfer_scores import transfer_noise, transfer_scores
from isoglot.report.verdicts import CLOSE_POINTS, LEAST_REPEATS, Noise
from tests.report.made_up_measurements import transferred


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


def test_rows_without_transfer_make_no_other_row_more_certain() -> None:
    """Near chance seeds can hardly differ, however many of such scores there are."""
    live = [
        ("default", 60.0),
        ("wiki-cc", 50.0),
        ("no-anchors", 40.0),
        ("default-anchors", 55.0),
        ("extra-anchors", 65.0),
    ]
    dead = [("sep-emb", 1.0), ("sep-l1-6", 2.0), ("sep-emb-l1-6", 0.5)]

    def noise(rows: list[tuple[str, float]], *more: Measurement) -> Noise:
        seeds = [each for name, score in rows for seed in (0, 1) for each in _scored(name, score + 6 * seed, seed)]
        still = [each for name, score in dead for seed in (0, 1) for each in _scored(name, score, seed)]
        return transfer_noise(transfer_scores([*seeds, *still, *more]))

    assert noise(live) == Noise(points=pytest.approx(12.0), num_scores=5)
    # Names that are found without pretraining are no transfer either.
    found = [("sep-l1-3", 20.0)]
    assert noise([*live, *found]).num_scores == 6
    assert noise([*live, *found], *_scored("sep-l1-3", 21.0, 0, variant=UNTRAINED)).num_scores == 5
    assert noise([*live, ("sep-l1-3", math.nan)]) == noise(live)


def _scored(condition: str, score: float, seed: int, *, variant: str | None = None) -> list[Measurement]:
    return transferred(condition, {"ela": 90.0, "oru": score}, seed=seed, variant=variant)
