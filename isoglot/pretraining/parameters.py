"""How many numbers a model learns, and in how many tensors, told without building it."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from isoglot.pretraining.run import PretrainingRun
from isoglot.study.scales import EncoderShape, NormPlacement

TENSORS_OF_A_BLOCK = 12
TENSORS_OF_A_TABLE = 5
TENSORS_OF_A_NORM = 2
ALIGNMENT = 64
"""Numbers; in training every tensor begins at a multiple of it, as matrix products want round addresses."""


def aligned(numbers: int) -> int:
    """How many a tensor of so many takes in training."""
    return ceil(numbers / ALIGNMENT) * ALIGNMENT


def num_parameters(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """Of the whole model: what the languages share once, and what each owns."""
    return _shared(run, table_sizes) + sum(_owned(run, table_size=size) for size in table_sizes.values())


def num_read(run: PretrainingRun, *, table_sizes: Mapping[str, int], languages: int) -> int:
    """Of those that take part when so many languages are read, the ones that own most."""
    owned = sorted(_owned(run, table_size=size) for size in table_sizes.values())
    return _shared(run, table_sizes) + sum(owned[-languages:])


def num_tensors(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """Of the whole model."""
    owners = len(table_sizes)
    blocks = run.shape.layers + len(run.separate.layers) * (owners - 1)
    tables = owners if run.separate.embeddings else 1
    top = TENSORS_OF_A_NORM if run.shape.norm is NormPlacement.PRE else 0
    return blocks * TENSORS_OF_A_BLOCK + tables * TENSORS_OF_A_TABLE + top


def num_in_training(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """With the gaps between tensors that lie side by side."""
    shape, owners = run.shape, len(table_sizes)
    width, wide = shape.width, shape.feed_forward
    norm = [width, width]
    block = [3 * width**2, 3 * width, width**2, width, *norm, width * wide, wide, wide * width, width, *norm]
    tensors = (shape.layers + len(run.separate.layers) * (owners - 1)) * block
    for size in table_sizes.values() if run.separate.embeddings else [max(table_sizes.values())]:
        tensors += [size * width, shape.positions * width, *norm, size]
    if shape.norm is NormPlacement.PRE:
        tensors += norm
    return sum(map(aligned, tensors))


def num_flat_tensors(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> int:
    """In which all others lie side by side: matrices and vectors of each owner that has any."""
    separate = run.separate
    shares_matrices = not separate.embeddings or len(separate.layers) < run.shape.layers
    shares_vectors = bool(_shared(run, table_sizes))
    owns_some = separate.embeddings or bool(separate.layers)
    return shares_matrices + shares_vectors + 2 * owns_some * len(table_sizes)


def _shared(run: PretrainingRun, table_sizes: Mapping[str, int]) -> int:
    shared_table = 0 if run.separate.embeddings else _table(run.shape, size=max(table_sizes.values()))
    top = 2 * run.shape.width if run.shape.norm is NormPlacement.PRE else 0
    return shared_table + (run.shape.layers - len(run.separate.layers)) * _block(run.shape) + top


def _owned(run: PretrainingRun, *, table_size: int) -> int:
    """By one language."""
    table = _table(run.shape, size=table_size) if run.separate.embeddings else 0
    return table + len(run.separate.layers) * _block(run.shape)


def _table(shape: EncoderShape, *, size: int) -> int:
    """Embeddings with their norm, and the bias of the softmax."""
    return replace(shape, layers=0, norm=NormPlacement.POST).num_parameters(table_size=size)


def _block(shape: EncoderShape) -> int:
    with_one, without = (replace(shape, layers=layers).num_parameters(table_size=0) for layers in (1, 0))
    return with_one - without
