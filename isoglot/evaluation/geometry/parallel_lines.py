"""Two files of the user's whose lines translate each other: read, checked, and some held out for tests."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import NamedTuple, Self

import numpy as np

from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.errors import IsoglotError, option

LEAST_LINES = 50
# Shuffled lines never reached it, from 200 lines on.
LEAST_CORRELATION = 0.3
# How far above 0, in standard errors: one set of 50 shuffled lines in two hundred passes for translations.
CERTAINTY = 2.58
# Translations are 4.6 better in their place than shifted, in any 200 lines; a wrong place is as much worse.
SHIFT_CERTAINTY = 3.0
FARTHEST_SHIFT = 5
BLOCK = 200
TEST_EVERY = 5


def mismatch(lines_a: Sequence[str], lines_b: Sequence[str]) -> str | None:
    """The reason why line i of one seems no translation of line i of the other, in words; None if there is none."""
    # Long sentences have long translations, in any two languages: no dictionary is needed to see lines out of place.
    lengths_a, lengths_b = ([math.log(max(len(line), 1)) for line in lines] for lines in (lines_a, lines_b))
    if (overall := _correlation(lengths_a, lengths_b)) is None:
        return None
    num_lines, num_blocks = len(lines_a), max(1, len(lines_a) // BLOCK)
    for first, end in pairwise(num_lines * place // num_blocks for place in range(num_blocks + 1)):
        if (shift := _better_shift(lengths_a[first:end], lengths_b[first:end])) is not None:
            away = f"{abs(shift)} line{'s' if abs(shift) > 1 else ''} {'later' if shift > 0 else 'earlier'}"
            place = f"in lines {first + 1} to {end}"
            return f"{place}, lengths fit far better with the lines that stand {away} in the second"
    if overall < LEAST_CORRELATION or _fisher_z(overall) * math.sqrt(num_lines - 3) < CERTAINTY:
        found = f"over {num_lines} lines the lengths of both have a correlation of {overall:.2f}"
        return f"{found}, where translations have 0.8 or more"
    return None


def repetition(lines_a: Sequence[str], lines_b: Sequence[str]) -> str | None:
    """The reason why both seem one text, which every model finds in itself; None if there is none."""
    num_same = sum(map(eq, lines_a, lines_b))
    same = f"{num_same:,} of {len(lines_a):,} lines are the same in both"
    return same if 2 * num_same > len(lines_a) else None


def _better_shift(lengths_a: Sequence[float], lengths_b: Sequence[float]) -> int | None:
    """The number of lines to move the second up by, where that is clearly better than leaving it in its place."""
    if (here := _correlation(lengths_a, lengths_b)) is None:
        return None
    best, there, size = 0, here, len(lengths_a)
    for shift in range(-FARTHEST_SHIFT, FARTHEST_SHIFT + 1):
        later, earlier = max(0, shift), max(0, -shift)
        shifted = _correlation(lengths_a[earlier : size - later], lengths_b[later : size - earlier])
        if shifted is not None and shifted > there:
            best, there = shift, shifted
    gain = (_fisher_z(there) - _fisher_z(here)) * math.sqrt((size - 3) / 2)
    return best if gain > SHIFT_CERTAINTY else None


def _fisher_z(value: float) -> float:
    # A correlation on a scale where its standard error is 1 / sqrt(n - 3), whatever it is.
    return math.atanh(max(-0.999999, min(value, 0.999999)))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    try:
        return correlation(x, y)
    except StatisticsError:  # all lengths of a side are the same
        return None


@dataclass(frozen=True, kw_only=True)
class ParallelLines:
    """Line i of `a` says what line i of `b` says; no pair occurs twice."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    texts: tuple[int, ...]
    """The text that each line is of, by number."""
    notes: tuple[str, ...] = ()


