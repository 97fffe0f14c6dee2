"""Many words cut into subwords at once by BPE merges (Sennrich et al., 2016)."""

# W = words that may still change, S = their symbols in one row, P = places in it

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.pair_ranks import NO_RANK, PairRanks
from isoglot.corpora.word_symbols import END_OF_WORD, Pair, numbered_symbols, without_overlaps

CHUNK_WORDS = 10_000


class Segmenter:
    """In every round each word joins the pair it has that was learned first, and is done when it has none."""

    def __init__(self, merges: Sequence[Pair]) -> None:
        joined = [left + right for left, right in merges]
        self._symbols = list(dict.fromkeys(chain(chain.from_iterable(merges), joined)))
        self._numbers = {symbol: number for number, symbol in enumerate(self._symbols)}
        self._joined = np.array([self._numbers[symbol] for symbol in joined], dtype=np.int32)
        self._ranks = PairRanks([(self._numbers[left], self._numbers[right]) for left, right in merges])

    def segments(self, words: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """The subwords of each word, some thousands of words at a time."""
        rest = iter(words)
        while chunk := list(islice(rest, CHUNK_WORDS)):
            cut = iter(self._cut([word for word in chunk if len(word) > 1]))
            yield from (next(cut) if len(word) > 1 else (word + END_OF_WORD,) for word in chunk)

    def _cut(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        symbols, symbol_S, end_W = numbered_symbols(words)
        # Symbols that no merge has get numbers after all others.
        numbers = [self._numbers.get(symbol, len(self._symbols) + i) for i, symbol in enumerate(symbols)]
        symbol_S = np.array(numbers, dtype=np.int32)[symbol_S]
        spellings = self._symbols + symbols
        # One longer than the row, so that every place has one after it.
        opens_S = np.zeros(len(symbol_S) + 1, dtype=np.bool_)
        opens_S[np.append(end_W, 0)] = True
        rank_S = self._ranks_at(np.arange(len(symbol_S)), symbol_S, opens_S)
        word_W = np.arange(len(words))
        segments: list[tuple[str, ...]] = [()] * len(words)
        while len(word_W):
            start_W = opens_S[:-1].nonzero()[0]
            length_W = np.diff(start_W, append=len(symbol_S))
            rank_W = np.minimum.reduceat(rank_S, start_W)
            done_W = rank_W == NO_RANK
            done_S = np.repeat(done_W, length_W)
            subwords = iter([spellings[number] for number in symbol_S[done_S].tolist()])
            for word, length in zip(word_W[done_W].tolist(), length_W[done_W].tolist(), strict=True):
                segments[word] = tuple(islice(subwords, length))
            word_W = word_W[~done_W]
            at_P = (~done_S & (rank_S == np.repeat(rank_W, length_W))).nonzero()[0]
            at_P = at_P[without_overlaps(at_P, next_P=at_P + 1)]
            symbol_S[at_P] = self._joined[rank_S[at_P]]
            kept_S = np.append(~done_S, True)
            kept_S[at_P + 1] = False
            at_P = np.cumsum(kept_S)[at_P] - 1
            symbol_S, rank_S, opens_S = symbol_S[kept_S[:-1]], rank_S[kept_S[:-1]], opens_S[kept_S]
            changed_P = np.append(at_P, at_P[~opens_S[at_P]] - 1)
            rank_S[changed_P] = self._ranks_at(changed_P, symbol_S, opens_S)
        return segments

    def _ranks_at(
        self, at_P: NDArray[np.int64], symbol_S: NDArray[np.int32], opens_S: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """When the pairs that start at these places were learned; the last symbol of a word starts none."""
        rank_P = np.full(len(at_P), NO_RANK, dtype=np.int32)
        inside_P = ~opens_S[at_P + 1]
        at_P = at_P[inside_P]
        rank_P[inside_P] = self._ranks.of(symbol_S[at_P], symbol_S[at_P + 1])
        return rank_P
