"""Normalisation against loops over numbers; maps against scipy and planted rotations, on old vectors and new ones."""

import math
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import (
    FewPairsWarning,
    Normalization,
    VectorMap,
    iterative_normalization,
    orthogonal_map,
    read_maps,
    write_maps,
)
from isoglot.study.searches import NewVectors
from tests.evaluation.geometry.drawn_vectors import drawn_rotation, drawn_vectors

counts, widths, rounds_of, seeds = st.integers(4, 12), st.integers(2, 6), st.integers(0, 6), st.integers(0, 10_000)
EXACT, NEAR = {"rtol": 0, "atol": 1e-9}, {"rtol": 0, "atol": 1e-6}


def off_centre(count: int, width: int, *, seed: int) -> Tensor:
    """Vectors whose mean is far from 0, as those of encoders."""
    return drawn_vectors(count, width, seed=seed) + 1


def normalised_by_loops(rows: list[list[float]], *, rounds: int) -> list[list[float]]:
    def unit(row: list[float]) -> list[float]:
        return [number / (math.sqrt(sum(other * other for other in row)) + 1e-8) for number in row]

    for _ in range(rounds):
        rows = [unit(row) for row in rows]
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        rows = [[number - mean for number, mean in zip(row, means, strict=True)] for row in rows]
    return [unit(row) for row in rows]


