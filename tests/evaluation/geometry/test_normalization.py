"""Iterative normalization against loops over numbers, and what it promises of lengths and means."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import Normalization, iterative_normalization

counts = st.integers(4, 12)
widths = st.integers(2, 6)
seeds = st.integers(0, 10_000)
EXACT = {"rtol": 0, "atol": 1e-10}


def vectors(count: int, width: int, *, seed: int) -> Tensor:
    """Off centre, as those of encoders are."""
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 1


def normalised_by_loops(rows: list[list[float]], *, rounds: int) -> list[list[float]]:
    def unit(row: list[float]) -> list[float]:
        return [number / (math.sqrt(sum(other * other for other in row)) + 1e-8) for number in row]

    for _ in range(rounds):
        rows = [unit(row) for row in rows]
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        rows = [[number - mean for number, mean in zip(row, means, strict=True)] for row in rows]
    return [unit(row) for row in rows]


@given(counts, widths, st.integers(0, 6), seeds)
def test_it_is_what_loops_find(count: int, width: int, rounds: int, seed: int) -> None:
    vector_ND = vectors(count, width, seed=seed)
    expected = normalised_by_loops(vector_ND.tolist(), rounds=rounds)
    torch.testing.assert_close(
        iterative_normalization(vector_ND, rounds), torch.tensor(expected, dtype=torch.float64), **EXACT
    )


@given(widths, seeds)
def test_lengths_are_one_and_means_near_zero(width: int, seed: int) -> None:
    vector_ND = vectors(200, width, seed=seed)
    normal_ND = iterative_normalization(vector_ND)
    torch.testing.assert_close(normal_ND.norm(dim=1), torch.ones(200, dtype=torch.float64), rtol=0, atol=1e-5)
    assert float(normal_ND.mean(0).norm()) < 0.02
    assert float(normal_ND.mean(0).norm()) < float(iterative_normalization(vector_ND, rounds=1).mean(0).norm())
    assert float(iterative_normalization(vector_ND, rounds=40).mean(0).norm()) < 1e-5


def test_five_rounds_unless_said_otherwise() -> None:
    vector_ND = vectors(20, 4, seed=0)
    assert iterative_normalization(vector_ND).equal(iterative_normalization(vector_ND, rounds=5))
    assert not iterative_normalization(vector_ND).equal(iterative_normalization(vector_ND, rounds=4))


@given(counts, widths, st.integers(0, 6), seeds, st.floats(0.01, 100))
def test_it_turns_with_the_vectors_and_ignores_scale_and_order(
    count: int, width: int, rounds: int, seed: int, scale: float
) -> None:
    vector_ND = vectors(count, width, seed=seed)
    rotation_DD = torch.from_numpy(ortho_group.rvs(width, random_state=seed))
    normal_ND = iterative_normalization(vector_ND, rounds)
    loose = {"rtol": 0, "atol": 1e-4}
    torch.testing.assert_close(
        iterative_normalization(vector_ND @ rotation_DD, rounds), normal_ND @ rotation_DD, **loose
    )
    torch.testing.assert_close(iterative_normalization(scale * vector_ND, rounds), normal_ND, **loose)
    torch.testing.assert_close(iterative_normalization(vector_ND.flip(0), rounds), normal_ND.flip(0), **loose)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@given(counts, widths, st.integers(0, 6), seeds)
def test_means_that_were_kept_do_the_same_again_bit_for_bit(
    dtype: torch.dtype, count: int, width: int, rounds: int, seed: int
) -> None:
    vector_ND = vectors(count, width, seed=seed).to(dtype)
    kept = Normalization.of(vector_ND, rounds=rounds)
    assert kept.apply(vector_ND).equal(iterative_normalization(vector_ND, rounds))
    assert kept.mean_D.equal(vector_ND.mean(0))
    assert kept.round_mean_RD.shape == (rounds, width)


@given(st.integers(1, 6), seeds)
def test_a_new_vector_is_normalised_without_looking_at_others(rounds: int, seed: int) -> None:
    kept = Normalization.of(vectors(20, 4, seed=seed), rounds=rounds)
    new_ND = vectors(5, 4, seed=seed + 1)
    together_ND = kept.apply(new_ND)
    for row in range(5):
        torch.testing.assert_close(kept.apply(new_ND[row : row + 1]), together_ND[row : row + 1], **EXACT)
    assert not torch.allclose(together_ND, iterative_normalization(new_ND, rounds), atol=1e-3)
    assert kept.apply(new_ND[:0]).shape == (0, 4)


def test_no_rounds_give_unit_length_and_no_more() -> None:
    vector_ND = vectors(5, 3, seed=0)
    torch.testing.assert_close(
        iterative_normalization(vector_ND, rounds=0), vector_ND / vector_ND.norm(dim=1, keepdim=True), rtol=0, atol=1e-7
    )


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_vectors_of_zeros_stay_zero_and_change_nothing_for_the_rest(rounds: int) -> None:
    vector_ND = vectors(10, 4, seed=0)
    with_zeros_ND = torch.cat([vector_ND[:3], torch.zeros(2, 4), vector_ND[3:]])
    normal_ND = iterative_normalization(with_zeros_ND, rounds)
    assert not normal_ND[3:5].any()
    assert torch.cat([normal_ND[:3], normal_ND[5:]]).equal(iterative_normalization(vector_ND, rounds))
    assert Normalization.of(with_zeros_ND, rounds=rounds).mean_D.equal(vector_ND.mean(0))


def test_arrays_and_precision() -> None:
    vector_ND = vectors(10, 4, seed=0)
    assert iterative_normalization(vector_ND.numpy()).equal(iterative_normalization(vector_ND))
    single_ND = iterative_normalization(vector_ND.float())
    assert single_ND.dtype == torch.float32
    torch.testing.assert_close(single_ND, iterative_normalization(vector_ND).float(), rtol=0, atol=1e-5)
    assert iterative_normalization(np.arange(12).reshape(4, 3)).dtype == torch.float32
    kept = Normalization.of(vector_ND, rounds=5)
    assert kept.apply(vector_ND.float()).dtype == torch.float32


def test_what_is_handed_in_is_left_as_it_was() -> None:
    vector_ND = vectors(10, 4, seed=0)
    before_ND = vector_ND.clone()
    iterative_normalization(vector_ND)
    assert vector_ND.equal(before_ND)


@pytest.mark.parametrize(
    ("vector_ND", "rounds", "complaint"),
    [
        (torch.randn(1, 3), 5, "all are the same or zero"),
        (torch.full((6, 3), 0.1), 5, "all are the same or zero"),
        (torch.zeros(6, 3), 0, "all are the same or zero"),
        (torch.randn(0, 3), 5, "all are the same or zero"),
        (torch.randn(3), 5, r"has the shape \(3,\)"),
        (torch.randn(6, 3), -1, "rounds: is -1"),
        (torch.tensor([[1.0], [float("nan")]]), 5, r"row 1 holds NaN \(1 such rows of 2\)"),
        (torch.tensor([[1.0], [float("-inf")]]), 5, "row 1 holds infinity"),
    ],
)
def test_what_cannot_be_normalised_is_refused(vector_ND: Tensor, rounds: int, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        iterative_normalization(vector_ND, rounds)


def test_one_vector_has_a_length_all_the_same() -> None:
    torch.testing.assert_close(iterative_normalization(torch.tensor([[3.0, 4.0]]), 0), torch.tensor([[0.6, 0.8]]))


def test_new_vectors_of_another_width_are_refused() -> None:
    with pytest.raises(IsoglotError, match="have 3 numbers each, but the means were taken of vectors of 4"):
        Normalization.of(vectors(5, 4, seed=0), rounds=2).apply(torch.randn(5, 3))
