"""Two files of the user's whose lines translate each other, read, and refused where they do not seem to."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import Self

from isoglot.corpora.readers.inference_pairs import is_inference_row
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.readers.parallel_sentences import is_treebank, read_parallel
from isoglot.errors import IsoglotError

LEAST_LINES = 50
"""Fewer say little by their lengths."""
LEAST_CORRELATION = 0.3
"""Above all that was seen of shuffled lines, were they 200 or more."""
CERTAINTY = 2.58
"""That it is above 0, in standard errors: of 50 shuffled lines, one set in two hundred passes for translations."""
SHIFT_CERTAINTY = 3.0
"""Translations are 4.6 better in their place than shifted, in any 200 lines; a wrong place is as much worse."""
FARTHEST_SHIFT = 5
BLOCK = 200


def mismatch(lines_a: Sequence[str], lines_b: Sequence[str]) -> str | None:
    """What speaks against line i of one being a translation of line i of the other, in words; None if nothing does."""
    lengths = [[math.log(max(len(line), 1)) for line in lines] for lines in (lines_a, lines_b)]
    found = _correlation(*lengths)
    if found is None:
        return None
    for first, end in _blocks(len(lines_a)):
        block_a, block_b = (of_side[first:end] for of_side in lengths)
        if (shift := _better_shift(block_a, block_b)) is not None:
            away = f"{abs(shift)} line{'s' if abs(shift) > 1 else ''} {'later' if shift > 0 else 'earlier'}"
            return (
                f"in lines {first + 1} to {end}, lengths fit far better with the lines that stand {away} in the second"
            )
    if found < LEAST_CORRELATION or _transformed(found) * math.sqrt(len(lines_a) - 3) < CERTAINTY:
        return (
            f"over {len(lines_a)} lines the lengths of both have a correlation of {found:.2f}, where translations have "
            "0.8 or more"
        )
    return None


def _blocks(num_lines: int) -> Iterator[tuple[int, int]]:
    count = max(1, num_lines // BLOCK)
    for place in range(count):
        yield num_lines * place // count, num_lines * (place + 1) // count


def _better_shift(lengths_a: Sequence[float], lengths_b: Sequence[float]) -> int | None:
    """By how many lines the second must be moved up, should that be clearly better than leaving it in its place."""
    here = _correlation(lengths_a, lengths_b)
    if here is None:
        return None
    shifted = {
        shift: _correlation(
            lengths_a[max(0, -shift) : len(lengths_a) - max(0, shift)],
            lengths_b[max(0, shift) : len(lengths_b) - max(0, -shift)],
        )
        for shift in range(-FARTHEST_SHIFT, FARTHEST_SHIFT + 1)
    }
    best, there = max(((shift, found) for shift, found in shifted.items() if found is not None), key=lambda it: it[1])
    gain = (_transformed(there) - _transformed(here)) * math.sqrt((len(lengths_a) - 3) / 2)
    return best if gain > SHIFT_CERTAINTY else None


def _transformed(found: float) -> float:
    """Fisher's z, which has a standard error of 1 / sqrt(n - 3)."""
    return math.atanh(max(-0.999999, min(found, 0.999999)))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's; None where all lengths of a side are the same."""
    try:
        return correlation(x, y)
    except StatisticsError:
        return None


@dataclass(frozen=True, kw_only=True)
class ParallelLines:
    """Line i of `a` says what line i of `b` says; no pair stands there twice."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What a user should know of how they were read."""


def read_parallel_lines(path_a: Path, path_b: Path, *, anyway: bool = False) -> ParallelLines:
    """Plain text with a sentence a line; or treebanks, or rows of XNLI, as `read_parallel` knows them.

    With `anyway`, lines that do not look like translations are noted and not refused.
    """
    pairs, notes = _pairs(path_a, path_b)
    distinct = list(dict.fromkeys(pairs))
    if len(distinct) < LEAST_LINES:
        raise IsoglotError(
            f"{path_a} and {path_b}: {len(distinct)} different lines; give at least {LEAST_LINES}, of which every "
            "fifth is a test, and better thousands"
        )
    wrong = mismatch([a for a, _ in pairs], [b for _, b in pairs])
    if wrong is not None and not anyway:
        raise IsoglotError(
            f"{path_a} and {path_b}: do not look like translations line by line: {wrong}; is a line missing, or one "
            "file in another order? --anyway goes on all the same"
        )
    if wrong is not None:
        notes.append(f"The lines do not look like translations: {wrong}.")
    if len(distinct) < len(pairs):
        notes.append(f"{len(pairs) - len(distinct):,} repeated lines are left out.")
    return ParallelLines(a=tuple(a for a, _ in distinct), b=tuple(b for _, b in distinct), notes=tuple(notes))


