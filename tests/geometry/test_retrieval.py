"""Retrieval against a double loop."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.retrieval import centred, cosine_similarity, precision_at_1, retrieval_precision
from tests.oracles import precision_by_loops


def random_vectors(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(st.data())
def test_both_directions_against_a_double_loop(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
    pair = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=12))
    source_ND = random_vectors(rows, 3, seed=data.draw(st.integers(0, 1000)))
    target_ND = random_vectors(columns, 3, seed=data.draw(st.integers(1001, 2000)))
    forward = precision_by_loops(source_ND.tolist(), target_ND.tolist(), pairs)
    backward = precision_by_loops(target_ND.tolist(), source_ND.tolist(), [(b, a) for a, b in pairs])
    assert retrieval_precision(source_ND, target_ND, pairs=pairs) == pytest.approx((forward + backward) / 2)


@given(st.integers(1, 9), st.integers(0, 1000))
def test_without_pairs_row_i_translates_row_i(rows: int, seed: int) -> None:
    source_ND = random_vectors(rows, 4, seed=seed)
    target_ND = source_ND + random_vectors(rows, 4, seed=seed + 1)
    pairs = [(row, row) for row in range(rows)]
    assert retrieval_precision(source_ND, target_ND) == retrieval_precision(source_ND, target_ND, pairs=pairs)
    assert retrieval_precision(source_ND, source_ND) == 100


def test_directions_are_averaged_by_hand() -> None:
    """All three sources are nearest to target 0; targets 0 and 1 are nearest to source 0, and 2 to source 2."""
    source_ND = torch.tensor([[1.0, 0.0], [0.9, -0.1], [0.8, -0.3]])
    target_ND = torch.tensor([[1.0, -0.02], [-0.2, 1.0], [-0.3, -1.0]])
    assert retrieval_precision(source_ND, target_ND) == pytest.approx((100 / 3 + 200 / 3) / 2)


def test_any_of_several_translations_is_right_and_repeated_pairs_count_once() -> None:
    similarity_NT = torch.tensor([[0.1, 0.9, 0.2], [0.8, 0.1, 0.1], [0.0, 0.1, 0.7]])
    assert precision_at_1(similarity_NT, {0: {0, 1}, 1: {1, 2}}) == 50
    assert precision_at_1(similarity_NT, {0: {1}, 1: {0}, 2: {2}}) == 100
    vectors_ND = torch.eye(3)
    assert retrieval_precision(vectors_ND, vectors_ND, pairs=[(0, 0), (0, 0), (0, 0), (1, 2)]) == 50


def test_only_rows_with_a_translation_count_but_all_columns_compete() -> None:
    similarity_NT = torch.tensor([[0.5, 0.4, 0.9], [0.9, 0.1, 0.1]])
    assert precision_at_1(similarity_NT, {0: {0}}) == 0
    assert precision_at_1(similarity_NT, {0: {2}}) == 100


def test_random_vectors_score_at_chance() -> None:
    """One in fifty; the mean over 400 directions of fifty rows each lies within four of its standard errors."""
    scores = [
        retrieval_precision(random_vectors(50, 16, seed=seed), random_vectors(50, 16, seed=10_000 + seed))
        for seed in range(200)
    ]
    error = 100 * math.sqrt(0.02 * 0.98 / (200 * 2 * 50))
    assert sum(scores) / len(scores) == pytest.approx(2.0, abs=4 * error)


def test_nothing_to_look_for_is_refused() -> None:
    with pytest.raises(IsoglotError, match="no translations to look for"):
        retrieval_precision(torch.eye(2), torch.eye(2), pairs=[])


def test_similarity_is_the_cosine_whatever_the_length() -> None:
    source_ND, target_TD = random_vectors(3, 4, seed=0), random_vectors(5, 4, seed=1)
    similarity_NT = cosine_similarity(source_ND * 7, target_TD * torch.arange(1, 6)[:, None])
    for row, source_D in enumerate(source_ND.tolist()):
        for column, target_D in enumerate(target_TD.tolist()):
            dot = sum(a * b for a, b in zip(source_D, target_D, strict=True))
            assert similarity_NT[row, column].item() == pytest.approx(
                dot / math.hypot(*source_D) / math.hypot(*target_D)
            )


def test_centred_vectors_have_no_common_part() -> None:
    vector_ND = random_vectors(6, 4, seed=0)
    torch.testing.assert_close(centred(vector_ND + 100).mean(0), torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(centred(vector_ND + torch.arange(4)), centred(vector_ND))
    difference_D = centred(vector_ND)[3] - centred(vector_ND)[0]
    torch.testing.assert_close(difference_D, vector_ND[3] - vector_ND[0])
