"""Which lines a map is fitted on, which it is tested on, and which answers are right."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from isoglot.errors import IsoglotError


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
