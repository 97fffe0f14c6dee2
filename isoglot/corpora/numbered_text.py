"""A text as numbers of its word types: made from lines in many processes, shuffled, held out, written and read."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.in_parallel import line_batches, ordered_map
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting

# R = ranges, N = words and line ends of a text, T = types and the line end, L = lines, M = some of them


def concatenated_ranges(start_R: NDArray[np.int64], length_R: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers, range after range: those that start at 5 and 9 with the lengths 3 and 1 are 5 6 7 9."""
    # A running number 0 1 2 3 becomes 5 6 7 9 when each range is shifted by its start less the numbers before it.
    end_R = np.cumsum(length_R)
    shift_R = start_R - (end_R - length_R)
    numbers: NDArray[np.int64] = np.repeat(shift_R, length_R)
    return numbers + np.arange(len(numbers))


Numbers = NDArray[np.unsignedinteger]

LINE_END = 0
"""Stands among the types of a text, and is no word."""
PLACES_AT_ONCE = 1 << 20


class Split(StrEnum):
    """The parts of a text."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


def numbered(lines: Sequence[str], *, splitting: WordSplitting) -> tuple[list[str], NDArray[np.uint32]]:
    """The types of lines, numbered from 1, and the number at every place: "a b a" gives [a, b] and 1 2 1 0."""
    words = list(chain.from_iterable(chain(line, (None,)) for line in split_lines(lines, splitting) if line))
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
        description = json.loads((folder / "text.json").read_text(encoding="utf-8"))
        dtype, num_places = np.dtype(description["dtype"]), description["places"]
        types = (folder / "types.txt").read_bytes().decode("utf-8").removesuffix("\n").split("\n")
        number_N = {split: mapped(folder / f"{split}.bin", dtype, num_places[split]) for split in Split}
        return cls(types=types, number_N=number_N)


def mapped(path: Path, dtype: np.dtype[np.unsignedinteger], num_places: int) -> Numbers:
    """The numbers in a file as a read-only memory map."""
    # An empty file cannot be mapped.
    return np.memmap(path, dtype=dtype, mode="r") if num_places else np.empty(0, dtype=dtype)


IN_ORDER = "in-order.bin"
BATCH_CHARACTERS = 1 << 21
# A command is started for each batch, and some take long to start.
COMMAND_BATCH_CHARACTERS = 1 << 24
LINES_AT_ONCE = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Which lines of a shuffled text go where."""

    dev_lines: int
    test_lines: int
    seed: int
    most_words: int | None = None
    """The training lines end where more words than this would be read."""


def write_numbered_text(
    folder: Path, lines: Iterable[str], *, splitting: WordSplitting, cut: Cut, workers: int = 1
) -> None:
    """Write types.txt, train.bin, dev.bin, test.bin and text.json; the same bytes for any number of workers.

    Lines without words are dropped, the others shuffled; dev and test are cut off first, so that nothing is ever
    learned from them.
    """
    in_order = folder / IN_ORDER
    types, length_L = _write_in_order(in_order, lines, splitting=splitting, workers=workers)
    parts = _cut(length_L, cut)
    dtype = np.min_scalar_type(len(types))
    source_N = np.memmap(in_order, dtype=np.uint32, mode="r")
    start_L = np.cumsum(length_L) - length_L
    for split, line_M in parts.items():
        with (folder / f"{split}.bin").open("wb") as file:
            for first in range(0, len(line_M), LINES_AT_ONCE):
                some = line_M[first : first + LINES_AT_ONCE]
                source_N[concatenated_ranges(start_L[some], length_L[some])].astype(dtype).tofile(file)
    in_order.unlink()
    with (folder / "types.txt").open("w", encoding="utf-8", newline="\n") as types_file:
        types_file.writelines(f"{word}\n" for word in types)
    places = {split: int(length_L[line_M].sum()) for split, line_M in parts.items()}
    description = {"dtype": dtype.name, "types": len(types), "places": places}
    (folder / "text.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")


def _write_in_order(
    path: Path, lines: Iterable[str], *, splitting: WordSplitting, workers: int
) -> tuple[list[str], NDArray[np.int64]]:
    """Every line as it comes; returns the types of the text, and the places each line takes with its end."""
    numbers: dict[str, int] = {}
    lengths: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
    size = COMMAND_BATCH_CHARACTERS if splitting.splitter is Splitter.COMMAND else BATCH_CHARACTERS
    batches = line_batches((line for line in lines if line and not line.isspace()), characters=size)
    with path.open("wb") as file:
        for types, number_N in ordered_map(partial(numbered, splitting=splitting), batches, workers=workers):
            numbers.update(zip([word for word in types if word not in numbers], count(len(numbers) + 1)))
            in_text = map(numbers.__getitem__, types)
            number_T = np.fromiter(chain((LINE_END,), in_text), dtype=np.uint32, count=len(types) + 1)
            number_T[number_N].tofile(file)
            lengths.append(np.diff(np.flatnonzero(number_N == LINE_END), prepend=-1).astype(np.int32))
    return list(numbers), np.concatenate(lengths).astype(np.int64)


def _cut(length_L: NDArray[np.int64], cut: Cut) -> dict[Split, NDArray[np.int64]]:
    held_out = cut.dev_lines + cut.test_lines
    if len(length_L) <= held_out:
        raise IsoglotError(
            f"{len(length_L)} lines of text that are not blank are too few for {cut.dev_lines} dev lines, "
            f"{cut.test_lines} test lines and some to train on; give more text, or lower these in the study's [change]"
        )
    order_L = np.random.default_rng(cut.seed).permutation(len(length_L))
    dev, test, train = np.split(order_L, [cut.dev_lines, held_out])
    if cut.most_words is not None:
        words_so_far = np.cumsum(length_L[train] - 1)
        train = train[: max(1, int(np.searchsorted(words_so_far, cut.most_words, side="right")))]
    return {Split.TRAIN: train, Split.DEV: dev, Split.TEST: test}
