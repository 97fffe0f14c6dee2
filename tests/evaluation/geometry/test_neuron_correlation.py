"""Average neuron-wise correlation against scipy's Pearson correlation of one column after another."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group, pearsonr

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.cka import average_neuron_correlation


@given(st.integers(3, 30), st.integers(1, 9), st.integers(0, 10_000))
def test_it_is_the_mean_over_columns(rows: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, width)) * 10 + 100
    y = 0.1 * x + random.normal(size=(rows, width)) - 7
    expected = np.mean([pearsonr(x[:, column], y[:, column]).statistic for column in range(width)])
    assert float(average_neuron_correlation(x, y)) == pytest.approx(expected, abs=1e-9)
    assert float(average_neuron_correlation(y, x)) == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_shift_and_size_of_each_neuron_do_not_matter(width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, 20, width))
    moved = x * random.uniform(0.01, 100, width) + random.normal(size=width)
    expected = float(average_neuron_correlation(x, y))
    assert float(average_neuron_correlation(moved, y)) == pytest.approx(expected, abs=1e-9)
    assert float(average_neuron_correlation(x, moved)) == pytest.approx(1, abs=1e-9)


def test_turning_does_matter() -> None:
    """The point of the measure: a shared task layer reads neurons, not directions."""
    x = np.random.default_rng(0).normal(size=(200, 16))
    assert float(average_neuron_correlation(x, x)) == pytest.approx(1)
    assert abs(float(average_neuron_correlation(x, x @ ortho_group.rvs(16, random_state=0)))) < 0.5


def test_the_sign_is_kept() -> None:
    x = np.random.default_rng(0).normal(size=(20, 4))
    assert float(average_neuron_correlation(x, -x)) == pytest.approx(-1)
    assert float(average_neuron_correlation(x, x * [1, -1, 1, -1])) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_neuron_counts_as_zero(dtype: torch.dtype) -> None:
    """Also where the mean of equal numbers is not quite that number."""
    x = torch.randn(10, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))
    still = x.clone()
    still[:, 2] = 0.1
    assert float(average_neuron_correlation(x, still)) == pytest.approx(0.75)
    assert float(average_neuron_correlation(still, still)) == pytest.approx(0.75)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(IsoglotError, match="x has 3 neurons and y has 4"):
        average_neuron_correlation(torch.randn(5, 3), torch.randn(5, 4))
    with pytest.raises(IsoglotError, match="x has 5 rows and y has 4"):
        average_neuron_correlation(torch.randn(5, 3), torch.randn(4, 3))
    with pytest.raises(IsoglotError, match="have 1 rows, and at least 2"):
        average_neuron_correlation(torch.randn(1, 3), torch.randn(1, 3))
    with pytest.raises(IsoglotError, match="x: all its rows are the same"):
        average_neuron_correlation(torch.ones(5, 3), torch.randn(5, 3))
    with pytest.raises(IsoglotError, match="y: row 4 holds infinity"):
        average_neuron_correlation(torch.randn(5, 1), torch.tensor([[0.0], [1.0], [2.0], [3.0], [-float("inf")]]))
