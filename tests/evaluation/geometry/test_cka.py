"""CKA against Gram matrices, a statistic over all choices of four rows, and two other libraries."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ortho_group
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.cka import debiased_cka, linear_cka

Matrix = NDArray[np.float64]
Measure = Callable[[Matrix | Tensor, Matrix | Tensor], Tensor]
# High, square and wide, of one width and of two: both forms of the computation.
SHAPES = [(40, 3, 3), (40, 5, 2), (6, 6, 6), (5, 20, 20), (7, 3, 30), (12, 9, 8)]
shapes = st.tuples(st.integers(4, 12), st.integers(2, 9), st.integers(2, 9))
seeds = st.integers(0, 10_000)
EXACT = 1e-10


def two_matrices(shape: tuple[int, int, int], *, seed: int) -> tuple[Matrix, Matrix]:
    """With something in common, and far from centred."""
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
    return float(
        np.mean(
            [
                gram_x[i, j] * (gram_y[i, j] + gram_y[q, r] - 2 * gram_y[i, q])
                for i, j, q, r in permutations(range(len(x)), 4)
            ]
        )
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_cka_against_gram_matrices(shape: tuple[int, int, int]) -> None:
    x, y = two_matrices(shape, seed=1)
    assert float(linear_cka(x, y)) == pytest.approx(hsic(x, y) / np.sqrt(hsic(x, x) * hsic(y, y)), abs=EXACT)


@pytest.mark.parametrize("shape", [(4, 3, 3), (5, 2, 7), (6, 6, 6), (7, 20, 20), (8, 3, 2)])
def test_debiased_cka_against_all_choices_of_four_rows(shape: tuple[int, int, int]) -> None:
    x, y = two_matrices(shape, seed=2)
    expected = unbiased_hsic(x, y) / np.sqrt(unbiased_hsic(x, x) * unbiased_hsic(y, y))
    assert float(debiased_cka(x, y)) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("shape", SHAPES)
def test_cka_against_scikit_learn(shape: tuple[int, int, int]) -> None:
    """The cosine between Gram matrices that scikit-learn makes and centres."""
    from sklearn.metrics.pairwise import cosine_similarity, linear_kernel
    from sklearn.preprocessing import KernelCenterer

    x, y = two_matrices(shape, seed=3)
    flat = [KernelCenterer().fit_transform(linear_kernel(side)).reshape(1, -1) for side in (x, y)]
    assert float(linear_cka(x, y)) == pytest.approx(cosine_similarity(*flat).item(), abs=EXACT)


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka])
@given(shape=shapes, seed=seeds, scale=st.floats(-80, 80))
def test_turning_scaling_and_shifting_change_nothing(
    measure: Measure, shape: tuple[int, int, int], seed: int, scale: float
) -> None:
    x, y = two_matrices(shape, seed=seed)
    rotation = ortho_group.rvs(shape[1], random_state=seed)
    expected = float(measure(x, y))
    assert float(measure(x @ rotation, y)) == pytest.approx(expected, abs=1e-8)
    assert float(measure(y, x @ rotation)) == pytest.approx(expected, abs=1e-8)
    assert float(measure((x - 3) * 10.0**scale, y)) == pytest.approx(expected, abs=1e-8)
    assert float(measure(x - np.arange(shape[1]), y)) == pytest.approx(expected, abs=1e-8)


@given(shape=shapes, seed=seeds)
def test_cka_lies_between_0_and_1_is_symmetric_and_1_for_a_matrix_with_itself(
    shape: tuple[int, int, int], seed: int
) -> None:
    x, y = two_matrices(shape, seed=seed)
    assert 0 <= float(linear_cka(x, y)) <= 1
    assert -1 <= float(debiased_cka(x, y)) <= 1
    for measure in (linear_cka, debiased_cka):
        assert float(measure(x, y)) == pytest.approx(float(measure(y, x)), abs=EXACT)
        assert float(measure(x, x)) == pytest.approx(1, abs=EXACT)
        assert float(measure(x, x)) <= 1


def test_rounding_never_lifts_it_above_1() -> None:
    for seed in range(200):
        x, _ = two_matrices((9, 4, 1), seed=seed)
        for measure in (linear_cka, debiased_cka):
            assert float(measure(x, x @ ortho_group.rvs(4, random_state=seed))) <= 1


def test_a_general_linear_map_does_change_it() -> None:
    """Unlike canonical correlation, which cannot tell a matrix from the same one stretched."""
    x, _ = two_matrices((50, 4, 1), seed=5)
    stretched = x @ np.diag([100, 1, 1, 1])
    assert float(linear_cka(x, stretched)) < 0.7
    assert float(debiased_cka(x, stretched)) < 0.7


def test_one_large_column_by_hand() -> None:
    """One column each: CKA is their squared correlation, here (3/5)**2."""
    x = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
    y = 3 * x + 4 * torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])
    assert float(linear_cka(x, y)) == pytest.approx(0.36, abs=EXACT)


def test_only_plain_cka_takes_unrelated_wide_matrices_for_alike() -> None:
    random = np.random.default_rng(0)
    pairs = [(random.normal(size=(20, 200)), random.normal(size=(20, 200))) for _ in range(50)]
    assert np.mean([float(linear_cka(x, y)) for x, y in pairs]) > 0.8
    assert np.mean([float(debiased_cka(x, y)) for x, y in pairs]) == pytest.approx(0, abs=0.02)


def test_a_result_is_a_float64_of_the_same_value_whatever_comes_in() -> None:
    x, y = two_matrices((30, 4, 4), seed=6)
    wanted = linear_cka(x, y)
    assert wanted.shape == ()
    single_x, single_y = torch.from_numpy(x).float(), torch.from_numpy(y).float()
    for given_x, given_y in ((single_x, single_y), (single_x.numpy(), single_y), (x[::-1], y[::-1])):
        found = linear_cka(given_x, given_y)
        assert isinstance(found, Tensor)
        assert found.dtype == torch.float64
        assert float(found) == pytest.approx(float(wanted), abs=1e-6)
    x.flags.writeable = False
    assert linear_cka(x, y).equal(wanted)


def test_a_large_mean_does_not_drown_single_precision() -> None:
    x, y = two_matrices((200, 4, 4), seed=7)
    x, y = x.astype(np.float32) + np.float32(1000), y.astype(np.float32) - np.float32(1000)
    expected = hsic(*(side.astype(np.float64) - side.astype(np.float64).mean(0) for side in (x, y)))
    for side in (x, y):
        own = side.astype(np.float64) - side.astype(np.float64).mean(0)
        expected /= np.sqrt(hsic(own, own))
    assert float(linear_cka(x, y)) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka])
@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        (torch.ones(5, 3), torch.randn(4, 3), "x has 5 rows and y has 4"),
        (torch.randn(5), torch.randn(5), r"x: has the shape \(5,\)"),
        (torch.randn(2, 5, 3), torch.randn(5, 3), r"x: has the shape \(2, 5, 3\)"),
        (torch.randn(5, 3), torch.full((5, 3), 0.1), "y: all its rows are the same"),
        (torch.zeros(5, 3), torch.randn(5, 3), "x: all its rows are the same"),
        (torch.randn(1, 3), torch.randn(1, 3), "have 1 rows, and at least"),
        (torch.randn(0, 3), torch.randn(0, 3), "have no rows"),
        (torch.randn(5, 3), torch.tensor([[0.0], [1.0], [float("nan")], [2.0], [float("nan")]]), "y: row 2 holds NaN"),
        (torch.tensor([[0.0], [float("inf")], [1.0], [2.0], [3.0]]), torch.randn(5, 3), "x: row 1 holds infinity"),
    ],
)
def test_what_cannot_be_compared_is_refused(measure: Measure, x: Tensor, y: Tensor, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        measure(x, y)


def test_debiased_cka_needs_four_rows_that_are_not_equally_far_apart() -> None:
    with pytest.raises(IsoglotError, match="have 3 rows, and at least 4"):
        debiased_cka(torch.eye(3), torch.eye(3))
    for rows in range(4, 20):
        with pytest.raises(IsoglotError, match="y: all its rows are equally far apart"):
            debiased_cka(torch.randn(rows, 3), torch.eye(rows) + 2)
