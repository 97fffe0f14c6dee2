"""Chinese words as jieba cuts them in its precise mode with its hidden Markov model, many lines at a time.

Why not a library: rjieba 0.2.2 cuts 7,874 of the 204,502 lines of wiki.zh and other.zh differently from jieba. It joins
"F-4", counts more characters as Han, and rounds its Markov model's emissions to six decimals. With the first two
repaired 3 lines still differ, at 0.9 to 1.0 times the speed of this module.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.in_parallel import line_batches
from isoglot.corpora.splitters.jieba_dictionary import (
    FIRST_HAN,
    LAST_HAN,
    NO_STATE,
    Ids,
    JiebaDictionary,
    JiebaMarkov,
    Scores,
)
from isoglot.corpora.splitters.marks import CONTROLS, PLAIN_MARKS

# N = characters of a text, E = words at places of it, P = pieces of it,
# R = characters of its blocks in the order of how many are left before the block ends

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

    def best_sizes(self) -> Ids:
        """For each character of a block the size of the word there on the best way to the block's end.

        The score of a way is summed from its end, as in jieba, since another order rounds otherwise. Of two ways with
        one score that with the longer word wins.
        """
        place_N = np.arange(len(self.in_block_N))
        end_N = np.minimum.accumulate(np.where(self.in_block_N, len(place_N), place_N)[::-1])[::-1]
        left = (end_N - place_N)[self.places[0]]
        order = np.argsort(left.astype(np.min_scalar_type(left.max(initial=0))), kind="stable")
        place_R = self.places[0][order]
        rank_N = np.full(len(self.in_block_N), len(place_R))
        rank_N[place_R] = np.arange(len(place_R))
        count_R = np.bitwise_count(self.sizes_N[place_R]).astype(np.int64)
        begin_R = np.cumsum(count_R) - count_R
        score_E, next_E, size_E = (np.empty(count_R.sum(), kind) for kind in (np.float64, np.int64, np.int64))
        for size, (place, score) in enumerate(zip(self.places, self.scores, strict=True), start=1):
            # After the shorter words of the same place: as many as there are set bits below its own.
            at = begin_R[rank_N[place]] + np.bitwise_count(self.sizes_N[place] & (1 << size) - 1)
            score_E[at], next_E[at], size_E[at] = score, rank_N[place + size], size

        # Dynamic programming from the ends of all blocks at once: the best way from a character leads over characters
        # with fewer left, so that all characters with the same number left can be done in one step.
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


BATCH_CHARACTERS = 1 << 16
SPACE = ord(" ")
ALL_CODES = 0x110000
# Words stand in blocks of Han characters and these; every other character is a word by itself.
ALSO_IN_BLOCKS = string.ascii_letters + string.digits + "+#&._%-"
LATIN = re.compile(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[^a-zA-Z0-9]+")


def split_lines(lines: Sequence[str]) -> list[list[str]]:
    """The words of each line; a blank line has none.

    They are those of `jieba.lcut`, without its white space. Each is then rewritten as the scripts of Moses would do it
    alone: plain punctuation marks and no control characters. XLM too cut first and rewrote then, but whole lines, in
    which the scripts glue "说 :" to one word.
    """
    # White space is single spaces within lines and one line end after each.
    tidy = (" ".join(line.split()) + "\n" for line in lines)
    batches = line_batches(tidy, characters=BATCH_CHARACTERS)
    return [words for batch in batches for words in _split("".join(batch))]


@cache
def _tables() -> tuple[JiebaDictionary, JiebaMarkov, Flags, NDArray[np.uint32]]:
    """Two tables of jieba, which code points stand in blocks, and what is written for each but the ellipsis."""
    in_blocks = np.zeros(ALL_CODES, np.bool_)
    in_blocks[FIRST_HAN : LAST_HAN + 1] = True
    in_blocks[[ord(character) for character in ALSO_IN_BLOCKS]] = True
    plain_codes = np.arange(ALL_CODES, dtype="<u4")
    for controls in CONTROLS:
        plain_codes[controls.start : controls.stop] = SPACE
    single = {code: plain for code, plain in PLAIN_MARKS.items() if len(plain) == 1}
    plain_codes[list(single)] = [ord(plain) for plain in single.values()]
    return JiebaDictionary.read(), JiebaMarkov.read(), in_blocks, plain_codes


def _split(text: str) -> list[list[str]]:
    dictionary, markov, in_blocks, plain_codes = _tables()
    code_N = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)
    graph = WordGraph.of(code_N, in_block_N=in_blocks[code_N], dictionary=dictionary)
    last_N, single_N = _best_words(graph)
    first_P, end_P = _runs(single_N)
    size_P = end_P - first_P
    # jieba leaves the characters of a run alone where together they are a word of the dictionary that lost.
    is_word_P = (graph.sizes_N[first_P] >> np.minimum(size_P, 31) & 1).astype(np.bool_)
    unknown = (size_P > 1) & ~is_word_P
    _mark_unknown_words(last_N, text, code_N, first_P=first_P[unknown], end_P=end_P[unknown], markov=markov)

    place_N = np.arange(len(code_N))
    place_N[1:] += np.cumsum(last_N[:-1])
    spaced = np.full(place_N[-1] + 1, SPACE, "<u4")
    spaced[place_N] = plain_codes[code_N]
    return [line.split() for line in spaced.tobytes().decode("utf-32-le").replace("…", "...").split("\n")[:-1]]


def _best_words(graph: WordGraph) -> tuple[Flags, Flags]:
    """Which characters are the last of a word, and which of those in blocks are a word alone."""
    size_N = graph.best_sizes()
    last_N = ~graph.in_block_N
    single_N = np.zeros_like(last_N)
    place, _ = _runs(graph.in_block_N)
    while place.size:
        size = size_N[place]
        single_N[place[size == 1]] = True
        place = place + size
        last_N[place - 1] = True
        place = place[graph.in_block_N[place]]
    return last_N, single_N


def _mark_unknown_words(
    last_N: Flags, text: str, code_N: Ids, *, first_P: Ids, end_P: Ids, markov: JiebaMarkov
) -> None:
    """Mark the last characters of the words that runs of single characters are made of."""
    step_N = np.zeros(len(code_N), np.int8)
    step_N[first_P], step_N[end_P] = 1, -1
    inside_N = np.cumsum(step_N, dtype=np.int8).astype(np.bool_)
    han_N = inside_N & (code_N >= FIRST_HAN)
    last_N[inside_N] = False
    first_P, end_P = _runs(han_N)
    last_N[markov.word_ends(code_N, first_P=first_P, size_P=end_P - first_P)] = True
    first_P, end_P = _runs(inside_N & ~han_N)
    for first, end in zip(first_P.tolist(), end_P.tolist(), strict=True):
        piece = text[first:end]
        last_N[end - 1] = True
        if not piece.isalnum():
            last_N[[first + word.end() - 1 for word in LATIN.finditer(piece)]] = True


def _runs(flag_N: Flags) -> tuple[Ids, Ids]:
    """Where runs of set flags begin, and the places after their ends; the last flag is not set."""
    edges = np.flatnonzero(np.diff(flag_N, prepend=False))
    return edges[0::2], edges[1::2]
