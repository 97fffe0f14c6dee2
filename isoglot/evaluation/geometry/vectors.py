"""Matrices with a vector a row, from torch or numpy: checked, normalised and rotated (section 5.1)."""

# N = rows, pairs or vectors, D = width, E = width of the other matrix, R = rounds of normalisation

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isoglot.errors import IsoglotError

TINY_LENGTH = 1e-8
"""Added to every length, as the authors of iterative normalisation do."""
Vectors = Tensor | NDArray[Any]


def matrix_of(vectors: Vectors, *, name: str) -> Tensor:
    """The vectors as a matrix of 32 or 64 bits on their own device, without gradients; NaN and infinity are refused."""
    if isinstance(vectors, Tensor):
        tensor = vectors.detach()
    else:
        # torch warns of arrays that it cannot write to, and refuses those that run backwards.
        tensor = torch.from_numpy(np.require(vectors, requirements=["C", "W"]))
    if tensor.ndim != 2 or tensor.shape[1] == 0:
        raise IsoglotError(f"{name}: has the shape {tuple(tensor.shape)}; give a matrix with a vector in each row")
    matrix_ND = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    bad_N = matrix_ND.isfinite().all(1).logical_not()
    if bad_N.any():
        row = int(bad_N.nonzero()[0])
        what = "NaN" if matrix_ND[row].isnan().any() else "infinity"
        raise IsoglotError(
            f"{name}: row {row} holds {what} ({int(bad_N.sum())} such rows of {len(bad_N)}); "
            "leave these rows out on both sides, or look for what made them"
        )
    return matrix_ND


def parallel_matrices(x: Vectors, y: Vectors, *, names: tuple[str, str] = ("x", "y")) -> tuple[Tensor, Tensor]:
    """Two matrices where row i goes with row i."""
    x_ND, y_NE = matrix_of(x, name=names[0]), matrix_of(y, name=names[1])
    if len(x_ND) != len(y_NE):
        raise IsoglotError(
            f"{names[0]} has {len(x_ND)} rows and {names[1]} has {len(y_NE)}; "
            "row i of one must go with row i of the other, so give as many rows of both"
        )
    if len(x_ND) == 0:
        raise IsoglotError(f"{names[0]} and {names[1]}: have no rows; give at least one vector of each")
    return x_ND, y_NE


def comparable_matrices(x: Vectors, y: Vectors, *, least_rows: int = 2) -> tuple[Tensor, Tensor]:
    """Two parallel matrices in float64 with centred columns, for a measure that ignores centre and scale."""
    x_ND, y_NE = parallel_matrices(x, y)
    if len(x_ND) < least_rows:
        raise IsoglotError(f"x and y: have {len(x_ND)} rows, and at least {least_rows} are needed to compare them")
    return _centred(x_ND, name="x"), _centred(y_NE, name="y")


def _centred(matrix_ND: Tensor, *, name: str) -> Tensor:
    # Less the first row before the mean: a mean is rounded, and would leave dust where a column is constant.
    centred_ND = matrix_ND.to(torch.float64, copy=True).sub_(matrix_ND[0])
    largest: Tensor = torch.linalg.vector_norm(centred_ND, ord=torch.inf)
    if largest == 0:
        raise IsoglotError(
            f"{name}: all its rows are the same, so there is nothing to compare; give vectors that differ"
        )
    # Scaled as well: fourth powers are summed later on, and would overflow or vanish.
    return centred_ND.sub_(centred_ND.mean(0)).div_(largest)


@dataclass(frozen=True, kw_only=True, eq=False)
class Normalization:
    """The means of some vectors, with which others are normalised in the same way."""

    mean_D: Tensor
    """The mean of the vectors as they came."""
    round_mean_RD: Tensor
    """The mean that each round took away."""

    @classmethod
    def of(cls, vectors: Vectors, *, rounds: int) -> Self:
        """The means of these vectors, round after round; vectors of zeros have no direction and are left out."""
        vector_ND = matrix_of(vectors, name="vectors")
        vector_ND = vector_ND[vector_ND.any(1)]
        if rounds < 0:
            raise IsoglotError(f"rounds: is {rounds}, and must be 0 or more")
        if len(vector_ND) == 0 or (rounds and vector_ND.eq(vector_ND[0]).all()):
            raise IsoglotError(
                "vectors: all are the same or zero, so that nothing is left when their mean is taken away; "
                "give at least two that differ"
            )
        mean_D, round_means = vector_ND.mean(0), []
        for _ in range(rounds):
            vector_ND = _unit_length(vector_ND)
            round_means.append(vector_ND.mean(0))
            vector_ND = vector_ND - round_means[-1]
        round_mean_RD = torch.stack(round_means) if rounds else mean_D.new_empty(0, len(mean_D))
        return cls(mean_D=mean_D, round_mean_RD=round_mean_RD)

    def apply(self, vectors: Vectors) -> Tensor:
        """Vectors taken through the same rounds with the means that were kept, then unit length; zeros stay zero."""
        vector_ND = matrix_of(vectors, name="vectors")
        self.check_width(vector_ND, name="vectors")
        has_direction_N1 = vector_ND.any(1, keepdim=True)
        for mean_D in self.round_mean_RD.to(vector_ND):
            vector_ND = _unit_length(vector_ND) - mean_D
        return _unit_length(vector_ND) * has_direction_N1

    def check_width(self, vector_ND: Tensor, *, name: str) -> None:
        """Refuse vectors that are not as wide as those that were normalised."""
        if vector_ND.shape[1] != len(self.mean_D):
            raise IsoglotError(
                f"{name}: have {vector_ND.shape[1]} numbers each, but the means were taken of vectors of "
                f"{len(self.mean_D)}; give vectors of the same layer and model"
            )


def iterative_normalization(x: Vectors, rounds: int = 5) -> Tensor:
    """Unit length and then the mean taken away, so many times, and unit length once more; zeros stay zero."""
    return Normalization.of(x, rounds=rounds).apply(x)


def _unit_length(vector_ND: Tensor) -> Tensor:
    length_N1: Tensor = vector_ND.norm(dim=1, keepdim=True)
    return vector_ND / (length_N1 + TINY_LENGTH)


class FewPairsWarning(UserWarning):
    """There are fewer pairs than dimensions, so that many rotations fit them equally well."""


def orthogonal_map(source: Vectors, target: Vectors) -> Tensor:
    """[D, D]: the orthogonal matrix, reflections included, with which source @ matrix is nearest to target.

    Row i of source goes with row i of target; a pair that is given twice counts twice.
    """
    source_ND, target_ND = parallel_matrices(source, target, names=("source", "target"))
    if source_ND.shape != target_ND.shape:
        raise IsoglotError(
            f"source has vectors of {source_ND.shape[1]} numbers and target of {target_ND.shape[1]}; "
            "a rotation keeps the width, so give vectors of one width"
        )
    num_pairs, width = source_ND.shape
    if num_pairs < width:
        warnings.warn(
            f"{num_pairs} pairs for {width} dimensions: where no pair points, which is at least {width - num_pairs} "
            "dimensions, the map is arbitrary, and so is what it does with new vectors; give more pairs",
            FewPairsWarning,
            stacklevel=2,
        )
    left_DD, _, right_DD = torch.linalg.svd(source_ND.double().T @ target_ND.double())
    rotation_DD: Tensor = left_DD @ right_DD
    return rotation_DD.to(source_ND.dtype)
