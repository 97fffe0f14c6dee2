"""Byte-pair encoding of words, exact and the same bytes every time (Sennrich et al., 2016)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise
from pathlib import Path
from typing import Self

from isoglot.errors import IsoglotError

END_OF_WORD = "</w>"
SEGMENT_CACHE_WORDS = 1 << 18

# The first line of subword-nmt's files; its reader takes the last field for the version, so there is room before it.
HEADER = "#version: 0.2"
EXHAUSTED_HEADER = "#version: exhausted 0.2"

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """Merges of neighbouring symbols, the earliest learned first."""

    merges: tuple[Pair, ...]
    exhausted: bool = False
    """Fewer merges than were asked for, as every word of the text had become one symbol."""

    def segment(self, word: str) -> tuple[str, ...]:
        """The subwords of a word: with the merges e+s, es+t</w>, the word "best" is b est</w>."""
        return self._cached_segment(word)

    @cached_property
    def _cached_segment(self) -> Callable[[str], tuple[str, ...]]:
        ranks = {pair: rank for rank, pair in enumerate(self.merges)}

        @lru_cache(maxsize=SEGMENT_CACHE_WORDS)
        def segment(word: str) -> tuple[str, ...]:
            return tuple(_joined(_symbols(word), ranks))

        return segment

    def subword_counts(self, words: Mapping[str, int]) -> Counter[str]:
        """How often each subword occurs in words with these counts."""
        counts: Counter[str] = Counter()
        for word, number in words.items():
            for subword in self.segment(word):
                counts[subword] += number
        return counts

    def write(self, path: Path) -> None:
        """As subword-nmt writes them: one pair a line."""
        lines = [EXHAUSTED_HEADER if self.exhausted else HEADER, *(f"{left} {right}" for left, right in self.merges)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                header, *lines = file.read().removesuffix("\n").split("\n")
        except FileNotFoundError:
            raise IsoglotError(f"{path}: no such file; it should hold BPE merges") from None
        except UnicodeDecodeError as error:
            raise IsoglotError(f"{path}: not UTF-8 ({error}); BPE merges should be") from error
        if header not in (HEADER, EXHAUSTED_HEADER):
            raise IsoglotError(f"{path}:1: a file of BPE merges opens with {HEADER!r}, not {header[:40]!r}")
        merges = []
        for number, line in enumerate(lines, start=2):
            left, _, right = line.partition(" ")
            if not left or not right or " " in right:
                raise IsoglotError(
                    f"{path}:{number}: two symbols with one space between them expected, not {line[:40]!r}"
                )
            merges.append((left, right))
        return cls(merges=tuple(merges), exhausted=header == EXHAUSTED_HEADER)


def learn_bpe(text: Mapping[str, int] | Iterable[list[str]], *, merges: int) -> Bpe:
    """Merges that join the most frequent pair each time, of equals the one first in code point order.

    The text is words with their counts, or lines of words; the order of neither matters.
    """
    # Not the trainer of Hugging Face tokenizers: it takes no counts, and it breaks ties by symbol numbers that it gives
    # the "x</w>" symbols in the order of a randomly seeded hash map, so that two runs on one text differ.
    counts = text if isinstance(text, Mapping) else Counter(chain.from_iterable(text))
    if merges < 0:
        raise IsoglotError(f"the number of BPE merges cannot be {merges}; it is at least 0")
    if not (counts := {word: count for word, count in counts.items() if count > 0}):
        raise IsoglotError("there are no words to learn BPE from; is the text empty?")
    pairs = _PairCounts(counts)
    # A dict, as a pair comes up again where the text itself spells out "</w>"; it keeps its first rank.
    learned: dict[Pair, None] = {}
    while len(learned) < merges and (pair := pairs.most_frequent()):
        learned[pair] = None
        pairs.merge(pair)
    return Bpe(merges=tuple(learned), exhausted=len(learned) < merges)


class _PairCounts:
    """How often each pair of neighbours occurs; a merge looks again only at the words that may hold its pair."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._words = [_symbols(word) for word in counts]
        self._counts = list(counts.values())
        self._pairs: defaultdict[Pair, int] = defaultdict(int)
        # Where a pair is or once was: to look in vain, or twice, does no harm.
        self._homes: defaultdict[Pair, list[int]] = defaultdict(list)
        for home, symbols in enumerate(self._words):
            for pair in pairwise(symbols):
                self._pairs[pair] += self._counts[home]
                self._homes[pair].append(home)
        self._queue = [(-count, pair) for pair, count in self._pairs.items()]
        heapify(self._queue)

    def most_frequent(self) -> Pair | None:
        """The next pair to merge; none when every word is one symbol."""
        while self._queue:
            count, pair = heappop(self._queue)
            current = self._pairs[pair]
            if current == -count:
                return pair
            # A count that fell is put right only when it comes to the top; one that rose was queued again at once.
            if current:
                heappush(self._queue, (-current, pair))
        return None

    def merge(self, pair: Pair) -> None:
        """Join a pair wherever it stands."""
        left, right = pair
        joined = left + right
        risen = set()
        for home in self._homes.pop(pair):
            symbols, count = self._words[home], self._counts[home]
            for i in _places(symbols, pair):
                neighbours = []
                if i > 0:
                    neighbours.append(((symbols[i - 1], left), (symbols[i - 1], joined)))
                if i + 2 < len(symbols):
                    neighbours.append(((right, symbols[i + 2]), (joined, symbols[i + 2])))
                for old, new in neighbours:
                    self._pairs[old] -= count
                    self._pairs[new] += count
                    self._homes[new].append(home)
                    risen.add(new)
                symbols[i : i + 2] = [joined]
                self._pairs[pair] -= count
        for new in risen:
            if self._pairs[new]:
                heappush(self._queue, (-self._pairs[new], new))


def _symbols(word: str) -> list[str]:
    return [*word[:-1], word[-1:] + END_OF_WORD]


def _joined(symbols: list[str], ranks: Mapping[Pair, int]) -> list[str]:
    """Symbols after all merges that apply, always the earliest learned next."""
    while known := [(rank, pair) for pair in pairwise(symbols) if (rank := ranks.get(pair)) is not None]:
        pair = min(known)[1]
        for i in _places(symbols, pair):
            symbols[i : i + 2] = [pair[0] + pair[1]]
    return symbols


def _places(symbols: list[str], pair: Pair) -> Iterator[int]:
    """Where a pair stands, from left to right, while the caller joins each: a a a with a+a becomes aa a."""
    left, right = pair
    i = 0
    while i + 1 < len(symbols):
        if symbols[i] == left and symbols[i + 1] == right:
            yield i
        i += 1
