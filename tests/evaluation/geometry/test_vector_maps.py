"""Maps against rotations that were planted, on vectors they were fitted on and on new ones."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save
from scipy.linalg import orthogonal_procrustes

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import VectorMap, iterative_normalization, read_maps, write_maps
from isoglot.study.searches import NewVectors
from tests.evaluation.geometry.drawn_vectors import drawn_vectors as vectors

seeds = st.integers(0, 10_000)
rounds_of = st.integers(0, 5)
EXACT = {"rtol": 0, "atol": 1e-6}


def a_map(*, seed: int = 0, rounds: int = 5) -> VectorMap:
    return VectorMap.fit(vectors(30, 4, seed=seed) + 1, vectors(30, 4, seed=seed + 1) - 1, rounds=rounds)


@given(rounds_of, seeds)
def test_modes_are_what_their_names_say(rounds: int, seed: int) -> None:
    origin_ND, goal_ND = vectors(30, 4, seed=seed) + 1, vectors(30, 4, seed=seed + 1) - 1
    found = VectorMap.fit(origin_ND, goal_ND, rounds=rounds)
    normal_origin_ND, normal_goal_ND = (iterative_normalization(side, rounds) for side in (origin_ND, goal_ND))
    expected_DD = torch.from_numpy(orthogonal_procrustes(normal_origin_ND.numpy(), normal_goal_ND.numpy())[0])
    torch.testing.assert_close(found.rotation_DD, expected_DD, **EXACT)
    new_ND = vectors(6, 4, seed=seed + 2)
    centred_ND = (new_ND - origin_ND.mean(0)) @ expected_DD + goal_ND.mean(0)
    for mode, given_ND, mapped_ND, compared_ND in (
        (NewVectors.CENTRED, new_ND, centred_ND, goal_ND),
        (NewVectors.ROTATED, new_ND, new_ND @ expected_DD, goal_ND),
        (NewVectors.NORMALIZED, origin_ND, normal_origin_ND @ expected_DD, normal_goal_ND),
    ):
        torch.testing.assert_close(found.mapped(given_ND, new_vectors=mode), mapped_ND, **EXACT)
        assert found.compared(goal_ND, new_vectors=mode).equal(compared_ND)


def test_pairs_choose_rows_after_all_rows_were_normalised() -> None:
    origin_ND, goal_ND = vectors(12, 3, seed=0) + 1, vectors(15, 3, seed=1)
    pairs = [(0, 14), (3, 2), (3, 2), (3, 5), (11, 0), (7, 7)]
    found = VectorMap.fit(origin_ND, goal_ND, pairs=pairs, rounds=5)
    normal_origin_ND, normal_goal_ND = iterative_normalization(origin_ND), iterative_normalization(goal_ND)
    rows, goal_rows = (list(side) for side in zip(*pairs, strict=True))
    expected_DD, _ = orthogonal_procrustes(normal_origin_ND[rows].numpy(), normal_goal_ND[goal_rows].numpy())
    torch.testing.assert_close(found.rotation_DD, torch.from_numpy(expected_DD), **EXACT)
    torch.testing.assert_close(found.origin.mean_D, origin_ND.mean(0))
    torch.testing.assert_close(found.goal.mean_D, goal_ND.mean(0))


@pytest.mark.parametrize("mode", NewVectors)
def test_vectors_of_zeros_stay_zero(mode: NewVectors) -> None:
    new_ND, found = vectors(3, 4, seed=5), a_map()
    with_zeros_ND = torch.cat([torch.zeros(1, 4), new_ND])
    for turned in (found.mapped, found.compared):
        assert not turned(with_zeros_ND, new_vectors=mode)[0].any()
        torch.testing.assert_close(turned(with_zeros_ND, new_vectors=mode)[1:], turned(new_ND, new_vectors=mode))


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        ([], "pairs: there are none"),
        ([(0, 0), (5, 0)], r"pairs: \(5, 0\) is out of range; there are 5 origin vectors and 6 goal"),
        ([(0, -1)], r"\(0, -1\) is out of range"),
        (None, "origin has 5 rows and goal has 6"),
    ],
)
def test_pairs_must_name_rows(pairs: list[tuple[int, int]] | None, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        VectorMap.fit(torch.randn(5, 2), torch.randn(6, 2), pairs=pairs, rounds=5)


def test_what_cannot_be_mapped_is_refused() -> None:
    found, broken_ND = a_map(), torch.full((6, 4), torch.nan)
    for turned in (found.mapped, found.compared):
        with pytest.raises(IsoglotError, match="vectors: row 0 holds NaN"):
            turned(broken_ND, new_vectors=NewVectors.ROTATED)
        with pytest.raises(IsoglotError, match="have 3 numbers each, but the means were taken of vectors of 4"):
            turned(torch.randn(6, 3), new_vectors=NewVectors.CENTRED)
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


FOREIGN = save({"weight": torch.ones(3)})


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-40], lambda _: b"\xff" * 500, lambda _: b"", lambda _: FOREIGN]
)
def test_a_damaged_file_is_named(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "maps.safetensors"
    write_maps([a_map()], path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(IsoglotError, match=r"maps\.safetensors: does not hold readable maps"):
        read_maps(path)
