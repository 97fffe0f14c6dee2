"""No tree with one word under the root is better than the one that is found."""

from collections.abc import Callable
from math import inf, isclose, nan

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.spanning_tree import maximum_spanning_trees
from tests.evaluation.transfer.drawn_trees import all_trees, is_tree

Matrix = npt.NDArray[np.float64]
MOST_WORDS_TO_ENUMERATE = 6


def maximum_spanning_tree(scores: npt.ArrayLike) -> list[int]:
    """The heads of words 1, 2, ... of one sentence."""
    score_NN = np.asarray(scores)
    heads: list[int] = maximum_spanning_trees(score_NN[None], num_words_B=[len(score_NN) - 1])[0, 1:].tolist()
    return heads


def total(scores: Matrix, heads: npt.ArrayLike) -> float:
    return float(scores[np.arange(1, len(scores)), np.asarray(heads)].sum())


def best_total(scores: Matrix) -> float:
    return float(scores[np.arange(1, len(scores)), np.array(all_trees(len(scores) - 1))].sum(1).max())


@st.composite
def matrices(draw: st.DrawFn, numbers: st.SearchStrategy[float], most_words: int = MOST_WORDS_TO_ENUMERATE) -> Matrix:
    size = draw(st.integers(1, most_words)) + 1
    rows = st.lists(numbers, min_size=size, max_size=size)
    return np.array(draw(st.lists(rows, min_size=size, max_size=size)), dtype=np.float64)


few_integers = st.integers(-2, 2).map(float)
floats = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(matrices(few_integers) | matrices(floats) | matrices(few_integers | st.just(-inf)))
def test_no_tree_is_better(scores: Matrix) -> None:
    best = best_total(scores)
    if best == -inf:
        with pytest.raises(IsoglotError, match=r"sentence 1 of the batch: every tree .* -inf; forbid fewer"):
            maximum_spanning_tree(scores)
        return
    heads = maximum_spanning_tree(scores)
    assert is_tree(tuple(heads))
    # To the precision in which a sum of such numbers can be known.
    allowed = scores[np.isfinite(scores)]
    assert isclose(total(scores, heads), best, rel_tol=1e-12, abs_tol=1e-12 * float(abs(allowed).max()))


def reference_total(chu_liu_edmonds: Callable[[Matrix], tuple[list[int], float]], scores: Matrix) -> float:
    """The total of the best tree by another implementation, which tries each word alone under the root."""
    totals = []
    for root in range(1, len(scores)):
        with_one_root = scores.copy()
        with_one_root[1:, 0] = -1e15
        with_one_root[root, 0] = scores[root, 0]
        heads = chu_liu_edmonds(with_one_root)[0][1:]
        totals.append(total(scores, heads) if list(heads).count(0) == 1 else -inf)
    return max(totals)


@pytest.mark.parametrize("num_words", [2, 7, 50])
@pytest.mark.parametrize("root_bonus", [-2000, 0, 2000])
def test_another_implementation_finds_no_better_tree(num_words: int, root_bonus: int) -> None:
    chu_liu_edmonds = pytest.importorskip("ufal.chu_liu_edmonds").chu_liu_edmonds
    random = np.random.default_rng(num_words)
    # Whole numbers, so that all sums are exact: equal is equal.
    scores = random.integers(-1000, 1000, (num_words + 1, num_words + 1)).astype(np.float64)
    scores[:, 0] += root_bonus
    heads = maximum_spanning_tree(scores)
    assert is_tree(tuple(heads))
    assert total(scores, heads) == reference_total(chu_liu_edmonds, scores)


def padded(matrices: list[Matrix], *, size: int, filler: float) -> tuple[Matrix, list[int]]:
    """The filler stands where nothing plays a part: padding, the root's row, the diagonal."""
    score_BNN = np.full((len(matrices), size, size), filler)
    for row, scores in enumerate(matrices):
        score_BNN[row, 1 : len(scores), : len(scores)] = scores[1:]
        np.fill_diagonal(score_BNN[row], filler)
    return score_BNN, [len(scores) - 1 for scores in matrices]


@given(
    st.lists(matrices(few_integers, most_words=9) | matrices(floats, most_words=9), max_size=6),
    st.sampled_from([nan, inf, -inf, 1e9, 0.0]),
)
def test_many_are_as_one(drawn: list[Matrix], filler: float) -> None:
    score_BNN, num_words_B = padded(drawn, size=12, filler=filler)
    head_BN = maximum_spanning_trees(score_BNN, num_words_B=num_words_B)
    assert (head_BN.shape, head_BN.dtype) == ((len(drawn), 12), np.int64)
    expected = [[0, *maximum_spanning_tree(scores), *[0] * (12 - len(scores))] for scores in drawn]
    assert head_BN.tolist() == expected


def test_more_sentences_than_are_computed_at_once() -> None:
    random = np.random.default_rng(0)
    drawn = [random.normal(size=(size, size)) for size in [*random.integers(2, 30, 60), 290, 2]]
    score_BNN, num_words_B = padded(drawn, size=290, filler=0.0)
    before = score_BNN.copy()
    head_BN = maximum_spanning_trees(score_BNN, num_words_B=num_words_B)
    assert all(head_BN[row, 1 : len(drawn[row])].tolist() == maximum_spanning_tree(drawn[row]) for row in range(62))
    assert np.array_equal(score_BNN, before)


def test_sentences_without_words_have_no_heads() -> None:
    assert maximum_spanning_trees(np.full((2, 2, 2), nan), num_words_B=[0, 0]).tolist() == [[0, 0], [0, 0]]
    assert maximum_spanning_trees(np.zeros((0, 1, 1)), num_words_B=[]).shape == (0, 1)
