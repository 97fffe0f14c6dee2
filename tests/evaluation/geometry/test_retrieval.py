"""Retrieval against double loops."""

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
    centred,
    cosine_similarity,
    csls_scores,
    nearest,
    precision,
    retrieval_precision,
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
    asked = list(range(0, rows, 2))[::-1]
    some_NK = nearest(source_ND, target_TD, count=2, measure=Measure.CSLS, neighbours=neighbours, rows=asked)
    assert some_NK.tolist() == [order[row][:2] for row in asked]


def test_csls_has_ten_neighbours_by_default_and_takes_arrays() -> None:
    source_ND, target_TD = random_vectors(15, 4, seed=0), random_vectors(12, 4, seed=1)
    array_ND, array_TD = source_ND.numpy(), target_TD.numpy()
    array_ND.setflags(write=False)
    expected = csls_by_loops(source_ND, target_TD, neighbours=10)
    assert csls_scores(array_ND, array_TD).tolist() == [pytest.approx(row) for row in expected]
    best_N1 = nearest(array_ND, array_TD, count=1, measure=Measure.CSLS)
    assert best_N1[:, 0].tolist() == np.argmax(expected, axis=1).tolist()


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


@pytest.mark.parametrize("measure", Measure)
def test_a_planted_rotation_is_found_once_it_is_undone(measure: Measure) -> None:
    source_ND = random_vectors(200, 16, seed=0)
    rotation_DD = torch.linalg.qr(random_vectors(16, 16, seed=1)).Q
    order_N = torch.randperm(200, generator=torch.Generator().manual_seed(2))
    target_ND = ((source_ND + 0.05 * random_vectors(200, 16, seed=3)) @ rotation_DD)[order_N]
    pairs = [(row, column) for column, row in enumerate(order_N.tolist())]
    forward, backward = both_directions(source_ND @ rotation_DD, target_ND, pairs, measure=measure)
    assert forward.at == backward.at == {1: 100.0, 5: 100.0, 10: 100.0}
    lost, _ = both_directions(source_ND, target_ND, pairs, measure=measure)
    assert lost.at[1] < 5


def test_csls_does_not_take_a_hub_for_an_answer() -> None:
    """Target 0 lies in the middle of all sources and is nearest to each of them; their own come second."""
    source_ND = torch.eye(6) + 0.6
    target_ND = torch.cat([torch.ones(1, 6), torch.eye(6)])
    gold = {row: [row + 1] for row in range(6)}
    assert precision(source_ND, target_ND, gold, measure=Measure.COSINE).at[1] == 0
    assert precision(source_ND, target_ND, gold, measure=Measure.CSLS).at[1] == 100


@given(st.data())
def test_both_directions_against_a_double_loop(data: st.DataObject) -> None:
    rows, columns = data.draw(SIZES), data.draw(SIZES)
    pair = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    pairs = data.draw(st.lists(pair, min_size=1, max_size=12))
    source_ND = random_vectors(rows, 3, seed=data.draw(SEEDS))
    target_ND = random_vectors(columns, 3, seed=data.draw(SEEDS) + 1001)
    forward = precision_by_loops(source_ND.tolist(), target_ND.tolist(), pairs)
    backward = precision_by_loops(target_ND.tolist(), source_ND.tolist(), [(b, a) for a, b in pairs])
    ways = both_directions(source_ND, target_ND, pairs, measure=Measure.COSINE)
    assert [way.at[1] for way in ways] == [pytest.approx(forward), pytest.approx(backward)]
    assert [way.asked for way in ways] == [len({a for a, _ in pairs}), len({b for _, b in pairs})]
    assert retrieval_precision(source_ND, target_ND, pairs) == pytest.approx((forward + backward) / 2)


def test_directions_are_averaged_by_hand() -> None:
    """Without pairs row i translates row i. All sources are nearest to target 0; targets to sources 0, 0 and 2."""
    source_ND = torch.tensor([[1.0, 0.0], [0.9, -0.1], [0.8, -0.3]])
    target_ND = torch.tensor([[1.0, -0.02], [-0.2, 1.0], [-0.3, -1.0]])
    assert retrieval_precision(source_ND, target_ND) == pytest.approx((100 / 3 + 200 / 3) / 2)


def test_any_translation_counts_and_repeated_pairs_count_once() -> None:
    axes_ND = torch.eye(3)
    assert precision(axes_ND, axes_ND, {0: {0, 1}, 1: [2, 0]}, measure=Measure.COSINE).at[1] == 50
    assert retrieval_precision(axes_ND, axes_ND, pairs=[(0, 0), (0, 0), (0, 0), (1, 2)]) == 50


def test_a_right_answer_counts_from_its_place_on() -> None:
    angle_T = torch.linspace(0, 3, 12)
    target_TD = torch.stack([angle_T.cos(), angle_T.sin()], dim=1)
    source_ND = torch.tensor([[1.0, 0.0]]).expand(4, -1)
    gold = {0: {0}, 1: {11, 4}, 2: {5, 8}, 3: {10}}
    found = precision(source_ND, target_TD, gold, measure=Measure.COSINE)
    assert (found.at, found.asked) == ({1: 25.0, 5: 50.0, 10: 75.0}, 4)
    assert precision(source_ND, target_TD, gold, measure=Measure.COSINE, at=(11, 99)).at == {11: 100.0, 99: 100.0}


