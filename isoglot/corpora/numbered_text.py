"""A text as numbers of its word types, so that each is spelled once however often it occurs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.errors import IsoglotError

# R = ranges


def concatenated_ranges(start_R: NDArray[np.int64], length_R: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers, range after range: those that start at 5 and 9 with the lengths 3 and 1 are 5 6 7 9."""
    end_R = np.cumsum(length_R)
    shift_R = start_R - (end_R - length_R)
    numbers: NDArray[np.int64] = np.repeat(shift_R, length_R)
    return numbers + np.arange(len(numbers))


# N = words and line ends of a text, T = types and the line end


Numbers = NDArray[np.unsignedinteger]

LINE_END = 0
"""Stands among the types of a text, and is no word."""
PLACES_AT_ONCE = 1 << 20


class Split(StrEnum):
    """The parts of a text."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


def numbered(lines: Iterable[Iterable[str]]) -> tuple[list[str], NDArray[np.uint32]]:
    """The types of a text, numbered from 1, and the number at every place: "a b a" gives [a, b] and 1 2 1 0."""
    words = list(chain.from_iterable(chain(line, (None,)) for line in lines))
    types = [word for word in dict.fromkeys(words) if word is not None]
    numbers: dict[str | None, int] = {None: LINE_END} | dict(zip(types, count(1)))
    return types, np.fromiter(map(numbers.__getitem__, words), dtype=np.uint32, count=len(words))


@dataclass(frozen=True, kw_only=True)
class NumberedText:
    """Shuffled lines for training, and dev and test lines held out before anything is learned from the text."""

    types: Sequence[str]
    """The type of number 1, of number 2, and so on."""
    number_N: Mapping[Split, Numbers]
    """The type at every place, LINE_END after each line."""

    @classmethod
    def of(cls, splits: Mapping[Split, Iterable[Iterable[str]]]) -> Self:
        """Lines of words that are in memory."""
        lines = {split: [list(line) for line in splits.get(split, ())] for split in Split}
        types, number_N = numbered(chain.from_iterable(lines.values()))
        ends = np.cumsum([sum(len(line) + 1 for line in part) for part in lines.values()])
        return cls(types=types, number_N=dict(zip(lines, np.split(number_N, ends[:-1]), strict=True)))

    def places(self, split: Split) -> Iterator[Numbers]:
        """The numbers of one part, not too many at once."""
        number_N = self.number_N[split]
        for start in range(0, len(number_N), PLACES_AT_ONCE):
            yield number_N[start : start + PLACES_AT_ONCE]

    def num_lines(self, split: Split) -> int:
        return sum(int(np.count_nonzero(part == LINE_END)) for part in self.places(split))

    def num_words(self, split: Split) -> int:
        return len(self.number_N[split]) - self.num_lines(split)

    def word_counts(self, split: Split, *, most_words: int | None = None) -> Counter[str]:
        """How often each word occurs in one part, or in no more than so many words from its beginning."""
        count_T = np.zeros(len(self.types) + 1, dtype=np.int64)
        left = most_words
        for part in self.places(split):
            words = part[part != LINE_END][:left]
            count_T += np.bincount(words, minlength=len(count_T))
            if left is not None:
                left -= len(words)
        return Counter({self.types[number - 1]: int(count_T[number]) for number in np.flatnonzero(count_T).tolist()})

    def lines(self, split: Split) -> Iterator[list[str]]:
        """The words of each line of one part."""
        line: list[str] = []
        for part in self.places(split):
            for number in part.tolist():
                if number == LINE_END:
                    yield line
                    line = []
                else:
                    line.append(self.types[number - 1])

    @classmethod
    def read(cls, folder: Path) -> Self:
        """A text that was written; numbers are mapped into memory, not read."""
        path = folder / "text.json"
        try:
            description = json.loads(path.read_text(encoding="utf-8"))
            dtype, num_places = np.dtype(description["dtype"]), description["places"]
            types = (folder / "types.txt").read_bytes().decode("utf-8").removesuffix("\n").split("\n")
            number_N = {split: _mapped(folder / f"{split}.bin", dtype, int(num_places[split])) for split in Split}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IsoglotError(f"{path}: not a numbered text ({error}); delete {folder} to make it anew") from error
        return cls(types=types, number_N=number_N)


def _mapped(path: Path, dtype: np.dtype[np.unsignedinteger], num_places: int) -> Numbers:
    if path.stat().st_size != num_places * dtype.itemsize:
        raise ValueError(f"{path.name} should have {num_places} numbers")
    # An empty file cannot be mapped.
    return np.memmap(path, dtype=dtype, mode="r") if num_places else np.empty(0, dtype=dtype)
