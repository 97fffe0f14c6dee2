"""CKA, SVCCA and neuron correlation against slow versions, and what turning, scaling and stretching do to them."""

from collections.abc import Callable
from functools import partial
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import subspace_angles, svd
from scipy.stats import ortho_group, pearsonr
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.cka import average_neuron_correlation, debiased_cka, linear_cka, svcca

Matrix = NDArray[np.float64]
Shape = tuple[int, int, int]
Measure = Callable[[Matrix | Tensor, Matrix | Tensor], Tensor]
shapes = st.tuples(st.integers(4, 12), st.integers(2, 9), st.integers(2, 9))
seeds = st.integers(0, 10_000)
EXACT = 1e-10


def two_matrices(shape: Shape, *, seed: int) -> tuple[Matrix, Matrix]:
    """Two matrices with something in common, far from centred."""
    random = np.random.default_rng(seed)
    rows, width_x, width_y = shape
    x, noise = random.normal(size=(rows, width_x)), random.normal(size=(rows, width_y))
    return x + 3, x @ random.normal(size=(width_x, width_y)) + noise - 5


def hsic(x: Matrix, y: Matrix) -> float:
    """Gretton et al. (2005), as they write it."""
    rows = len(x)
    centring = np.eye(rows) - np.ones((rows, rows)) / rows
    return float(np.trace(x @ x.T @ centring @ y @ y.T @ centring) / (rows - 1) ** 2)


def unbiased_hsic(x: Matrix, y: Matrix) -> float:
    """Song et al. (2012), equation 4: the mean over all ordered choices of four rows."""
    gram_x, gram_y = x @ x.T, y @ y.T
    choices = permutations(range(len(x)), 4)
    return float(np.mean([gram_x[i, j] * (gram_y[i, j] + gram_y[q, r] - 2 * gram_y[i, q]) for i, j, q, r in choices]))


def normalised(statistic: Callable[[Matrix, Matrix], float], x: Matrix, y: Matrix) -> float:
    return statistic(x, y) / np.sqrt(statistic(x, x) * statistic(y, y))


# High, square and wide, of one width and of two: both forms of the computation.
@pytest.mark.parametrize("shape", [(40, 5, 2), (6, 6, 6), (5, 20, 20), (7, 3, 30)])
def test_cka_against_gram_matrices(shape: Shape) -> None:
    x, y = two_matrices(shape, seed=1)
    assert float(linear_cka(x, y)) == pytest.approx(normalised(hsic, x, y), abs=EXACT)


@pytest.mark.parametrize("shape", [(4, 3, 3), (5, 2, 7), (7, 20, 20), (8, 3, 2)])
def test_debiased_cka_against_all_choices_of_four_rows(shape: Shape) -> None:
    x, y = two_matrices(shape, seed=2)
    assert float(debiased_cka(x, y)) == pytest.approx(normalised(unbiased_hsic, x, y), abs=EXACT)


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka, svcca])
@given(shape=shapes, seed=seeds, scale=st.floats(-50, 50))
def test_turning_scaling_and_shifting_change_nothing(measure: Measure, shape: Shape, seed: int, scale: float) -> None:
    x, y = two_matrices(shape, seed=seed)
    expected, rotation = float(measure(x, y)), ortho_group.rvs(shape[1], random_state=seed)
    for other in (x @ rotation, (x - 3) * 10.0**scale, x - np.arange(shape[1])):
        assert float(measure(other, y)) == pytest.approx(expected, abs=1e-7)
    assert float(measure(y, x @ rotation)) == pytest.approx(expected, abs=1e-7)
    assert (-1 if measure is debiased_cka else 0) <= expected <= 1
    assert 1 - 1e-7 < float(measure(x, x @ rotation)) <= 1


def test_a_result_is_a_float64_of_the_same_value_whatever_comes_in() -> None:
    x, y = two_matrices((30, 4, 4), seed=6)
    expected = linear_cka(x, y)
    assert (expected.shape, expected.dtype) == ((), torch.float64)
    single_x, single_y = torch.from_numpy(x).float(), torch.from_numpy(y).float()
    for given_x, given_y in ((single_x, single_y), (single_x.numpy(), single_y), (x[::-1], y[::-1])):
        assert float(linear_cka(given_x, given_y)) == pytest.approx(float(expected), abs=1e-6)
    x.flags.writeable = False
    assert linear_cka(x, y).equal(expected)


