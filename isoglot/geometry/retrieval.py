"""Nearest-neighbour retrieval across languages, with no mapping between them."""

# N = sentences or words of one side, T = of the other, D = width

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor

from isoglot.errors import IsoglotError


def cosine_similarity(source_ND: Tensor, target_TD: Tensor) -> Tensor:
    """[N, T]"""
    return F.normalize(source_ND, dim=1) @ F.normalize(target_TD, dim=1).T


def centred(vector_ND: Tensor) -> Tensor:
    """Vectors less their mean: what remains when all that merely says 'this is French' is taken away."""
    return vector_ND - vector_ND.mean(0)


def precision_at_1(similarity_NT: Tensor, gold: Mapping[int, set[int]]) -> float:
    """Percent of the source rows in `gold` whose most similar column is among their gold ones."""
    if not gold:
        raise IsoglotError("there are no translations to look for; give more test_lines or parallel_sentences")
    best_N = similarity_NT.argmax(1).tolist()
    return 100.0 * sum(best_N[row] in columns for row, columns in gold.items()) / len(gold)


def retrieval_precision(source_ND: Tensor, target_ND: Tensor, pairs: list[tuple[int, int]] | None = None) -> float:
    """Precision at 1 in percent, the mean of both directions; row i translates row i unless pairs say otherwise."""
    if pairs is None:
        pairs = [(row, row) for row in range(len(source_ND))]
    forward: dict[int, set[int]] = {}
    backward: dict[int, set[int]] = {}
    for row, column in pairs:
        forward.setdefault(row, set()).add(column)
        backward.setdefault(column, set()).add(row)
    # Departure: both directions count; the paper does not say which one it takes.
    similarity_NT = cosine_similarity(source_ND, target_ND)
    return (precision_at_1(similarity_NT, forward) + precision_at_1(similarity_NT.T, backward)) / 2
