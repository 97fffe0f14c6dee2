"""The search in blocks against the whole matrix and a stable sort."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isoglot.evaluation.geometry.nearest import GROUP, first_largest, nearest_units

SEEDS = st.integers(0, 10_000)


def sign_vectors(rows: int, *, seed: int) -> Tensor:
    """Of length 1 with many alike, and with dot products that every order of summing gives to the last bit."""
    signs_N4 = torch.randint(0, 2, (rows, 4), generator=torch.Generator().manual_seed(seed))
    return signs_N4 - 0.5


def stable_order(score_NT: Tensor, *, count: int) -> list[list[int]]:
    return np.argsort(-score_NT.numpy(), axis=1, kind="stable")[:, :count].tolist()


@given(st.data(), SEEDS)
def test_the_block_size_changes_nothing_even_where_many_are_equal(data: st.DataObject, seed: int) -> None:
    rows, columns = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 40))
    count = data.draw(st.integers(1, columns))
    block = data.draw(st.tuples(st.integers(1, 13), st.integers(1, 41)))
    asking_ND, answer_TD = sign_vectors(rows, seed=seed), sign_vectors(columns, seed=seed + 1)
    less_T = data.draw(st.sampled_from([None, torch.arange(columns) % 3 / 10]))
    score_NT = asking_ND @ answer_TD.T - (0 if less_T is None else less_T)

    value_NK, column_NK = nearest_units(asking_ND, answer_TD, count=count, less_T=less_T, block=block)
    assert column_NK.tolist() == stable_order(score_NT, count=count)
    assert torch.equal(value_NK, score_NT.gather(1, column_NK))


@given(st.integers(1, 5), st.integers(1, 1000), st.integers(1, 6), SEEDS)
def test_wide_rows_are_searched_by_groups_without_missing_the_first_of_equals(
    rows: int, columns: int, values: int, seed: int
) -> None:
    score_RC = torch.randint(0, values, (rows, columns), generator=torch.Generator().manual_seed(seed)) / 2
    for count in {1, min(3, columns)}:
        expected = [sorted(row) for row in stable_order(score_RC, count=count)]
        assert first_largest(score_RC, count=count).tolist() == expected


def test_what_is_left_over_beside_whole_groups_is_searched() -> None:
    score_RC = torch.zeros(2, 4 * GROUP + 3)
    score_RC[0, -1] = score_RC[1, GROUP] = 1
    assert first_largest(score_RC, count=1).tolist() == [[4 * GROUP + 2], [GROUP]]


def test_many_blocks_of_many_groups_against_the_whole_matrix() -> None:
    generator = torch.Generator().manual_seed(0)
    asking_ND = torch.randn(50, 8, generator=generator, dtype=torch.float64)
    answer_TD = torch.randn(3001, 8, generator=generator, dtype=torch.float64)
    score_NT = asking_ND @ answer_TD.T
    for block in ((7, 700), (64, 1501), (50, 3001)):
        value_NK, column_NK = nearest_units(asking_ND, answer_TD, count=5, block=block)
        assert column_NK.tolist() == stable_order(score_NT, count=5)
        torch.testing.assert_close(value_NK, score_NT.gather(1, column_NK))


def test_nothing_asked_is_nothing_found() -> None:
    for columns in (5, 500):
        found = nearest_units(torch.ones(0, 3), torch.ones(columns, 3), count=2)
        assert [list(each.shape) for each in found] == [[0, 2], [0, 2]]


def test_bfloat16_of_the_surroundings_does_not_enter() -> None:
    generator = torch.Generator().manual_seed(0)
    vector_ND = torch.randn(40, 16, generator=generator)
    expected_NK, _ = nearest_units(vector_ND, vector_ND, count=3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value_NK, _ = nearest_units(vector_ND, vector_ND, count=3)
    assert torch.equal(value_NK, expected_NK)
