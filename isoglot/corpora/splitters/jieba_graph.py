"""The words of jieba's dictionary that a text may be made of, and the most probable way through them."""

# N = characters of a text, E = words at places of it,
# R = characters of its blocks in the order of how many are left before the block ends
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.splitters.jieba_dictionary import NO_STATE, Ids, JiebaDictionary, Scores

Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class WordGraph:
    """All words within the blocks of a text; `places[k]` and `scores[k]` are of those of k + 1 characters."""

    places: tuple[Ids, ...]
    scores: tuple[Scores, ...]
    sizes_N: NDArray[np.uint32]
    """Bit k is set where a word of k characters begins."""
    in_block_N: Flags

    @classmethod
    def of(cls, code_N: Ids, *, in_block_N: Flags, dictionary: JiebaDictionary) -> Self:
        """The text ends outside of a block."""
        place = np.flatnonzero(in_block_N)
        state = code_N[place]
        places, scores = [place], [dictionary.score[state]]
        sizes_N = np.where(in_block_N, np.uint32(2), np.uint32(0))
        for size in count(1):
            more = np.flatnonzero(in_block_N[place + size])
            place, state = place[more], state[more]
            state = dictionary.children(state, character_N=code_N[place + size])
            known = np.flatnonzero(state != NO_STATE)
            place, state = place[known], state[known]
            if not place.size:
                break
            score = dictionary.score[state]
            words = np.flatnonzero(score > -np.inf)
            places.append(place[words])
            scores.append(score[words])
            sizes_N[place[words]] |= np.uint32(2 << size)
        # A character that is no word counts as one only where no other word begins.
        alone = (scores[0] == -np.inf) & (sizes_N[places[0]] == 2)
        scores[0][alone] = dictionary.unknown
        return cls(places=tuple(places), scores=tuple(scores), sizes_N=sizes_N, in_block_N=in_block_N)

    def has_words(self, first: Ids, *, size: Ids) -> Flags:
        """Whether there is a word of so many characters at each place."""
        return (self.sizes_N[first] >> np.minimum(size, 31) & 1).astype(np.bool_)

    def best_sizes(self) -> Ids:
        """For each character of a block the size of the word there on the best way to the block's end.

        As in jieba the score of a way is summed from its end, since another order rounds otherwise, and of two ways
        with one score that with the longer word wins.
        """
        left = self._left()
        order = np.argsort(left.astype(np.min_scalar_type(left.max(initial=0))), kind="stable")
        place_R = self.places[0][order]
        rank_N = np.full(len(self.in_block_N), len(place_R))
        rank_N[place_R] = np.arange(len(place_R))
        count_R = np.bitwise_count(self.sizes_N[place_R]).astype(np.int64)
        begin_R = np.cumsum(count_R) - count_R
        score_E, next_E, size_E = self._sorted_words(rank_N, begin_R=begin_R, words=int(count_R.sum()))

        # The characters with the same number left do not depend on one another.
        bounds = np.cumsum(np.bincount(left, minlength=1))
        word_bounds = np.append(begin_R, len(score_E))[bounds]
        begin_R -= np.repeat(word_bounds[:-1], np.diff(bounds))
        best_R = np.zeros(len(place_R) + 1)
        for (start, end), (first, last) in zip(pairwise(bounds.tolist()), pairwise(word_bounds.tolist()), strict=True):
            way_E = score_E[first:last] + best_R[next_E[first:last]]
            best_R[start:end] = np.maximum.reduceat(way_E, begin_R[start:end])

        best_E = score_E + best_R[next_E] == np.repeat(best_R[:-1], count_R)
        size_N = np.ones(len(self.in_block_N), np.int64)
        # Assignment in order leaves the longest.
        size_N[np.repeat(place_R, count_R)[best_E]] = size_E[best_E]
        return size_N

    def _left(self) -> Ids:
        """How many characters of its block are left at each one, itself among them."""
        place_N = np.arange(len(self.in_block_N))
        end_N = np.minimum.accumulate(np.where(self.in_block_N, len(place_N), place_N)[::-1])[::-1]
        return (end_N - place_N)[self.places[0]]

    def _sorted_words(self, rank_N: Ids, *, begin_R: Ids, words: int) -> tuple[Scores, Ids, Ids]:
        """Score, rank of the next word, and size of all words, by rank and size."""
        score_E, next_E, size_E = np.empty(words), np.empty(words, np.int64), np.empty(words, np.int64)
        free_R = begin_R.copy()
        for size, (place, score) in enumerate(zip(self.places, self.scores, strict=True), start=1):
            rank = rank_N[place]
            at = free_R[rank]
            score_E[at], next_E[at], size_E[at] = score, rank_N[place + size], size
            free_R[rank] += 1
        return score_E, next_E, size_E
