"""SVCCA against angles between subspaces, which scipy finds another way."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import subspace_angles, svd
from scipy.stats import ortho_group

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.cka import svcca

Matrix = NDArray[np.float64]
seeds = st.integers(0, 10_000)


def two_matrices(rows: int, width_x: int, width_y: int, *, seed: int) -> tuple[Matrix, Matrix]:
    """With something in common, and columns of very unequal variance, so that some directions are not kept."""
    random = np.random.default_rng(seed)
    x, noise = random.normal(size=(rows, width_x)), random.normal(size=(rows, width_y))
    y = x @ random.normal(size=(width_x, width_y)) + noise
    return x * 0.5 ** np.arange(width_x) + 3, y * 0.5 ** np.arange(width_y) - 5


def correlations_by_angles(x: Matrix, y: Matrix, *, variance: float) -> Matrix:
    """Canonical correlations are cosines of the angles between the spaces that columns span."""
    spaces = []
    for side in (x, y):
        centred = side - side.mean(0)
        _, sizes, directions = svd(centred, full_matrices=False)
        shares = np.cumsum(sizes**2) / np.sum(sizes**2)
        spaces.append(centred @ directions[: int(np.argmax(shares >= variance)) + 1].T)
    cosines: Matrix = np.cos(subspace_angles(*spaces))
    return cosines


@pytest.mark.parametrize("variance", [0.5, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("shape", [(60, 8, 8), (60, 3, 12), (9, 9, 9), (40, 50, 12), (40, 50, 60)])
def test_svcca_against_angles_between_subspaces(shape: tuple[int, int, int], variance: float) -> None:
    x, y = two_matrices(*shape, seed=1)
    expected = correlations_by_angles(x, y, variance=variance).mean()
    assert float(svcca(x, y, variance=variance)) == pytest.approx(expected, abs=1e-7)


@given(st.integers(20, 40), st.integers(1, 8), st.integers(1, 8), seeds, st.floats(-50, 50))
def test_turning_scaling_and_shifting_change_nothing(
    rows: int, width_x: int, width_y: int, seed: int, scale: float
) -> None:
    x, y = two_matrices(rows, width_x, width_y, seed=seed)
    rotation = ortho_group.rvs(width_x, random_state=seed) if width_x > 1 else -np.eye(1)
    expected = float(svcca(x, y))
    assert 0 <= expected <= 1
    assert float(svcca(x @ rotation, y)) == pytest.approx(expected, abs=1e-7)
    assert float(svcca((x - 3) * 10.0**scale, y)) == pytest.approx(expected, abs=1e-7)
    assert float(svcca(x + 7, y)) == pytest.approx(expected, abs=1e-7)
    assert float(svcca(y, x)) == pytest.approx(expected, abs=1e-7)
    assert float(svcca(x, x)) == pytest.approx(1, abs=1e-7)


def test_stretching_changes_nothing_as_long_as_the_same_directions_are_kept() -> None:
    """What CKA was made to see."""
    x, y = (np.random.default_rng(seed).normal(size=(50, 4)) for seed in (0, 1))
    assert float(svcca(x @ np.diag([3, 1, 1, 1]), y)) == pytest.approx(float(svcca(x, y)), abs=1e-7)


def test_what_holds_little_variance_is_left_out() -> None:
    """The second columns agree but hardly vary; the first do not agree."""
    random = np.random.default_rng(0)
    first_x, first_y, second = random.normal(size=(3, 500, 1))
    x, y = np.hstack([first_x, 0.01 * second]), np.hstack([first_y, 0.01 * second])
    assert float(svcca(x, y)) < 0.15
    assert float(svcca(x, y, variance=0.99999)) == pytest.approx(0.5, abs=0.1)


def test_the_mean_is_over_the_fewer_directions() -> None:
    """x spans one of the directions of y, and y two more."""
    y = np.random.default_rng(0).normal(size=(50, 3))
    assert float(svcca(y[:, :1], y)) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("variance", [0.0, 1.0, 1.5, -1.0, float("nan")])
def test_a_share_of_variance_lies_between_0_and_1(variance: float) -> None:
    with pytest.raises(IsoglotError, match=r"variance: is .* must lie between 0 and 1"):
        svcca(torch.randn(5, 3), torch.randn(5, 3), variance=variance)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(IsoglotError, match="x has 5 rows and y has 4"):
        svcca(torch.randn(5, 3), torch.randn(4, 3))
    with pytest.raises(IsoglotError, match="have 1 rows, and at least 2"):
        svcca(torch.randn(1, 3), torch.randn(1, 3))
    with pytest.raises(IsoglotError, match="y: all its rows are the same"):
        svcca(torch.randn(5, 3), torch.ones(5, 3))
    with pytest.raises(IsoglotError, match="x: row 0 holds NaN"):
        svcca(torch.full((5, 3), float("nan")), torch.randn(5, 3))
