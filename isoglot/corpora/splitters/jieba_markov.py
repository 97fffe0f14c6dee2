"""Words that jieba's dictionary does not have, by its hidden Markov model of where words begin and end."""

# Y = where a character stands in its word, P = pieces of text, N = characters
import pickle
from dataclasses import dataclass
from typing import Self

import numpy as np

from isoglot.corpora.splitters.jieba_dictionary import Ids, Scores, jieba_file

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
        """The model that comes with jieba."""
        start, step, emission = (
            pickle.loads(jieba_file(f"finalseg/prob_{table}.p").read_bytes()) for table in ("start", "trans", "emit")
        )
        han = [chr(code) for code in range(FIRST_HAN, LAST_HAN + 1)]
        return cls(
            start_Y=np.array([start[standing] for standing in STANDINGS]),
            step_Y=_steps(step, before=BEFORE),
            later_step_Y=_steps(step, before=LATER_BEFORE),
            emission_YH=np.array([[emission[standing].get(c, IMPOSSIBLE) for c in han] for standing in STANDINGS]),
        )


def _steps(step: dict[str, dict[str, float]], *, before: Ids) -> Scores:
    return np.array([step[STANDINGS[origin]][standing] for origin, standing in zip(before, STANDINGS, strict=True)])
