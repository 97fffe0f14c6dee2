"""Word vectors in the text format of fastText and word2vec: a word and its numbers on each line.

The first line may give the number of words and of dimensions; files of GloVe have none such. A word may have spaces in
it, as the numbers are counted from the end of the line.
"""

# W = words, D = width

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.readers.line_files import LineFile
from isoglot.errors import IsoglotError

FORMAT = "a line has a word and its numbers, with one space between them"


class _RowError(Exception):
    """Says what is wrong with a row."""


def read_word_vectors(path: Path | str, *, most_words: int) -> tuple[list[str], NDArray[np.float32]]:
    """The first words of a file in its order, and [W, D]; in lower case, the first of those that are then the same."""
    vectors: dict[str, NDArray[np.float32]] = {}
    promised = width = None
    rows = 0
    with LineFile(path) as file:
        for line in file:
            fields = line.rstrip(" ").split(" ")
            if file.number == 1 and (header := _header(fields)):
                promised, width = header
                continue
            width = len(fields) - 1 if width is None else width
            try:
                word, vector_D = _row(fields, width)
            except _RowError as error:
                raise IsoglotError(f"{path}:{file.number}: {error}") from None
            rows += 1
            vectors.setdefault(word.lower(), vector_D)
            if len(vectors) == most_words:
                break
    if not vectors:
        raise IsoglotError(f"{path}: no word vectors; {FORMAT}")
    if promised is not None and rows < promised and len(vectors) < most_words:
        raise IsoglotError(f"{path}: {rows} words, but its first line says {promised}; fetch the file again")
    return list(vectors), np.stack(list(vectors.values()))


def _header(fields: list[str]) -> tuple[int, int] | None:
    """The number of words and of dimensions, where a first line has them."""
    if len(fields) == 2 and all(field.isascii() and field.isdecimal() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _row(fields: list[str], width: int) -> tuple[str, NDArray[np.float32]]:
    if len(fields) <= width or width < 1:
        raise _RowError(f"{len(fields) - 1} numbers after the word, where {max(width, 1)} are expected; {FORMAT}")
    at = len(fields) - width
    first, *others = fields[:at]
    # A row with too many numbers looks like a word of several parts.
    if others and all(map(_is_number, others)):
        raise _RowError(f"{len(fields) - 1} numbers after the word, where {width} are expected; {FORMAT}")
    word = " ".join((first, *others))
    if not word:
        raise _RowError(f"no word before the numbers; {FORMAT}")
    try:
        with np.errstate(over="ignore"):
            vector_D = np.array(list(map(float, fields[at:])), dtype=np.float32)
    except ValueError as error:
        raise _RowError(f"the vector of {word[:40]!r}: {error}; mend or drop the row") from None
    if not np.isfinite(vector_D).all():
        raise _RowError(f"the vector of {word[:40]!r} is not of finite numbers of 32 bits; mend or drop the row")
    return word, vector_D


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
