"""jieba's dictionary as a trie in arrays, in which all places of a text look for their words at once."""

import pickle
from dataclasses import dataclass
from importlib.metadata import distribution
from math import log
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.hash_table import NO_SLOT, HashTable

# W = words of the dictionary, N = places that look, or characters, Y = where a character stands in its word,
# P = pieces of text

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

# A state of the trie is a word's first character or, further down, a slot counted on from the last such one.
CHARACTER_BITS = 16
FIRST_SLOT = 1 << CHARACTER_BITS
SLOT_BITS = 21
NO_STATE = FIRST_SLOT + NO_SLOT
"""No character: U+FFFF stands for none."""


def jieba_file(name: str) -> Path:
    """One of the tables that come with jieba.

    jieba is never imported. It would log to the terminal, warn of its own syntax, and share a cache in the folder for
    temporary files with other processes.
    """
    return Path(str(distribution("jieba").locate_file("jieba"))) / name


@dataclass(frozen=True, kw_only=True)
class JiebaDictionary:
    """`score[state]` is the log probability of the word that ends there; -inf where none does."""

    table: HashTable
    score: Scores
    unknown: float
    """The score of a character that no word begins with."""

    def children(self, state_N: Ids, *, character_N: Ids) -> Ids:
        """The state that each one leads to by a character; NO_STATE where no word goes on so."""
        return FIRST_SLOT + self.table.slots(state_N << CHARACTER_BITS | character_N)

    @classmethod
    def read(cls) -> Self:
        """The dictionary that comes with jieba: a word, its count and its part of speech a line."""
        rows = [line.split(" ") for line in jieba_file("dict.txt").read_text(encoding="utf-8").strip("\n").split("\n")]
        code = np.frombuffer("".join(row[0] for row in rows).encode("utf-32-le"), "<u4").astype(np.int64)
        size_W = np.array([len(row[0]) for row in rows])
        first_W = np.cumsum(size_W) - size_W
        counts = [int(row[1]) for row in rows]
        log_total = log(sum(counts))
        # Not by numpy: its logarithm may differ in the last bit, and two ways of the same probability end otherwise.
        score_W = np.array([log(count) - log_total for count in counts])

        table = HashTable(bits=SLOT_BITS)
        score = np.full(FIRST_SLOT + len(table), -np.inf)
        state_W = code[first_W]
        for size in range(1, int(size_W.max()) + 1):
            # Of a word that stands there twice the later score stays, as in jieba.
            score[state_W[size_W == size]] = score_W[size_W == size]
            longer = size_W > size
            first_W, size_W, score_W = first_W[longer], size_W[longer], score_W[longer]
            state_W = FIRST_SLOT + table.add(state_W[longer] << CHARACTER_BITS | code[first_W + size])
        return cls(table=table, score=score, unknown=-log_total)


FIRST_HAN, LAST_HAN = 0x4E00, 0x9FD5
STANDINGS = "BMES"  # begin, middle, end, single
END, SINGLE = 2, 3
# The two that can come before each; of two ways with one score jieba takes that of the later letter.
BEFORE, LATER_BEFORE = np.array([2, 0, 0, 2]), np.array([3, 1, 1, 3])
IMPOSSIBLE = -3.14e100


@dataclass(frozen=True, kw_only=True)
class JiebaMarkov:
    """Log probabilities; `emission_YH` has a column for each Han character."""

    start_Y: Scores
    step_Y: Scores
    later_step_Y: Scores
    emission_YH: Scores

    def word_ends(self, code_N: Ids, *, first_P: Ids, size_P: Ids) -> Ids:
        """The places of the last characters of all words in pieces of Han characters."""
        order = np.argsort(-size_P, kind="stable")
        first_P, size_P = first_P[order], size_P[order]
        # Longest first, so that the pieces that have a character at each step are the first so many.
        pieces = np.searchsorted(-size_P, -np.arange(size_P.max(initial=0))).tolist()
        score_YP = self.start_Y[:, None] + self.emission_YH[:, code_N[first_P] - FIRST_HAN]
        turns = [np.zeros((0, 0), np.bool_)]
        for step in range(1, len(pieces)):
            at = slice(pieces[step])
            emission_YP = self.emission_YH[:, code_N[first_P[at] + step] - FIRST_HAN]
            way_YP = score_YP[BEFORE, at] + self.step_Y[:, None] + emission_YP
            later_way_YP = score_YP[LATER_BEFORE, at] + self.later_step_Y[:, None] + emission_YP
            score_YP[:, at] = np.maximum(way_YP, later_way_YP)
            turns.append(later_way_YP >= way_YP)

        standing_P = np.where(score_YP[SINGLE] >= score_YP[END], SINGLE, END)
        ends = [first_P[:0]]
        for step in range(len(pieces) - 1, -1, -1):
            standing = standing_P[: pieces[step]]
            ends.append(first_P[: pieces[step]][standing >= END] + step)
            if step:
                turn = turns[step][standing, np.arange(len(standing))]
                standing[:] = np.where(turn, LATER_BEFORE[standing], BEFORE[standing])
        return np.concatenate(ends)

    @classmethod
    def read(cls) -> Self:
        start, step, emission = (
            pickle.loads(jieba_file(f"finalseg/prob_{table}.p").read_bytes()) for table in ("start", "trans", "emit")
        )
        step_YY = np.array([[step[before].get(after, IMPOSSIBLE) for after in STANDINGS] for before in STANDINGS])
        han = [chr(code) for code in range(FIRST_HAN, LAST_HAN + 1)]
        return cls(
            start_Y=np.array([start[standing] for standing in STANDINGS]),
            step_Y=step_YY[BEFORE, range(4)],
            later_step_Y=step_YY[LATER_BEFORE, range(4)],
            emission_YH=np.array([[emission[standing].get(c, IMPOSSIBLE) for c in han] for standing in STANDINGS]),
        )
