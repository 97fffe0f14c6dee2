"""The best dependency tree that the scores of its arcs allow: Chu-Liu and Edmonds, for many sentences at once."""

# B = sentences, G = a group of these of like length, N = nodes of a sentence: the root, then its words;
# X = nodes of a group, numbered through, C = those that have just come into a cycle

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from isoglot.errors import IsoglotError

Scores = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# A core's cache holds so many; more are no faster.
SCORES_AT_ONCE = 1 << 16


def maximum_spanning_trees(score_BNN: npt.ArrayLike, *, num_words_B: npt.ArrayLike) -> Ids:
    """head_BN: the best trees with one word under the root, by score[dependent, head]; 0 at the root and at padding.

    Row 0, the diagonal and padding play no part. -inf forbids an arc; no score may be nan or inf. Among equally good
    trees it is always the same one. A sentence without words has no heads.
    """
    score_BNN, num_words_B = np.asarray(score_BNN), np.asarray(num_words_B, dtype=np.int64)
    head_BN = np.zeros(score_BNN.shape[:2], dtype=np.int64)
    without_tree = np.flatnonzero(num_words_B)
    # Departure: the paper names no way to find a tree; one word under the root is what Universal Dependencies ask for.
    # The best head of each word comes first, and is mostly enough: if these are a tree, no tree is better.
    for search in (partial(np.argmax, axis=2), _heads_at_a_price, _heads_by_contraction):
        is_tree_B = np.ones(len(head_BN), dtype=np.bool_)
        for row_G in _of_like_length(without_tree, num_words_B=num_words_B):
            num_words_G = num_words_B[row_G]
            size = int(num_words_G[-1]) + 1
            score_GNN = score_BNN[row_G, :size, :size].astype(np.float64)
            _forbid_what_is_no_arc(score_GNN, num_words_G=num_words_G)
            head_GN: Ids = np.asarray(search(score_GNN))
            head_BN[row_G, :size] = head_GN
            is_tree_B[row_G] = _are_trees(head_GN, score_GNN, num_words_G=num_words_G)
        without_tree = np.flatnonzero(~is_tree_B)
    if len(without_tree):
        problem = "every tree with one word under the root has an arc of score -inf"
        raise IsoglotError(f"sentence {without_tree[0] + 1} of the batch: {problem}; forbid fewer arcs")
    return head_BN


def _of_like_length(rows: Ids, *, num_words_B: Ids) -> Iterator[Ids]:
    """From short sentences to long ones, some at a time, so that little of what is computed is padding."""
    rows = rows[np.argsort(num_words_B[rows], kind="stable")]
    while len(rows):
        num_scores = (num_words_B[rows] + 1) ** 2 * np.arange(1, len(rows) + 1)
        fitting = max(1, np.count_nonzero(num_scores <= SCORES_AT_ONCE))
        yield rows[:fitting]
        rows = rows[fitting:]


def _forbid_what_is_no_arc(score_GNN: Scores, *, num_words_G: Ids) -> None:
    """The root and padding can only be under the root, which harms no tree."""
    place_N = np.arange(score_GNN.shape[1])
    is_padding_GN = place_N > num_words_G[:, None]
    np.copyto(score_GNN, -np.inf, where=is_padding_GN[:, None, :])
    score_GNN[:, place_N, place_N] = -np.inf
    score_GNN[is_padding_GN | (place_N == 0)] = np.where(place_N == 0, 0.0, -np.inf)


def _are_trees(head_GN: Ids, score_GNN: Scores, *, num_words_G: Ids) -> Mask:
    """True for sentences with all words below the root, one of them right under it, and no forbidden arc."""
    num_sentences, size = head_GN.shape
    # Each round doubles the number of steps up: after a few, all that is below the root has reached it.
    above_X = (head_GN + size * np.arange(num_sentences)[:, None]).ravel()
    for _ in range(size.bit_length()):
        above_X = above_X[above_X]
    is_below_root_GN = above_X.reshape(head_GN.shape) % size == 0
    num_under_root_G = np.count_nonzero(head_GN == 0, axis=1) - (size - num_words_G)
    # The searches take no other arc that is forbidden.
    is_allowed_GN = (head_GN > 0) | (score_GNN[:, :, 0] > -np.inf)
    is_tree_G: Mask = (is_below_root_GN & is_allowed_GN).all(1) & (num_under_root_G == 1)
    return is_tree_G