@given(counts, widths, rounds_of, seeds)
def test_normalisation_is_what_loops_find(count: int, width: int, rounds: int, seed: int) -> None:
    vector_ND = off_centre(count, width, seed=seed)
    expected_ND = torch.tensor(normalised_by_loops(vector_ND.tolist(), rounds=rounds), dtype=torch.float64)
    torch.testing.assert_close(iterative_normalization(vector_ND, rounds), expected_ND, **EXACT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@given(rounds_of, seeds)
def test_kept_means_do_the_same_again_and_normalise_new_vectors_one_by_one(
    dtype: torch.dtype, rounds: int, seed: int
) -> None:
    vector_ND, new_ND = off_centre(20, 4, seed=seed).to(dtype), off_centre(5, 4, seed=seed + 1)
    kept = Normalization.of(vector_ND, rounds=rounds)
    assert kept.apply(vector_ND).equal(iterative_normalization(vector_ND, rounds))
    assert kept.mean_D.equal(vector_ND.mean(0))
    together_ND = kept.apply(new_ND)
    for row in range(5):
        torch.testing.assert_close(kept.apply(new_ND[row : row + 1]), together_ND[row : row + 1], **EXACT)
    assert kept.apply(new_ND[:0]).shape == (0, 4)
    assert kept.apply(new_ND.float()).dtype == torch.float32


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_vectors_of_zeros_stay_zero_and_change_nothing_for_the_rest(rounds: int) -> None:
    vector_ND = off_centre(10, 4, seed=0)
    with_zeros_ND = torch.cat([vector_ND[:3], torch.zeros(2, 4), vector_ND[3:]])
    normal_ND = iterative_normalization(with_zeros_ND, rounds)
    assert not normal_ND[3:5].any()
    assert torch.cat([normal_ND[:3], normal_ND[5:]]).equal(iterative_normalization(vector_ND, rounds))
    assert Normalization.of(with_zeros_ND, rounds=rounds).mean_D.equal(vector_ND.mean(0))


@pytest.mark.parametrize(
    ("vector_ND", "rounds", "complaint"),
    [
        (torch.randn(1, 3), 5, "all are the same or zero"),
        (torch.full((6, 3), 0.1), 5, "all are the same or zero"),
        (torch.zeros(6, 3), 0, "all are the same or zero"),
        (torch.randn(6, 3), -1, "rounds: is -1"),
    ],
)
def test_what_cannot_be_normalised_is_refused(vector_ND: Tensor, rounds: int, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        iterative_normalization(vector_ND, rounds)


def test_one_vector_has_a_length() -> None:
    torch.testing.assert_close(iterative_normalization(torch.tensor([[3.0, 4.0]]), 0), torch.tensor([[0.6, 0.8]]))


@given(widths, seeds)
def test_the_map_is_scipy_s_and_finds_a_planted_rotation(width: int, seed: int) -> None:
    source_ND, target_ND = drawn_vectors(3 * width, width, seed=seed), drawn_vectors(3 * width, width, seed=seed + 1)
    expected_DD, _ = orthogonal_procrustes(source_ND.numpy(), target_ND.numpy())
    found_DD = orthogonal_map(source_ND, target_ND)
    torch.testing.assert_close(found_DD, torch.from_numpy(expected_DD), **EXACT)
    torch.testing.assert_close(found_DD @ found_DD.T, torch.eye(width, dtype=torch.float64), **EXACT)
    planted_DD = drawn_rotation(width, seed=seed)
    torch.testing.assert_close(orthogonal_map(source_ND, source_ND @ planted_DD), planted_DD, **EXACT)


def test_fewer_pairs_than_dimensions_bring_a_warning_that_names_the_consequence() -> None:
    source_ND, planted_DD = drawn_vectors(4, 7, seed=0), drawn_rotation(7, seed=0)
    with pytest.warns(FewPairsWarning, match="4 pairs for 7 dimensions: .* at least 3 dimensions, the map is arbi"):
        found_DD = orthogonal_map(source_ND, source_ND @ planted_DD)
    torch.testing.assert_close(source_ND @ found_DD, source_ND @ planted_DD, **EXACT)
    torch.testing.assert_close(found_DD @ found_DD.T, torch.eye(7, dtype=torch.float64), **EXACT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        orthogonal_map(drawn_vectors(7, 7, seed=0), drawn_vectors(7, 7, seed=1))


@pytest.mark.parametrize(
    ("source_ND", "target_ND", "complaint"),
    [
        (torch.randn(5, 3), torch.randn(4, 3), "source has 5 rows and target has 4"),
        (torch.randn(5, 3), torch.randn(5, 4), "source has vectors of 3 numbers and target of 4"),
        (torch.randn(0, 3), torch.randn(0, 3), "have no rows"),
        (torch.full((5, 3), torch.inf), torch.randn(5, 3), r"source: row 0 holds infinity \(5 such rows of 5\)"),
    ],
)
def test_what_cannot_be_mapped_is_refused(source_ND: Tensor, target_ND: Tensor, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        orthogonal_map(source_ND, target_ND)


def a_map(*, seed: int = 0, rounds: int = 5) -> VectorMap:
    return VectorMap.fit(drawn_vectors(30, 4, seed=seed) + 1, drawn_vectors(30, 4, seed=seed + 1) - 1, rounds=rounds)


@given(rounds_of, seeds)
def test_modes_are_what_their_names_say(rounds: int, seed: int) -> None:
    origin_ND, goal_ND = drawn_vectors(30, 4, seed=seed) + 1, drawn_vectors(30, 4, seed=seed + 1) - 1
    found = VectorMap.fit(origin_ND, goal_ND, rounds=rounds)
    normal_origin_ND, normal_goal_ND = (iterative_normalization(side, rounds) for side in (origin_ND, goal_ND))
    expected_DD = torch.from_numpy(orthogonal_procrustes(normal_origin_ND.numpy(), normal_goal_ND.numpy())[0])
    torch.testing.assert_close(found.rotation_DD, expected_DD, **NEAR)
    new_ND = drawn_vectors(6, 4, seed=seed + 2)
    centred_ND = (new_ND - origin_ND.mean(0)) @ expected_DD + goal_ND.mean(0)
    for mode, given_ND, mapped_ND, compared_ND in (
        (NewVectors.CENTRED, new_ND, centred_ND, goal_ND),
        (NewVectors.ROTATED, new_ND, new_ND @ expected_DD, goal_ND),
        (NewVectors.NORMALIZED, origin_ND, normal_origin_ND @ expected_DD, normal_goal_ND),
    ):
        torch.testing.assert_close(found.mapped(given_ND, new_vectors=mode), mapped_ND, **NEAR)
        assert found.compared(goal_ND, new_vectors=mode).equal(compared_ND)


def test_pairs_choose_rows_after_all_rows_were_normalised() -> None:
    origin_ND, goal_ND = drawn_vectors(12, 3, seed=0) + 1, drawn_vectors(15, 3, seed=1)
    pairs = [(0, 14), (3, 2), (3, 2), (3, 5), (11, 0), (7, 7)]
    found = VectorMap.fit(origin_ND, goal_ND, pairs=pairs, rounds=5)
    normal_origin_ND, normal_goal_ND = iterative_normalization(origin_ND), iterative_normalization(goal_ND)
    rows, goal_rows = (list(side) for side in zip(*pairs, strict=True))
    expected_DD, _ = orthogonal_procrustes(normal_origin_ND[rows].numpy(), normal_goal_ND[goal_rows].numpy())
    torch.testing.assert_close(found.rotation_DD, torch.from_numpy(expected_DD), **NEAR)
    torch.testing.assert_close(found.origin.mean_D, origin_ND.mean(0))
    torch.testing.assert_close(found.goal.mean_D, goal_ND.mean(0))


@pytest.mark.parametrize("mode", NewVectors)
def test_vectors_of_zeros_are_mapped_to_zero(mode: NewVectors) -> None:
    new_ND, found = drawn_vectors(3, 4, seed=5), a_map()
    with_zeros_ND = torch.cat([torch.zeros(1, 4), new_ND])
    for turned in (found.mapped, found.compared):
        assert not turned(with_zeros_ND, new_vectors=mode)[0].any()
        torch.testing.assert_close(turned(with_zeros_ND, new_vectors=mode)[1:], turned(new_ND, new_vectors=mode))


def test_vectors_with_nan_are_refused_by_a_map() -> None:
    found, broken_ND = a_map(), torch.full((6, 4), torch.nan)
    for turned in (found.mapped, found.compared):
        with pytest.raises(IsoglotError, match="vectors: row 0 holds NaN"):
            turned(broken_ND, new_vectors=NewVectors.ROTATED)
    with pytest.raises(IsoglotError, match="goal: row 0 holds NaN"):
        VectorMap.fit(torch.randn(6, 4), broken_ND, rounds=5)


@pytest.mark.parametrize("rounds", [0, 5])
def test_maps_come_back_from_disk_bit_for_bit(tmp_path: Path, rounds: int) -> None:
    written = [a_map(seed=seed, rounds=rounds) for seed in range(3)]
    written.append(VectorMap(rotation_DD=written[0].rotation_DD.T, origin=written[0].goal, goal=written[0].goal))
    path = tmp_path / "maps.safetensors"
    write_maps([], path)
    assert read_maps(path) == []
    write_maps(written, path)
    assert list(tmp_path.iterdir()) == [path]
    for one, other in zip(written, read_maps(path), strict=True):
        assert one.rotation_DD.equal(other.rotation_DD)
        assert one.rotation_DD.dtype == other.rotation_DD.dtype
        for side, other_side in ((one.origin, other.origin), (one.goal, other.goal)):
            assert side.mean_D.equal(other_side.mean_D)
            assert side.round_mean_RD.equal(other_side.round_mean_RD)
