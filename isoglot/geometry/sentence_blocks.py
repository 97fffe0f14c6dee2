"""Sentence pairs of one size as arrays: every cell, a target word beside a source word, has the number of its pair."""

# L = sentence pairs, W = words of one side, B = sentence pairs of one size, N = their target words, M = their source
# words, K = M and the null word before them, P = different pairs of words that occur together
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from isoglot.geometry.diagonal import Ids

PairIds = NDArray[np.int32]

MOST_CELLS = 1 << 20
"""In one block, where it has more than one sentence pair: what is computed of it takes some tens of megabytes."""


@dataclass(frozen=True, kw_only=True)
class NumberedWords:
    """One side of the sentence pairs, its words numbered as they are first met."""

    word_W: Ids
    start_L: Ids
    length_L: Ids
    num_types: int

    @classmethod
    def of(cls, lines: Sequence[Sequence[str]]) -> "NumberedWords":
        numbers: dict[str, int] = {}
        length_L = np.array([len(line) for line in lines], dtype=np.int64)
        word_W = np.fromiter((numbers.setdefault(word, len(numbers)) for word in chain(*lines)), dtype=np.int64)
        return cls(word_W=word_W, start_L=length_L.cumsum() - length_L, length_L=length_L, num_types=len(numbers))

    def places(self, line_B: Ids) -> Ids:
        """place_BN: where the words of lines of one length stand."""
        return self.start_L[line_B][:, None] + np.arange(self.length_L[line_B[0]])


@dataclass(frozen=True, kw_only=True)
class Block:
    """Sentence pairs that have as many target words and as many source words."""

    line_B: Ids
    pair_BNK: PairIds

    @property
    def size(self) -> tuple[int, int]:
        """How many target words each pair has, and how many source words."""
        _, num_targets, num_sources_and_null = self.pair_BNK.shape
        return num_targets, num_sources_and_null - 1


@dataclass(frozen=True, kw_only=True)
class SentenceBlocks:
    """All sentence pairs that have words on both sides."""

    blocks: tuple[Block, ...]
    source_P: Ids
    """The source word of each pair, 0 for the null word."""

    @classmethod
    def of(cls, sources: NumberedWords, targets: NumberedWords) -> "SentenceBlocks":
        lines = list(_lines_of_one_size(sources, targets))
        key_P = _different_keys(_keys(line_B, sources, targets) for line_B in lines)
        blocks = tuple(
            Block(
                line_B=line_B,
                pair_BNK=np.searchsorted(key_P, _keys(line_B, sources, targets)).astype(np.int32),
            )
            for line_B in lines
        )
        return cls(blocks=blocks, source_P=key_P // max(targets.num_types, 1))


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
    """key_P, sorted. Keys are merged whenever as many wait as are known, so that they never fill the memory."""
    known, waiting, num_waiting = np.zeros(0, dtype=np.int64), list[Ids](), 0
    for key_BNK in blocks:
        waiting.append(np.unique(key_BNK))
        num_waiting += len(waiting[-1])
        if num_waiting > max(len(known), MOST_CELLS):
            known, waiting, num_waiting = np.unique(np.concatenate([known, *waiting])), [], 0
    return np.unique(np.concatenate([known, *waiting]))
