"""Two files of the user's whose lines translate each other, read, and refused where they do not seem to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isoglot.corpora.readers.inference_pairs import is_inference_row
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.readers.parallel_sentences import is_treebank, read_parallel
from isoglot.errors import IsoglotError
from isoglot.geometry.translation_lengths import LEAST_LINES, mismatch


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
