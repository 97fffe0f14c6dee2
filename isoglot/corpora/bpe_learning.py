"""Which pairs of symbols BPE joins: exact counts, though only frequent pairs are followed (Sennrich et al., 2016)."""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

# S = symbols of all words, and the gaps between words, W = words, P = places or pairs, G = pairs that differ

Pair = tuple[str, str]

END_OF_WORD = "</w>"


def numbered_symbols(words: Sequence[str]) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Symbols, the number of each where it stands in the row of all words, and where each word ends; none is empty.

    "ab" and "b" give [a, b, a</w>, b</w>], 0 3 3 and 2 3.
    """
    code_S = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    end_W = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
    codes = np.bincount(code_S).nonzero()[0]
    numbers = np.zeros(codes.max(initial=0) + 1, dtype=np.int32)
    numbers[codes] = np.arange(len(codes))
    symbol_S = numbers[code_S]
    symbol_S[end_W - 1] += len(codes)
    letters = [chr(code) for code in codes.tolist()]
    return [*letters, *(letter + END_OF_WORD for letter in letters)], symbol_S, end_W


def without_overlaps(at_P: NDArray[np.integer], *, next_P: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which places of a pair are joined, from left to right, where one's second symbol may be another's first.

    a a a with a+a becomes aa a: of places that overlap every second one is left out.
    """
    opens_P = np.append(True, at_P[1:] != next_P[:-1])
    number_P = np.arange(len(at_P))
    joined_P: NDArray[np.bool_] = (number_P - np.maximum.accumulate(number_P * opens_P)) % 2 == 0
    return joined_P


def packed(left_P: NDArray[np.integer], right_P: NDArray[np.integer]) -> NDArray[np.int64]:
    """Pairs as one number each; negative just if one of the two is."""
    pair_P: NDArray[np.int64] = left_P.astype(np.int64) << 32 | right_P
    return pair_P


Places = NDArray[np.int32]

GAP = -1
HOLE = -2

# A pair is followed if it is at most this many times rarer than the most frequent one was at the last scan of the text:
# few scans, and still few pairs. Any number from 4 to 32 learns 40,000 merges about as fast.
SPAN = 8


class JoinedPairs:
    """Pair after pair of a text of counted words: always the most frequent once all before it are joined.

    Of equals it is the first in code point order. All words stand in one row, with gaps between them. A scan of the row
    finds every pair that is frequent and its places; no other is looked at until no frequent one is left. While a pair
    waits its count can only fall, unless one of its symbols is made again, and then the pair is found again. So it is
    enough to count it again at its places when its turn comes.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        words = [word for word in counts if len(word) > 1]
        self._spellings, symbol_S, end_W = numbered_symbols(words)
        self._numbers = {spelling: number for number, spelling in enumerate(self._spellings)}
        start_W = np.concatenate((np.zeros(1, np.int64), end_W))
        self._symbol_S = np.insert(symbol_S, start_W, np.int32(GAP))
        count_W = np.fromiter((counts[word] for word in words), dtype=np.int64, count=len(words))
        self._count_S = np.append(np.repeat(count_W, np.diff(start_W) + 1), 0)

    def __iter__(self) -> Iterator[Pair]:
        while self._scan():
            while self._queue:
                below_zero, pair = self._queue[0]
                at_P = self._places_left(pair)
                count = int(self._count_S[at_P].sum())
                if count == -below_zero:
                    heappop(self._queue)
                    self._join(pair, at_P)
                    yield pair
                elif count >= self._least:
                    self._places[pair] = at_P
                    heapreplace(self._queue, (-count, pair))
                else:
                    heappop(self._queue)

    def _scan(self) -> bool:
        """Close the holes, forget words of one symbol, and find the frequent pairs again; are there any?"""
        self._keep(self._symbol_S != HOLE)
        gap_S = self._symbol_S == GAP
        alone_S = np.zeros_like(gap_S)
        alone_S[1:-1] = gap_S[:-2] & gap_S[2:] & ~gap_S[1:-1]
        alone_S[1:] |= alone_S[:-1]
        self._keep(~alone_S)
        size = len(self._symbol_S)
        self._next_S = np.arange(1, size + 1, dtype=np.int32)
        self._previous_S = np.arange(-1, size - 1, dtype=np.int32)
        self._places: dict[Pair, Places] = {}
        self._queue: list[tuple[int, Pair]] = []
        self._least = 0
        self._follow(np.arange(size - 1, dtype=np.int32))
        return bool(self._queue)

    def _keep(self, kept_S: NDArray[np.bool_]) -> None:
        self._symbol_S, self._count_S = self._symbol_S[kept_S], self._count_S[kept_S]

    def _follow(self, at_P: Places) -> None:
        """Queue the pairs that start at these places, if they are frequent; all places of a pair must be among them."""
        pair_P = packed(self._symbol_S[at_P], self._symbol_S[self._next_S[at_P]])
        # A gap on either side makes it negative.
        inside_P = pair_P >= 0
        at_P, pair_P = at_P[inside_P], pair_P[inside_P]
        if not len(at_P):
            return
        order_P = pair_P.argsort()
        at_P, pair_P = at_P[order_P], pair_P[order_P]
        start_G = np.concatenate(([0], (pair_P[1:] != pair_P[:-1]).nonzero()[0] + 1))
        count_G = np.add.reduceat(self._count_S[at_P], start_G)
        self._least = self._least or max(1, int(count_G.max()) // SPAN)
        end_G = np.append(start_G[1:], len(at_P))
        frequent = count_G >= self._least
        start_G, end_G, count_G = start_G[frequent], end_G[frequent], count_G[frequent]
        for number, start, end, count in zip(
            pair_P[start_G].tolist(), start_G.tolist(), end_G.tolist(), count_G.tolist(), strict=True
        ):
            pair = self._spellings[number >> 32], self._spellings[number & 0xFFFFFFFF]
            self._places[pair] = at_P[start:end].copy()
            heappush(self._queue, (-count, pair))

    def _places_left(self, pair: Pair) -> Places:
        """Where a pair that is followed still stands; nowhere, if it was joined since."""
        at_P = self._places.get(pair, np.zeros(0, np.int32))
        left, right = (self._numbers[symbol] for symbol in pair)
        left_P: Places = at_P[(self._symbol_S[at_P] == left) & (self._symbol_S[self._next_S[at_P]] == right)]
        return left_P

    def _join(self, pair: Pair, at_P: Places) -> None:
        del self._places[pair]
        if pair[0] == pair[1]:
            at_P = np.sort(at_P)
            at_P = at_P[without_overlaps(at_P, next_P=self._next_S[at_P])]
        joined = pair[0] + pair[1]
        is_new = joined not in self._numbers
        if is_new:
            self._numbers[joined] = len(self._spellings)
            self._spellings.append(joined)
        number = self._numbers[joined]
        right_P = self._next_S[at_P]
        after_P = self._next_S[right_P]
        self._symbol_S[at_P] = number
        self._symbol_S[right_P] = HOLE
        self._next_S[at_P] = after_P
        self._previous_S[after_P] = at_P
        if not is_new:
            # Only text that spells out "</w>" makes a symbol in two ways. Its pairs may then be more frequent again.
            at_P = (self._symbol_S == number).nonzero()[0].astype(np.int32)
        before_P = self._previous_S[at_P]
        self._follow(np.concatenate((at_P, before_P[self._symbol_S[before_P] != number])))
