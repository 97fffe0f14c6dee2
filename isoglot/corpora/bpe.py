"""Byte-pair encoding of words, exact and the same bytes every time (Sennrich et al., 2016)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe_learning import END_OF_WORD, JoinedPairs, Pair, numbered_symbols, packed, without_overlaps
from isoglot.corpora.hash_table import HashTable

# W = words that may still change, S = their symbols in one row, P = places in it, M = merges

CHUNK_WORDS = 10_000
NO_RANK = np.iinfo(np.int32).max


class Segmenter:
    """In every round each word joins the pair it has that was learned first, and is done when it has none."""

    def __init__(self, merges: Sequence[Pair]) -> None:
        joined = [left + right for left, right in merges]
        self._symbols = list(dict.fromkeys(chain(chain.from_iterable(merges), joined)))
        self._numbers = {symbol: number for number, symbol in enumerate(self._symbols)}
        self._joined = np.array([self._numbers[symbol] for symbol in joined], dtype=np.int32)
        pair_M2 = np.array([[self._numbers[symbol] for symbol in pair] for pair in merges], np.int64).reshape(-1, 2)
        # At most a quarter of the slots is taken, so that few pairs have to move on from theirs.
        self._slots = HashTable(bits=(4 * len(merges)).bit_length() + 1)
        slot_M = self._slots.add(packed(pair_M2[:, 0], pair_M2[:, 1]))
        # One longer than the table, for NO_SLOT. Assigned backwards, so that a pair learned twice keeps its first rank.
        self._ranks = np.full(len(self._slots) + 1, NO_RANK, dtype=np.int32)
        self._ranks[slot_M[::-1]] = np.arange(len(merges))[::-1]

    def segments(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The subwords of each word; all have two characters or more."""
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
        # All words advance in step. A round joins the earliest learned pair of each word at all of its places, takes
        # out the words that have no pair left, and looks up the ranks of the pairs that have just come about.
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
        rank_P[inside_P] = self._ranks[self._slots.slots(packed(symbol_S[at_P], symbol_S[at_P + 1]))]
        return rank_P


# The first line of subword-nmt's files; its reader takes the last field for the version, so there is room before it.
HEADER = "#version: 0.2"
EXHAUSTED_HEADER = "#version: exhausted 0.2"


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """Merges of neighbouring symbols, the earliest learned first."""

    merges: tuple[Pair, ...]
    exhausted: bool = False
    """Whether there are fewer merges than requested, as every word of the text had become one symbol."""

    def segment_all(self, words: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """The subwords of each word: with the merges e+s, es+t</w>, the word "best" is b est</w>.

        Many at once are far faster than one; words should be distinct, as none is remembered.
        """
        rest = iter(words)
        while chunk := list(islice(rest, CHUNK_WORDS)):
            cut = iter(self._segmenter.segments([word for word in chunk if len(word) > 1]))
            yield from (next(cut) if len(word) > 1 else (word + END_OF_WORD,) for word in chunk)

    def subword_counts(self, words: Mapping[str, int]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for subwords, number in zip(self.segment_all(words), words.values(), strict=True):
            for subword in subwords:
                counts[subword] += number
        return counts

    @cached_property
    def _segmenter(self) -> Segmenter:
        return Segmenter(self.merges)

    def write(self, path: Path) -> None:
        """Write one pair a line, as subword-nmt does."""
        lines = [EXHAUSTED_HEADER if self.exhausted else HEADER, *(f"{left} {right}" for left, right in self.merges)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        header, *lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
        merges = tuple((left, right) for left, _, right in (line.partition(" ") for line in lines))
        return cls(merges=merges, exhausted=header == EXHAUSTED_HEADER)


def learn_bpe(counts: Mapping[str, int], *, merges: int) -> Bpe:
    """Merges that join the most frequent pair of counted words each time, of equals the first in code point order."""
    # Departure: of equally frequent pairs the first in code point order; subword-nmt takes the last.
    # Not the trainer of Hugging Face tokenizers: it takes no counts, and it breaks ties by symbol numbers that it gives
    # the "x</w>" symbols in the order of a randomly seeded hash map, so that two runs on one text differ.
    pairs = iter(JoinedPairs(counts))
    # A dict, as a pair comes up again where the text itself spells out "</w>"; it keeps its first rank.
    learned: dict[Pair, None] = {}
    while len(learned) < merges and (pair := next(pairs, None)):
        learned[pair] = None
    return Bpe(merges=tuple(learned), exhausted=len(learned) < merges)
