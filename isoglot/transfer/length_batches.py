"""Which examples make up each batch: those of like length together, so that little of a batch is padding."""

# N = sequences, B = sequences of a batch

from collections.abc import Iterator

import numpy as np

from isoglot.randomness import derived_seed
from isoglot.transfer.task import Ids

# Departure: the paper does not say how it draws batches.
BATCHES_AT_ONCE = 64
"""Sorted by length together: enough for little padding, few enough that no two passes make the same batches."""


def epoch_order(*, epoch: int, examples: int, size: int, seed: int) -> Ids:
    """So many rows for an epoch, counted from 0: a cut of one endless series of shuffled passes over `size` rows."""
    first, stop = epoch * examples, (epoch + 1) * examples
    passes = range(first // size, -(-stop // size))
    rows = np.concatenate([_shuffled(size, seed=seed, part=f"pass {number}") for number in passes])
    return rows[first - passes.start * size :][:examples]


def length_batches(order: Ids, length_N: Ids, *, batch: int, seed: int, epoch: int) -> list[Ids]:
    """The rows in batches, in random order; every row once."""
    batches = [
        rows_B
        for start in range(0, len(order), batch * BATCHES_AT_ONCE)
        for rows_B in _of_pool(order[start : start + batch * BATCHES_AT_ONCE], length_N, batch=batch)
    ]
    return [batches[number] for number in _shuffled(len(batches), seed=seed, part=f"batches of epoch {epoch}")]


def by_length(length_N: Ids, *, most_tokens: int) -> Iterator[Ids]:
    """All rows, the longest first, in batches of at most so many tokens with padding: for prediction."""
    order = np.argsort(-length_N, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, most_tokens // int(length_N[order[start]]))
        yield order[start : start + size]
        start += size


def padding_share(batches: list[Ids], length_N: Ids) -> float:
    """Of all positions of the batches, how many hold no token."""
    positions = sum(len(rows_B) * int(length_N[rows_B].max()) for rows_B in batches)
    return 1 - sum(int(length_N[rows_B].sum()) for rows_B in batches) / positions


def _of_pool(rows: Ids, length_N: Ids, *, batch: int) -> Iterator[Ids]:
    in_order = rows[np.argsort(length_N[rows], kind="stable")]
    for start in range(0, len(in_order), batch):
        yield in_order[start : start + batch]


def _shuffled(size: int, *, seed: int, part: str) -> Ids:
    return np.random.default_rng(derived_seed(seed, part)).permutation(size)