def test_a_large_mean_does_not_drown_single_precision() -> None:
    x, y = (side.astype(np.float32) + np.float32(1000) for side in two_matrices((200, 4, 4), seed=7))
    expected = normalised(hsic, *(side.astype(np.float64) - side.astype(np.float64).mean(0) for side in (x, y)))
    assert float(linear_cka(x, y)) == pytest.approx(expected, abs=EXACT)


MEASURES = (linear_cka, debiased_cka, svcca, average_neuron_correlation)
INCOMPARABLE = [
    (torch.ones(5, 3), torch.randn(4, 3), "x has 5 rows and y has 4"),
    (torch.randn(2, 5, 3), torch.randn(5, 3), r"x: has the shape \(2, 5, 3\)"),
    (torch.randn(5, 3), torch.full((5, 3), 0.1), "y: all its rows are the same"),
    (torch.randn(1, 3), torch.randn(1, 3), "have 1 rows, and at least"),
    (torch.randn(0, 3), torch.randn(0, 3), "have no rows"),
    (torch.randn(5, 3), torch.tensor([[0.0], [1.0], [torch.nan], [2.0], [torch.nan]]), "y: row 2 holds NaN"),
    (torch.tensor([[0.0], [torch.inf], [1.0], [2.0], [3.0]]), torch.randn(5, 3), "x: row 1 holds infinity"),
]


@pytest.mark.parametrize(
    ("measure", "x", "y", "complaint"),
    [
        *((each, *case) for each in MEASURES for case in INCOMPARABLE),
        (debiased_cka, torch.eye(3), torch.eye(3), "have 3 rows, and at least 4"),
        (debiased_cka, torch.randn(4, 3), torch.eye(4) + 2, "y: all its rows are equally far apart"),
        (debiased_cka, torch.eye(19) + 2, torch.randn(19, 3), "x: all its rows are equally far apart"),
        (average_neuron_correlation, torch.randn(5, 3), torch.randn(5, 4), "x has 3 neurons and y has 4"),
        (partial(svcca, variance=0.0), torch.randn(5, 3), torch.randn(5, 3), "variance: is 0.0, and must lie between"),
        (partial(svcca, variance=torch.nan), torch.randn(5, 3), torch.randn(5, 3), "variance: is nan, and must lie"),
        (partial(svcca, variance=1.0), torch.randn(5, 3), torch.randn(5, 3), "variance: is 1.0, and must lie between"),
    ],
)
def test_what_cannot_be_compared_is_refused(measure: Measure, x: Tensor, y: Tensor, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        measure(x, y)


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


@pytest.mark.parametrize("variance", [0.5, 0.99])
@pytest.mark.parametrize("shape", [(60, 3, 12), (9, 9, 9), (40, 50, 60)])
def test_svcca_against_angles_between_subspaces(shape: Shape, variance: float) -> None:
    """Columns of very unequal variance, so that some directions are not kept."""
    x, y = (side * 0.5 ** np.arange(side.shape[1]) for side in two_matrices(shape, seed=1))
    expected = correlations_by_angles(x, y, variance=variance).mean()
    assert float(svcca(x, y, variance=variance)) == pytest.approx(expected, abs=1e-7)


@given(st.integers(3, 30), st.integers(1, 9), seeds)
def test_neuron_correlation_is_the_mean_over_columns(rows: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, width)) * 10 + 100
    y = 0.1 * x + random.normal(size=(rows, width)) - 7
    expected = np.mean([pearsonr(x[:, column], y[:, column]).statistic for column in range(width)])
    moved = x * random.uniform(0.01, 100, width) + random.normal(size=width)
    for pair in ((x, y), (y, x), (moved, y)):
        assert float(average_neuron_correlation(*pair)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_neuron_counts_as_zero(dtype: torch.dtype) -> None:
    """Also where the mean of equal numbers is not quite that number."""
    x = torch.randn(10, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))
    still = x.clone()
    still[:, 2] = 0.1
    assert float(average_neuron_correlation(x, still)) == pytest.approx(0.75)
    assert float(average_neuron_correlation(still, still)) == pytest.approx(0.75)
