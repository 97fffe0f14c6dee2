"""Matrices of vectors as they are handed in, from torch or numpy, a vector a row: checked before they are measured."""

# N = rows, D = width, E = width of the other matrix

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isoglot.errors import IsoglotError

Vectors = Tensor | NDArray[Any]


def matrix_of(vectors: Vectors, *, name: str) -> Tensor:
    """The vectors as a matrix of 32 or 64 bits on their own device, without gradients; NaN and infinity are refused."""
    # torch warns of arrays that it cannot write to, and refuses those that run backwards.
    tensor = (
        vectors.detach()
        if isinstance(vectors, Tensor)
        else torch.from_numpy(np.require(vectors, requirements=["C", "W"]))
    )
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
    """Two matrices of which row i goes with row i."""
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
    """Two parallel matrices for a measure that centring and scaling leave as it is: float64, columns centred."""
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