@pytest.mark.parametrize("measure", Measure)
def test_random_vectors_score_at_chance(measure: Measure) -> None:
    """One in fifty; the mean over 100 directions of fifty rows each lies within four of its standard errors."""
    found = [
        way.at[1]
        for seed in range(50)
        for way in both_directions(
            random_vectors(50, 16, seed=seed), random_vectors(50, 16, seed=10_000 + seed), None, measure=measure
        )
    ]
    error = 100 * math.sqrt(0.02 * 0.98 / (100 * 50))
    assert sum(found) / len(found) == pytest.approx(2.0, abs=4 * error)


@pytest.mark.parametrize("measure", Measure)
def test_zeros_are_similar_to_nothing_and_never_right(measure: Measure) -> None:
    source_ND = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    target_TD = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    assert cosine_similarity(source_ND, target_TD).tolist() == [[0, 0], [1, 0], [-1, 0]]
    found = precision(source_ND, target_TD, {0: {0, 1}, 1: {0}, 2: {1}}, measure=measure, at=(1, 2))
    assert found.at == {1: pytest.approx(200 / 3), 2: pytest.approx(200 / 3)}
    assert found.asked == 3


@pytest.mark.gpu
@pytest.mark.parametrize("measure", Measure)
def test_a_gpu_finds_the_same(measure: Measure) -> None:
    source_ND, target_TD = random_vectors(300, 32, seed=0), random_vectors(5000, 32, seed=1)
    expected_NK = nearest(source_ND, target_TD, count=10, measure=measure, rows=range(0, 300, 7))
    found_NK = nearest(source_ND.cuda(), target_TD.cuda(), count=10, measure=measure, rows=range(0, 300, 7))
    assert torch.equal(found_NK.cpu(), expected_NK)
    gold = {row: {row, row + 1} for row in range(300)}
    on_gpu = precision(source_ND.cuda(), target_TD.cuda(), gold, measure=measure)
    assert on_gpu == precision(source_ND, target_TD, gold, measure=measure)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda axes: retrieval_precision(axes, axes, pairs=[]), "no translations to look for"),
        (lambda axes: precision(axes, axes, {0: []}, measure=Measure.CSLS), "no translations to look for"),
        (lambda axes: precision(axes, axes, {3: {0}}, measure=Measure.CSLS), "no row 3 among the 3 source vectors"),
        (lambda axes: precision(axes, axes, {-1: {0}}, measure=Measure.CSLS), "no row -1 among the 3 source"),
        (lambda axes: precision(axes, axes, {0: {1, 7}}, measure=Measure.CSLS), "no row 7 among the 3 target vectors"),
        (lambda axes: precision(axes, axes, {0: {0}}, measure=Measure.CSLS, at=(0, 1)), "at is 0"),
        (lambda axes: both_directions(axes, axes[:2], None, measure=Measure.COSINE), "3 source vectors cannot be"),
        (lambda axes: csls_scores(axes, axes / 0), "target vectors of retrieval: row 0 holds NaN .*; leave these"),
        (
            lambda axes: nearest(axes.log(), axes, count=1, measure=Measure.COSINE),
            "source .* row 0 holds infinity",
        ),
        (lambda axes: csls_scores(axes, axes[:, :2]), "width 3 cannot be compared with target vectors of width 2"),
        (lambda axes: csls_scores(axes, axes[0]), r"target vectors of retrieval: has the shape \(3,\)"),
        (lambda axes: csls_scores(axes[:0], axes), "there are no source vectors"),
        (lambda axes: csls_scores(axes, axes, neighbours=0), "neighbours is 0"),
        (lambda axes: nearest(axes, axes, count=0, measure=Measure.COSINE), "count is 0"),
    ],
)
def test_what_cannot_be_searched_is_refused(mistake: Callable[[Tensor], object], message: str) -> None:
    with pytest.raises(IsoglotError, match=message):
        mistake(torch.eye(3))


def test_half_and_whole_numbers_are_taken_as_float32() -> None:
    whole_ND = torch.tensor([[3, 4], [4, -3]])
    for vector_ND in (whole_ND, whole_ND.half(), whole_ND.bfloat16()):
        similarity_NN = cosine_similarity(vector_ND, vector_ND)
        assert similarity_NN.dtype == torch.float32
        torch.testing.assert_close(similarity_NN, torch.eye(2))
    assert csls_scores(whole_ND, whole_ND.double()).dtype == torch.float64


def test_centred_vectors_have_no_common_part() -> None:
    vector_ND = random_vectors(6, 4, seed=0)
    torch.testing.assert_close(centred(vector_ND + 100).mean(0), torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(centred(vector_ND + torch.arange(4)), centred(vector_ND))
    difference_D = centred(vector_ND)[3] - centred(vector_ND)[0]
    torch.testing.assert_close(difference_D, vector_ND[3] - vector_ND[0])