def _heads_at_a_price(score_GNN: Scores) -> Ids:
    """The best tree when a place under the root costs a little less than the word most drawn there would pay."""
    # All trees with one word under the root pay the same; so if the best tree is one of these, it is the best of them
    # at no price too. At this price it mostly is, and few cycles are in the way.
    # A word that can be nowhere else would pay anything, and one that can be nowhere at all has no say.
    with np.errstate(invalid="ignore"):
        drawn_GN = score_GNN[:, :, 0] - score_GNN[:, :, 1:].max(2)
    price_G = np.where(np.isfinite(drawn_GN), drawn_GN, -np.inf).max(1)
    price_G[price_G == -np.inf] = 0.0
    return _heads_by_contraction(score_GNN, price_G=price_G - abs(price_G) / 16)


def _heads_by_contraction(score_GNN: Scores, *, price_G: Scores | None = None) -> Ids:
    """Edmonds: every component takes its best arc, and cycles become components, until there is none."""
    # At no price that could be paid, only what has no other way goes under the root.
    price_G = np.full(len(score_GNN), np.inf) if price_G is None else price_G
    # Scores stay where they are; words remember which component they are in, and what its arcs are worth to them.
    size = score_GNN.shape[1]
    node_X = np.arange(score_GNN.shape[0] * size)
    root_X = node_X - node_X % size
    score_XN = score_GNN.reshape(-1, size).copy()
    score_XN[:, 0] -= np.repeat(price_G, size)
    head_X, gain_X, worth_X = score_XN.argmax(1) + root_X, score_XN.max(1), np.zeros(len(node_X))
    component_X = node_X
    levels = []
    while True:
        best_X, entered_X = _best_of_components(gain_X, component_X=component_X)
        levels.append((component_X, entered_X, head_X[entered_X]))
        is_cyclic_X, lowest_X = _cycles(component_X[head_X[entered_X[component_X]]], longest=size)
        is_cyclic_X &= node_X > root_X
        cyclic_C = np.flatnonzero(is_cyclic_X[component_X])
        if not len(cyclic_C):
            break
        worth_X[cyclic_C] += best_X[component_X[cyclic_C]]
        component_X = np.where(is_cyclic_X[component_X], lowest_X[component_X], component_X)
        score_CN = score_XN[cyclic_C]
        score_CN[component_X.reshape(-1, size)[cyclic_C // size] == component_X[cyclic_C, None]] = -np.inf
        # Where all is forbidden, the first is the highest, which is the root.
        head_X[cyclic_C] = score_CN.argmax(1) + root_X[cyclic_C]
        gain_X[cyclic_C] = score_CN.max(1) - worth_X[cyclic_C]
    # In components that nothing enters at this price, the best word is put under the root at whatever price.
    _, under_root_X = _best_of_components(score_GNN[:, :, 0].ravel() - worth_X, component_X=component_X)
    levels[-1] = (component_X, np.where(best_X > -np.inf, entered_X, under_root_X), head_X[entered_X])
    return np.reshape(_expanded(levels) % size, (-1, size))


def _best_of_components(gain_X: Scores, *, component_X: Ids) -> tuple[Scores, Ids]:
    """Each component's highest gain and the last node that has it, at the number of its lowest node."""
    best_X = np.full(len(gain_X), -np.inf)
    np.maximum.at(best_X, component_X, gain_X)
    nodes = np.flatnonzero(gain_X == best_X[component_X])
    last_X = np.zeros(len(gain_X), dtype=np.int64)
    last_X[component_X[nodes]] = nodes
    return best_X, last_X


def _cycles(next_X: Ids, *, longest: int) -> tuple[Mask, Ids]:
    """Whether each node is in a cycle, and the lowest node of that cycle."""
    lowest_X = np.arange(len(next_X))
    for _ in range(longest.bit_length()):
        lowest_X = np.minimum(lowest_X, lowest_X[next_X])
        next_X = next_X[next_X]
    is_cyclic_X = np.zeros(len(next_X), dtype=np.bool_)
    is_cyclic_X[next_X] = True
    return is_cyclic_X, lowest_X


def _expanded(levels: list[tuple[Ids, Ids, Ids]]) -> Ids:
    """head_X: from the last level to the first, a component takes its own arc where no arc of a later one enters it."""
    head_X = np.full(len(levels[0][0]), -1)
    for component_X, entered_X, from_X in reversed(levels):
        is_entered_X = component_X != np.arange(len(component_X))
        is_entered_X[component_X[head_X >= 0]] = True
        new = np.flatnonzero(~is_entered_X)
        head_X[entered_X[new]] = from_X[new]
    return head_X