def _pairs(path_a: Path, path_b: Path) -> tuple[list[tuple[str, str]], list[str]]:
    side_a, side_b = (_lines(path) for path in (path_a, path_b))
    if any(is_treebank(side) or is_inference_row(side[0]) for side in (side_a, side_b)):
        read = read_parallel([path_a, path_b], languages=("a", "b"))
        notes = [f"Sentences that only one file has, left out: {read.unpaired:,}."] if read.unpaired else []
        return list(zip(read.sentences["a"], read.sentences["b"], strict=True)), notes
    if len(side_a) != len(side_b):
        raise IsoglotError(
            f"{path_a} has {len(side_a):,} lines and {path_b} has {len(side_b):,}; they should have as many, line i of "
            "one being a translation of line i of the other"
        )
    for path, side in ((path_a, side_a), (path_b, side_b)):
        for number, line in enumerate(side, start=1):
            if not line:
                raise IsoglotError(f"{path}:{number}: a blank line; drop it, and the same line of the other file")
    return list(zip(side_a, side_b, strict=True)), []


def _lines(path: Path) -> Sequence[str]:
    """Blank lines at the end are not taken for sentences."""
    with LineFile(path) as file:
        lines = [line.strip() for line in file]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise IsoglotError(f"{path}: all lines are blank; it should hold a sentence a line")
    return lines


@dataclass(frozen=True, kw_only=True)
class HeldOutLines:
    """Rows among parallel lines."""

    tests: list[int]
    fitted: list[int]
    """Rows of which neither side is also a test: the map must not have met the answers."""
    pairs: list[tuple[int, int]]
    """Right answers, counted among the tests; a sentence that stands there twice has two."""

    @classmethod
    def of(cls, lines_a: Sequence[str], lines_b: Sequence[str], *, test_share: float) -> Self:
        """Every fifth line is a test where the share is a fifth."""
        if not 0 < test_share <= 0.5:
            raise IsoglotError(f"test_share is {test_share}; it must be above 0, and a half at most")
        every = round(1 / test_share)
        tests = list(range(every - 1, len(lines_a), every))
        tests_a, tests_b = ([lines[row] for row in tests] for lines in (lines_a, lines_b))
        fitted = rows_apart((lines_a, lines_b), tests=(tests_a, tests_b))
        if len(tests) < 2 or len(fitted) < 2:
            raise IsoglotError(
                f"{len(lines_a)} lines leave {len(tests)} to test and {len(fitted)} others to fit a map on; "
                "give more lines, or fewer that repeat each other"
            )
        return cls(tests=tests, fitted=fitted, pairs=_right_answers(tests_a, tests_b))


def rows_apart(texts: tuple[Sequence[str], Sequence[str]], *, tests: tuple[Sequence[str], Sequence[str]]) -> list[int]:
    """Rows of parallel texts of which neither side is a line of the tests."""
    asked_a, asked_b = map(set, tests)
    return [row for row, (a, b) in enumerate(zip(*texts, strict=True)) if a not in asked_a and b not in asked_b]


def _right_answers(tests_a: Sequence[str], tests_b: Sequence[str]) -> list[tuple[int, int]]:
    alike: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for row, (line_a, line_b) in enumerate(zip(tests_a, tests_b, strict=True)):
        alike["a", line_a].add(row)
        alike["b", line_b].add(row)
    return [
        (row, answer)
        for row, (line_a, line_b) in enumerate(zip(tests_a, tests_b, strict=True))
        for answer in sorted(alike["a", line_a] | alike["b", line_b])
    ]
