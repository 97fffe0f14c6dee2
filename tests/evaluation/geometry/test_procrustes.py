"""The orthogonal map against scipy and against rotations that were planted."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import FewPairsWarning, orthogonal_map

widths = st.integers(2, 9)
seeds = st.integers(0, 10_000)
EXACT = {"rtol": 0, "atol": 1e-9}


def vectors(count: int, width: int, *, seed: int) -> Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rotation(width: int, *, seed: int) -> Tensor:
    """Or a reflection."""
    return torch.from_numpy(ortho_group.rvs(width, random_state=seed))


@given(widths, seeds)
def test_it_is_scipy_s(width: int, seed: int) -> None:
    source_ND, target_ND = vectors(3 * width, width, seed=seed), vectors(3 * width, width, seed=seed + 1)
    expected_DD, _ = orthogonal_procrustes(source_ND.numpy(), target_ND.numpy())
    torch.testing.assert_close(orthogonal_map(source_ND, target_ND), torch.from_numpy(expected_DD), **EXACT)


@given(widths, seeds)
def test_a_planted_rotation_is_found_and_the_map_is_orthogonal(width: int, seed: int) -> None:
    source_ND, planted_DD = vectors(2 * width, width, seed=seed), rotation(width, seed=seed)
    found_DD = orthogonal_map(source_ND, source_ND @ planted_DD)
    torch.testing.assert_close(found_DD, planted_DD, **EXACT)
    torch.testing.assert_close(found_DD @ found_DD.T, torch.eye(width, dtype=torch.float64), **EXACT)


@given(st.integers(2, 6), seeds)
def test_a_planted_rotation_is_found_through_noise(width: int, seed: int) -> None:
    source_ND, planted_DD = vectors(2000, width, seed=seed), rotation(width, seed=seed)
    target_ND = source_ND @ planted_DD + 0.5 * vectors(2000, width, seed=seed + 1)
    assert float((orthogonal_map(source_ND, target_ND) - planted_DD).abs().max()) < 0.1


@given(widths, seeds, st.floats(0.01, 100))
def test_it_turns_with_either_side_and_ignores_scale_and_order(width: int, seed: int, scale: float) -> None:
    source_ND, target_ND = vectors(3 * width, width, seed=seed), vectors(3 * width, width, seed=seed + 1)
    turn_DD, found_DD = rotation(width, seed=seed), orthogonal_map(source_ND, target_ND)
    torch.testing.assert_close(orthogonal_map(source_ND @ turn_DD, target_ND), turn_DD.T @ found_DD, **EXACT)
    torch.testing.assert_close(orthogonal_map(source_ND, target_ND @ turn_DD), found_DD @ turn_DD, **EXACT)
    torch.testing.assert_close(orthogonal_map(target_ND, source_ND), found_DD.T, **EXACT)
    torch.testing.assert_close(orthogonal_map(scale * source_ND, target_ND), found_DD, **EXACT)
    torch.testing.assert_close(orthogonal_map(source_ND.flip(0), target_ND.flip(0)), found_DD, **EXACT)


def test_no_orthogonal_matrix_fits_better() -> None:
    source_ND, target_ND = vectors(30, 4, seed=0), vectors(30, 4, seed=1)
    best = (source_ND @ orthogonal_map(source_ND, target_ND) - target_ND).norm()
    others = [(source_ND @ rotation(4, seed=seed) - target_ND).norm() for seed in range(200)]
    assert best < min(others)


def test_a_pair_given_twice_counts_twice() -> None:
    source_ND, target_ND = vectors(9, 3, seed=0), vectors(9, 3, seed=1)
    weight_N1 = torch.ones(9, 1, dtype=torch.float64)
    weight_N1[4] = 2**0.5
    twice_DD = orthogonal_map(torch.cat([source_ND, source_ND[4:5]]), torch.cat([target_ND, target_ND[4:5]]))
    torch.testing.assert_close(twice_DD, orthogonal_map(weight_N1 * source_ND, weight_N1 * target_ND), **EXACT)
    assert not torch.allclose(twice_DD, orthogonal_map(source_ND, target_ND), rtol=0, atol=1e-3)


def test_vectors_of_zeros_pull_nowhere() -> None:
    source_ND, target_ND = vectors(9, 3, seed=0), vectors(9, 3, seed=1)
    more_ND = torch.cat([source_ND, torch.zeros(2, 3)]), torch.cat([target_ND, vectors(2, 3, seed=2)])
    torch.testing.assert_close(orthogonal_map(*more_ND), orthogonal_map(source_ND, target_ND), **EXACT)


def test_single_precision_and_arrays_come_in_and_a_tensor_that_fits_goes_out() -> None:
    source_ND, target_ND = vectors(50, 6, seed=0), vectors(50, 6, seed=1)
    exact_DD = orthogonal_map(source_ND, target_ND)
    single_DD = orthogonal_map(source_ND.float(), target_ND.float())
    assert single_DD.dtype == torch.float32
    torch.testing.assert_close(single_DD, exact_DD.float(), rtol=0, atol=1e-5)
    assert orthogonal_map(source_ND.numpy(), target_ND.numpy()).equal(exact_DD)
    assert orthogonal_map(source_ND.half(), target_ND.half()).dtype == torch.float32
    assert orthogonal_map(np.asfortranarray(source_ND.numpy()), target_ND).equal(exact_DD)


def test_fewer_pairs_than_dimensions_bring_a_warning_that_names_the_consequence() -> None:
    source_ND, planted_DD = vectors(4, 7, seed=0), rotation(7, seed=0)
    with pytest.warns(
        FewPairsWarning, match="4 pairs for 7 dimensions: .* at least 3 dimensions, the map is arbitrary"
    ):
        found_DD = orthogonal_map(source_ND, source_ND @ planted_DD)
    torch.testing.assert_close(source_ND @ found_DD, source_ND @ planted_DD, **EXACT)
    torch.testing.assert_close(found_DD @ found_DD.T, torch.eye(7, dtype=torch.float64), **EXACT)
    new_ND = vectors(20, 7, seed=1)
    assert not torch.allclose(new_ND @ found_DD, new_ND @ planted_DD, atol=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        orthogonal_map(vectors(7, 7, seed=0), vectors(7, 7, seed=1))


@pytest.mark.parametrize(
    ("source_ND", "target_ND", "complaint"),
    [
        (torch.randn(5, 3), torch.randn(4, 3), "source has 5 rows and target has 4"),
        (torch.randn(5, 3), torch.randn(5, 4), "source has vectors of 3 numbers and target of 4"),
        (torch.randn(5), torch.randn(5), r"source: has the shape \(5,\)"),
        (torch.randn(0, 3), torch.randn(0, 3), "have no rows"),
        (torch.full((5, 3), float("inf")), torch.randn(5, 3), r"source: row 0 holds infinity \(5 such rows of 5\)"),
        (torch.randn(5, 3), torch.full((5, 3), float("nan")), "target: row 0 holds NaN"),
    ],
)
def test_what_cannot_be_mapped_is_refused(source_ND: Tensor, target_ND: Tensor, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        orthogonal_map(source_ND, target_ND)
