"""A text as numbers of its word types, so that each is spelled once however often it occurs."""

# N = words and line ends of a text, R = ranges

from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.words import split_words

LINE_END = 0
"""Stands among the types of a text, and is no word."""


def numbered_words(lines: Iterable[str], *, language: str) -> tuple[list[str], NDArray[np.int64]]:
    """The types of a text, numbered from 1, and the number at every place: "a b a" gives [a, b] and 1 2 1 0."""
    numbers: dict[str | None, int] = {None: LINE_END}
    words = chain.from_iterable(chain(split_words(line, language), (None,)) for line in lines)
    type_N = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), dtype=np.int64)
    return [word for word in numbers if word is not None], type_N


def concatenated_ranges(start_R: NDArray[np.int64], length_R: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers, range after range: those that start at 5 and 9 with the lengths 3 and 1 are 5 6 7 9."""
    end_R = np.cumsum(length_R)
    shift_R = start_R - (end_R - length_R)
    numbers: NDArray[np.int64] = np.repeat(shift_R, length_R)
    return numbers + np.arange(len(numbers))
