"""The parts of fast_align's model: its diagonal, sentence pairs in blocks of one size, and the diagonal's tension."""

# L = sentence pairs, W = words of one side, B = sentence pairs of one size, N = their target words, M = their source
# words, K = M and the null word before them, P = different pairs of words that occur together, R = places of target
# words in sentence pairs of any size

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

MOST_CELLS = 1 << 20
"""In a block of more than one sentence pair, so that its arrays take some tens of megabytes."""
STEPS = 8
RATE = 20.0
LEAST, MOST = 0.1, 14.0


def distances(num_targets: int, num_sources: int, *, first_target: int = 1) -> Floats:
    """distance_NM: how far two words are from each other, as shares of their sentences: |j / n - i / m|."""
    place_N, place_M = np.arange(num_targets) + first_target, np.arange(num_sources) + 1
    # Over their common denominator, so that places as far on one side as on the other are no rounding apart.
    distance_NM: Floats = np.abs(place_N[:, None] * num_sources - place_M * num_targets) / (num_targets * num_sources)
    return distance_NM


def diagonal_probabilities(num_targets: int, num_sources: int, *, tension: float) -> Floats:
    """probability_NM of a target word's partner, given that it has one: e to the -tension times their distance."""
    place_N = np.arange(1, num_targets + 1)
    normaliser_N, _ = diagonal_sums(place_N, np.array(num_targets), np.array(num_sources), tension=tension)
    weight_NM: Floats = np.exp(-tension * distances(num_targets, num_sources))
    return weight_NM / normaliser_N[:, None]


def diagonal_sums(place_R: Ids, num_targets_R: Ids, num_sources_R: Ids, *, tension: float) -> tuple[Floats, Floats]:
    """The weights of all source words, summed for each place of a target word, and the mean distance of a partner."""
    before_R, share_R = place_R * num_sources_R // num_targets_R, place_R / num_targets_R
    normaliser_R, distance_R = np.zeros(len(place_R)), np.zeros(len(place_R))
    # Source words up to the diagonal, and beyond it: the distance of the nearest, and how many there are.
    for nearest_R, count_R in (
        (share_R - before_R / num_sources_R, before_R),
        ((before_R + 1) / num_sources_R - share_R, num_sources_R - before_R),
    ):
        # On either side weights are a geometric series, so that no loop over source words is needed: the sums of
        # e^(-rate t), and of t e^(-rate t), over t < count.
        rate_R = tension / num_sources_R
        powers_R = np.expm1(-rate_R * count_R) / np.expm1(-rate_R)
        counted_R = (powers_R - 1 - (count_R - 1) * np.exp(-rate_R * count_R)) / -np.expm1(-rate_R)
        weight_R = np.exp(-tension * nearest_R)
        normaliser_R += weight_R * powers_R
        distance_R += weight_R * (nearest_R * powers_R + counted_R / num_sources_R)
    return normaliser_R, distance_R / normaliser_R


class NumberedWords:
    """One side of the sentence pairs, its words numbered in the order of their first occurrence."""

    def __init__(self, lines: Sequence[Sequence[str]]):
        numbers: dict[str, int] = {}
        words = (numbers.setdefault(word, len(numbers)) for word in chain(*lines))
        self.word_W: Ids = np.fromiter(words, dtype=np.int64)
        self.num_types = len(numbers)
        self.length_L: Ids = np.array([len(line) for line in lines], dtype=np.int64)
        self.start_L: Ids = self.length_L.cumsum() - self.length_L

    def places(self, line_B: Ids) -> Ids:
        """place_BN: the places of the words of lines of one length."""
        return self.start_L[line_B][:, None] + np.arange(self.length_L[line_B[0]])


class Block(NamedTuple):
    line_B: Ids
    pair_BNK: NDArray[np.int32]

    @property
    def size(self) -> tuple[int, int]:
        """The number of target words of each pair, and of source words."""
        _, num_targets, num_sources_and_null = self.pair_BNK.shape
        return num_targets, num_sources_and_null - 1


class SentenceBlocks:
    """All sentence pairs that have words on both sides; `source_P` is a pair's source word, 0 for the null word."""

    def __init__(self, sources: NumberedWords, targets: NumberedWords):
        lines = list(_lines_of_one_size(sources, targets))
        # Keys are made twice, to number the pairs and to find them: kept, they would take twice the memory of these.
        key_P = _different_keys(_keys(line_B, sources, targets) for line_B in lines)
        pairs = (np.searchsorted(key_P, _keys(line_B, sources, targets)).astype(np.int32) for line_B in lines)
        self.blocks = [Block(line_B, pair_BNK) for line_B, pair_BNK in zip(lines, pairs, strict=True)]
        self.source_P: Ids = key_P // max(targets.num_types, 1)


def _lines_of_one_size(sources: NumberedWords, targets: NumberedWords) -> Iterator[Ids]:
    size_L = np.stack([targets.length_L, sources.length_L])
    line_L = np.lexsort(size_L)
    line_L = line_L[(size_L[:, line_L] > 0).all(0)]
    changes = np.flatnonzero((np.diff(size_L[:, line_L]) != 0).any(0)) + 1
    for line_B in np.split(line_L, changes):
        if len(line_B):
            num_cells = int(targets.length_L[line_B[0]] * (sources.length_L[line_B[0]] + 1))
            most = max(1, MOST_CELLS // num_cells)
            yield from (line_B[start : start + most] for start in range(0, len(line_B), most))


def _keys(line_B: Ids, sources: NumberedWords, targets: NumberedWords) -> Ids:
    """key_BNK: one number for each pair of a source word, or null, and a target word."""
    source_BM = sources.word_W[sources.places(line_B)]
    source_BK = np.column_stack([np.zeros_like(line_B), source_BM + 1])
    target_BN = targets.word_W[targets.places(line_B)]
    return source_BK[:, None, :] * targets.num_types + target_BN[:, :, None]


def _different_keys(blocks: Iterator[Ids]) -> Ids:
    """key_P, sorted."""
    # Keys are merged whenever as many wait as are known, so that they never fill the memory.
    known, waiting, num_waiting = np.zeros(0, dtype=np.int64), list[Ids](), 0
    for key_BNK in blocks:
        waiting.append(np.unique(key_BNK))
        num_waiting += len(waiting[-1])
        if num_waiting > max(len(known), MOST_CELLS):
            known, waiting, num_waiting = np.unique(np.concatenate([known, *waiting])), [], 0
    return np.unique(np.concatenate([known, *waiting]))


def better_tension(tension: float, *, sentences: SentenceBlocks, distance: float) -> float:
    """A few steps towards the tension under which words are on average as far from their partners as observed."""
    # Places of words in sentence pairs of one size are computed once, and weigh as much as there are such pairs.
    rows = [(*block.size, len(block.line_B)) for block in sentences.blocks]
    sizes = np.array(rows, dtype=np.int64).reshape(-1, 3)
    num_targets_R, num_sources_R, count_R = np.repeat(sizes, sizes[:, 0], axis=0).T
    place_R = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(1, row[0] + 1) for row in rows)])
    num_words = max(int(count_R.sum()), 1)
    for _ in range(STEPS):
        _, expected_R = diagonal_sums(place_R, num_targets_R, num_sources_R, tension=tension)
        tension += RATE * (float(count_R.astype(np.float64) @ expected_R) - distance) / num_words
        tension = min(max(tension, LEAST), MOST)
    return tension