def read_parallel_lines(path_a: Path, path_b: Path, *, anyway: bool = False) -> ParallelLines:
    """Plain text with a sentence a line; or treebanks, or rows of XNLI, as `read_parallel` knows them.

    With `anyway`, lines that do not look like translations are noted and not refused.
    """
    pairs, num_unpaired, texts = read_parallel([path_a, path_b], languages=("a", "b"))
    notes = [f"Sentences that only one file has, left out: {num_unpaired:,}."] if num_unpaired else []
    distinct: dict[tuple[str, str], int] = {}
    for pair, text in zip(pairs, texts, strict=True):
        distinct.setdefault(pair, text)
    if len(distinct) < LEAST_LINES:
        fix = f"give at least {LEAST_LINES}, of which every fifth is a test, and better thousands"
        raise IsoglotError(f"{path_a} and {path_b}: {len(distinct)} different lines; {fix}")
    if wrong := mismatch([a for a, _ in pairs], [b for _, b in pairs]):
        if not anyway:
            problem = f"{path_a} and {path_b}: do not look like translations line by line: {wrong}"
            all_the_same = option("anyway", python="anyway=True")
            fix = f"is a line missing, or one file in another order? {all_the_same} goes on all the same"
            raise IsoglotError(f"{problem}; {fix}")
        notes.append(f"The lines do not look like translations: {wrong}.")
    if same := repetition(*zip(*pairs, strict=True)):
        notes.append(f"{same[0].upper()}{same[1:]}: a model finds these without knowing a second language.")
    if len(distinct) < len(pairs):
        notes.append(f"{len(pairs) - len(distinct):,} repeated lines are left out.")
    a, b = zip(*distinct, strict=True)
    return ParallelLines(a=a, b=b, texts=tuple(distinct.values()), notes=tuple(notes))


@dataclass(frozen=True, kw_only=True)
class HeldOutLines:
    tests: list[int]
    fitted: list[int]
    """Rows of other texts, with neither side among the tests: a map must not be fitted on the answers."""
    pairs: list[tuple[int, int]]
    """Right answers, counted among the tests; a sentence that occurs there twice has two."""

    @classmethod
    def of(cls, lines_a: Sequence[str], lines_b: Sequence[str], *, texts: Sequence[int] = ()) -> Self:
        """Every fifth text is a test, with all its lines; each line is a text of its own where none are named."""
        texts = texts or range(len(lines_a))
        asked = {*list(dict.fromkeys(texts))[TEST_EVERY - 1 :: TEST_EVERY]}
        tests = [row for row, text in enumerate(texts) if text in asked]
        tests_a, tests_b = ([lines[row] for row in tests] for lines in (lines_a, lines_b))
        fitted = [row for row in rows_apart((lines_a, lines_b), tests=(tests_a, tests_b)) if texts[row] not in asked]
        if len(tests) < 2 or len(fitted) < 2:
            problem = f"{len(lines_a)} lines leave {len(tests)} to test and {len(fitted)} others to fit a map on"
            raise IsoglotError(f"{problem}; give more lines, or fewer that repeat each other")
        return cls(tests=tests, fitted=fitted, pairs=_right_answers(tests_a, tests_b))


class LengthFloor(NamedTuple):
    """The scores of a reader that sees of a line nothing but its length in characters."""

    retrieval: float
    """Percent of the tests, as an expectation where several lines are equally near; the mean of both directions."""
    cka: float


def length_floor(lines_a: Sequence[str], lines_b: Sequence[str], *, lines: HeldOutLines) -> LengthFloor:
    """Retrieval and CKA by the logarithm of the length alone."""
    lengths_a, lengths_b = (np.log([max(len(line), 1) for line in side]) for side in (lines_a, lines_b))
    # The map of one dimension: how much longer one language is, over the lines that maps are fitted on.
    ratio = np.mean(lengths_b[lines.fitted] - lengths_a[lines.fitted])
    distance = np.abs(lengths_a[lines.tests, None] + ratio - lengths_b[None, lines.tests]).round(9)
    is_right = np.zeros(distance.shape, dtype=bool)
    is_right[tuple(zip(*lines.pairs, strict=True))] = True
    found = []
    for axis in (0, 1):
        is_nearest = distance == distance.min(axis=axis, keepdims=True)
        found.append(np.mean((is_nearest & is_right).sum(axis=axis) / is_nearest.sum(axis=axis)))
    # Linear CKA of vectors of one number is their squared correlation.
    similarity = (_correlation(lengths_a.tolist(), lengths_b.tolist()) or 0.0) ** 2
    return LengthFloor(retrieval=100 * float(np.mean(found)), cka=similarity)


def rows_apart(texts: tuple[Sequence[str], Sequence[str]], *, tests: tuple[Sequence[str], Sequence[str]]) -> list[int]:
    """Rows of parallel texts with neither side among the lines of the tests."""
    tests_a, tests_b = map(set, tests)
    return [row for row, (a, b) in enumerate(zip(*texts, strict=True)) if a not in tests_a and b not in tests_b]


def _right_answers(tests_a: Sequence[str], tests_b: Sequence[str]) -> list[tuple[int, int]]:
    alike: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    keys = [(("a", line_a), ("b", line_b)) for line_a, line_b in zip(tests_a, tests_b, strict=True)]
    for row, (a, b) in enumerate(keys):
        alike[a].add(row)
        alike[b].add(row)
    return [(row, answer) for row, (a, b) in enumerate(keys) for answer in sorted(alike[a] | alike[b])]
