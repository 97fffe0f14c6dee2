"""Retrieval against double loops, and its search in blocks against the whole matrix."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.retrieval import (
    Measure,
    both_directions,
    csls_scores,
    first_largest,
    nearest,
    nearest_units,
    precision,
)
from tests.evaluation.geometry.drawn_vectors import drawn_vectors as random_vectors
from tests.oracles import precision_by_loops

SIZES = st.integers(1, 8)
SEEDS = st.integers(0, 1000)
MEASURES = st.sampled_from(list(Measure))


def cosine_by_hand(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def csls_by_loops(source_ND: Tensor, target_TD: Tensor, *, neighbours: int) -> list[list[float]]:
    sources, targets = source_ND.tolist(), target_TD.tolist()

    def crowding(one: list[float], others: list[list[float]]) -> float:
        nearest_ones = sorted((cosine_by_hand(one, other) for other in others), reverse=True)[:neighbours]
        return sum(nearest_ones) / len(nearest_ones)

    return [[2 * cosine_by_hand(x, y) - crowding(x, targets) - crowding(y, sources) for y in targets] for x in sources]


@given(SIZES, SIZES, st.integers(1, 10), SEEDS)
def test_csls_against_a_double_loop(rows: int, columns: int, neighbours: int, seed: int) -> None:
    source_ND, target_TD = random_vectors(rows, 3, seed=seed), random_vectors(columns, 3, seed=seed + 1)
    expected = csls_by_loops(source_ND, target_TD, neighbours=neighbours)
    assert csls_scores(source_ND, target_TD, neighbours).tolist() == [pytest.approx(row) for row in expected]
    order = [sorted(range(columns), key=lambda column, row=row: -row[column]) for row in expected]
    found_NK = nearest(source_ND, target_TD, count=columns, measure=Measure.CSLS, neighbours=neighbours)
    assert found_NK.tolist() == order
    some = list(range(0, rows, 2))[::-1]
    some_NK = nearest(source_ND, target_TD, count=2, measure=Measure.CSLS, neighbours=neighbours, rows=some)
    assert some_NK.tolist() == [order[row][:2] for row in some]


@given(SIZES, SIZES, MEASURES, st.integers(-150, 150), SEEDS)
def test_lengths_and_the_order_of_targets_change_nothing(
    rows: int, columns: int, measure: Measure, power: int, seed: int
) -> None:
    source_ND, target_TD = random_vectors(rows, 4, seed=seed), random_vectors(columns, 4, seed=seed + 1)
    order_T = torch.randperm(columns, generator=torch.Generator().manual_seed(seed))
    found_NK = nearest(source_ND, target_TD, count=columns, measure=measure)
    assert torch.equal(order_T[nearest(source_ND, target_TD[order_T], count=columns, measure=measure)], found_NK)
    longer_TD = target_TD * torch.logspace(-power, power, columns, dtype=torch.float64)[:, None]
    assert torch.equal(nearest(source_ND * 10.0**power, longer_TD, count=columns, measure=measure), found_NK)


@given(st.data())
def test_both_directions_against_a_double_loop(data: st.DataObject) -> None:
    rows, columns = data.draw(SIZES), data.draw(SIZES)
    pair = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=12))
    source_ND = random_vectors(rows, 3, seed=data.draw(SEEDS))
    target_ND = random_vectors(columns, 3, seed=data.draw(SEEDS) + 1001)
    forward = precision_by_loops(source_ND.tolist(), target_ND.tolist(), pairs)
    backward = precision_by_loops(target_ND.tolist(), source_ND.tolist(), [(b, a) for a, b in pairs])
    expected = ((forward + backward) / 2, forward, backward)
    assert both_directions(source_ND, target_ND, pairs) == pytest.approx(expected)


def test_a_right_answer_counts_from_its_place_on() -> None:
    angle_T = torch.linspace(0, 3, 12)
    target_TD = torch.stack([angle_T.cos(), angle_T.sin()], dim=1)
    source_ND = torch.tensor([[1.0, 0.0]]).expand(4, -1)
    gold = {0: {0}, 1: {11, 4}, 2: {5, 8}, 3: {10}}
    found = precision(source_ND, target_TD, gold, measure=Measure.COSINE)
    assert found == {1: 25.0, 5: 50.0, 10: 75.0}
    assert precision(source_ND, target_TD, gold, measure=Measure.COSINE, at=(11, 99)) == {11: 100.0, 99: 100.0}


@pytest.mark.parametrize("measure", Measure)
def test_zeros_are_similar_to_nothing_and_never_right(measure: Measure) -> None:
    source_ND = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    target_TD = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    found = precision(source_ND, target_TD, {0: {0, 1}, 1: {0}, 2: {1}}, measure=measure, at=(1, 2))
    assert found == {1: pytest.approx(200 / 3), 2: pytest.approx(200 / 3)}


@pytest.mark.gpu
@pytest.mark.parametrize("measure", Measure)
def test_a_gpu_finds_the_same(measure: Measure) -> None:
    source_ND, target_TD = random_vectors(300, 32, seed=0), random_vectors(5000, 32, seed=1)
    gold = {row: {row, row + 1} for row in range(0, 300, 7)}
    on_gpu = precision(source_ND.cuda(), target_TD.cuda(), gold, measure=measure)
    assert on_gpu == precision(source_ND, target_TD, gold, measure=measure)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda axes: both_directions(axes, axes, pairs=[]), "no translations to look for"),
        (lambda axes: precision(axes, axes, {0: []}, measure=Measure.CSLS), "no translations to look for"),
        (lambda axes: both_directions(axes, axes[:2]), "3 source vectors cannot be"),
        (lambda axes: csls_scores(axes, axes / 0), "target vectors of retrieval: row 0 holds NaN .*; leave these"),
        (lambda axes: nearest(axes.log(), axes, count=1, measure=Measure.COSINE), "source .* row 0 holds infinity"),
        (lambda axes: csls_scores(axes, axes[:, :2]), "width 3 cannot be compared with target vectors of width 2"),
        (lambda axes: csls_scores(axes, axes[0]), r"target vectors of retrieval: has the shape \(3,\)"),
        (lambda axes: csls_scores(axes[:0], axes), "there are no source vectors"),
    ],
)
def test_what_cannot_be_searched_is_refused(mistake: Callable[[Tensor], object], message: str) -> None:
    with pytest.raises(IsoglotError, match=message):
        mistake(torch.eye(3))


def sign_vectors(rows: int, *, seed: int) -> Tensor:
    """Vectors of length 1, many alike, with dot products that are exact in every order of summing."""
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


def test_bfloat16_of_the_surroundings_does_not_enter() -> None:
    vector_ND = random_vectors(40, 16, seed=0).float()
    expected_NK, _ = nearest_units(vector_ND, vector_ND, count=3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value_NK, _ = nearest_units(vector_ND, vector_ND, count=3)
    assert torch.equal(value_NK, expected_NK)
