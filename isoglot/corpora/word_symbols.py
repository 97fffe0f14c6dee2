"""Words as the symbols that BPE starts from: their letters, the last of each word with a mark."""

# S = symbols of all words, W = words, P = places

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Pair = tuple[str, str]

END_OF_WORD = "</w>"


def word_symbols(word: str) -> list[str]:
    """The symbols of one word: "best" is b e s t</w>."""
    return [*word[:-1], word[-1:] + END_OF_WORD]


def numbered_symbols(words: Sequence[str]) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Symbols, the number of each where it stands in the row of all words, and where each word ends; none is empty.

    "ab" and "b" give [a, b, a</w>, b</w>], 0 3 3 and 2 3.
    """
    code_S = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    end_W = np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
    codes = np.bincount(code_S).nonzero()[0]
    numbers = np.zeros(codes.max(initial=0) + 1, dtype=np.int32)
    numbers[codes] = np.arange(len(codes))
    symbol_S = numbers[code_S]
    symbol_S[end_W - 1] += len(codes)
    letters = [chr(code) for code in codes.tolist()]
    return [*letters, *(letter + END_OF_WORD for letter in letters)], symbol_S, end_W


def without_overlaps(at_P: NDArray[np.integer], *, next_P: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which places of a pair are joined, from left to right, where one's second symbol may be another's first.

    a a a with a+a becomes aa a: of places that overlap every second one is left out.
    """
    opens_P = np.append(True, at_P[1:] != next_P[:-1])
    number_P = np.arange(len(at_P))
    joined_P: NDArray[np.bool_] = (number_P - np.maximum.accumulate(number_P * opens_P)) % 2 == 0
    return joined_P
