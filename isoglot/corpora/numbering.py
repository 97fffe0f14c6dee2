"""From lines to a numbered text: words found in many processes, lines shuffled and held out, in little memory."""

# N = words and line ends of a text, L = its lines, M = some of them, T = types of a batch and the line end

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.in_parallel import ordered_map
from isoglot.corpora.numbered_text import LINE_END, Split, concatenated_ranges, numbered
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting

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
    """Of the training lines, as many as have no more words than this."""


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
    for split, line_M in parts.items():
        _write_lines(folder / f"{split}.bin", source_N, length_L=length_L, line_M=line_M, dtype=dtype)
    in_order.unlink()
    with (folder / "types.txt").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{word}\n" for word in types)
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
    number_batch = partial(_numbered_batch, splitting=splitting)
    with path.open("wb") as file:
        for types, number_N in ordered_map(number_batch, _batches(lines, size=size), workers=workers):
            numbers.update(zip([word for word in types if word not in numbers], count(len(numbers) + 1)))
            in_text = map(numbers.__getitem__, types)
            number_T = np.fromiter(chain((LINE_END,), in_text), dtype=np.uint32, count=len(types) + 1)
            number_T[number_N].tofile(file)
            lengths.append(np.diff(np.flatnonzero(number_N == LINE_END), prepend=-1).astype(np.int32))
    return list(numbers), np.concatenate(lengths).astype(np.int64)


def _numbered_batch(lines: list[str], *, splitting: WordSplitting) -> tuple[list[str], NDArray[np.uint32]]:
    return numbered(words for words in split_lines(lines, splitting) if words)


def _batches(lines: Iterable[str], *, size: int) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for line in lines:
        if line and not line.isspace():
            batch.append(line)
            characters += len(line)
        if characters >= size:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _cut(length_L: NDArray[np.int64], cut: Cut) -> dict[Split, NDArray[np.int64]]:
    held_out = cut.dev_lines + cut.test_lines
    if len(length_L) <= held_out:
        raise IsoglotError(
            f"{len(length_L)} lines of text that are not blank are too few for {cut.dev_lines} dev lines, "
            f"{cut.test_lines} test lines and some to train on; give more text, or lower dev_lines and "
            "test_lines in the table [change] of the study"
        )
    order_L = np.random.default_rng(cut.seed).permutation(len(length_L))
    dev, test, train = np.split(order_L, [cut.dev_lines, held_out])
    if cut.most_words is not None:
        words_so_far = np.cumsum(length_L[train] - 1)
        train = train[: max(1, int(np.searchsorted(words_so_far, cut.most_words, side="right")))]
    return {Split.TRAIN: train, Split.DEV: dev, Split.TEST: test}


def _write_lines(
    path: Path,
    source_N: NDArray[np.uint32],
    *,
    length_L: NDArray[np.int64],
    line_M: NDArray[np.int64],
    dtype: np.dtype[np.unsignedinteger],
) -> None:
    """Some lines of the text, in the order given."""
    start_L = np.cumsum(length_L) - length_L
    with path.open("wb") as file:
        for first in range(0, len(line_M), LINES_AT_ONCE):
            some = line_M[first : first + LINES_AT_ONCE]
            source_N[concatenated_ranges(start_L[some], length_L[some])].astype(dtype).tofile(file)
