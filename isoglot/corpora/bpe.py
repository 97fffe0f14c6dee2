"""Byte-pair encoding of words, exact and the same bytes every time (Sennrich et al., 2016)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Self

from isoglot.corpora.bpe_learning import JoinedPairs
from isoglot.corpora.bpe_segmentation import Segmenter
from isoglot.corpora.pair_ranks import NO_RANK
from isoglot.corpora.word_symbols import Pair, word_symbols
from isoglot.errors import IsoglotError

SEGMENT_CACHE_WORDS = 1 << 18

# The first line of subword-nmt's files; its reader takes the last field for the version, so there is room before it.
HEADER = "#version: 0.2"
EXHAUSTED_HEADER = "#version: exhausted 0.2"


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """Merges of neighbouring symbols, the earliest learned first."""

    merges: tuple[Pair, ...]
    exhausted: bool = False
    """Fewer merges than were asked for, as every word of the text had become one symbol."""

    def segment(self, word: str) -> tuple[str, ...]:
        """The subwords of a word: with the merges e+s, es+t</w>, the word "best" is b est</w>."""
        return self._cached_segment(word)

    def segment_all(self, words: Iterable[str]) -> Iterator[tuple[str, ...]]:
        """The subwords of each word, faster than one at a time; let the words be distinct, as none is remembered."""
        return self._segmenter.segments(words)

    def subword_counts(self, words: Mapping[str, int]) -> Counter[str]:
        """How often each subword occurs in words with these counts."""
        counts: Counter[str] = Counter()
        for subwords, number in zip(self.segment_all(words), words.values(), strict=True):
            for subword in subwords:
                counts[subword] += number
        return counts

    @cached_property
    def _segmenter(self) -> Segmenter:
        return Segmenter(self.merges)

    @cached_property
    def _cached_segment(self) -> Callable[[str], tuple[str, ...]]:
        # Backwards, so that of two equal merges the first counts.
        ranks = {self.merges[rank]: rank for rank in reversed(range(len(self.merges)))}
        # Made once, as each remembers its hash.
        joined = [left + right for left, right in self.merges]

        @lru_cache(maxsize=SEGMENT_CACHE_WORDS)
        def segment(word: str) -> tuple[str, ...]:
            return tuple(_merged(word_symbols(word), ranks=ranks, joined=joined))

        return segment

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
    pairs = iter(JoinedPairs(counts))
    # A dict, as a pair comes up again where the text itself spells out "</w>"; it keeps its first rank.
    learned: dict[Pair, None] = {}
    while len(learned) < merges and (pair := next(pairs, None)):
        learned[pair] = None
    return Bpe(merges=tuple(learned), exhausted=len(learned) < merges)


def _merged(symbols: list[str], *, ranks: Mapping[Pair, int], joined: Sequence[str]) -> list[str]:
    """Symbols after all merges that apply, always the earliest learned next."""
    rank_of = ranks.get
    found = [rank_of(pair, NO_RANK) for pair in pairwise(symbols)]
    while (rank := min(found, default=NO_RANK)) != NO_RANK:
        # All places of a pair come before any pair that they make, even one of an earlier merge.
        while rank in found:
            i = found.index(rank)
            symbols[i : i + 2] = [joined[rank]]
            del found[i]
            if i > 0:
                found[i - 1] = rank_of((symbols[i - 1], symbols[i]), NO_RANK)
            if i < len(found):
                found[i] = rank_of((symbols[i], symbols[i + 1]), NO_RANK)
    return symbols
