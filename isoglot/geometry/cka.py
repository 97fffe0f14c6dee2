"""Centred kernel alignment: how alike two matrices are, whichever way each is turned (section 5.2)."""

# N = rows, which are parallel, D = width of x, E = width of y

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.vectors import Vectors, comparable_matrices

LEAST_UNBIASED_ROWS = 4
ROUNDING = 1e-12


def linear_cka(x: Vectors, y: Vectors) -> Tensor:
    """From 0 to 1, as a float64 without dimensions (Kornblith et al., 2019).

    Rotating or scaling x or y does not change it; a general linear map does.
    """
    # Departure: columns are centred, which the formula in the paper leaves out.
    xy, xx, yy = _overlaps(*comparable_matrices(x, y))
    return (xy / (xx * yy).sqrt()).clamp(max=1)


def debiased_cka(x: Vectors, y: Vectors) -> Tensor:
    """CKA of unbiased estimates (Song et al., 2012), from -1 to 1: that of unrelated matrices is 0 on average.

    Plain CKA of unrelated matrices nears 1 as they get wider than they are high.
    """
    x_ND, y_NE = comparable_matrices(x, y, least_rows=LEAST_UNBIASED_ROWS)
    length_x_N, length_y_N = x_ND.square().sum(1), y_NE.square().sum(1)
    xy, xx, yy = _overlaps(x_ND, y_NE)
    unbiased_xy = _unbiased(xy, length_x_N, length_y_N)
    unbiased_xx = _unbiased(xx, length_x_N, length_x_N)
    unbiased_yy = _unbiased(yy, length_y_N, length_y_N)
    for name, unbiased, biased in (("x", unbiased_xx, xx), ("y", unbiased_yy, yy)):
        if unbiased <= ROUNDING * biased:
            raise IsoglotError(
                f"{name}: all its rows are equally far apart, so debiased CKA has nothing to compare; give more rows"
            )
    return (unbiased_xy / (unbiased_xx * unbiased_yy).sqrt()).clamp(-1, 1)


def _overlaps(x_ND: Tensor, y_NE: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of x with y, x with x and y with y: the squared norm of one transposed times the other.

    That is also the sum over products of their Gram matrices, which are smaller where rows are few.
    """
    (rows, width_x), width_y = x_ND.shape, y_NE.shape[1]
    if rows * (width_x + width_y) < width_x * width_y + width_x**2 + width_y**2:
        gram_x_NN, gram_y_NN = x_ND @ x_ND.T, y_NE @ y_NE.T
        return torch.sum(gram_x_NN * gram_y_NN), gram_x_NN.square().sum(), gram_y_NN.square().sum()
    return (x_ND.T @ y_NE).square().sum(), (x_ND.T @ x_ND).square().sum(), (y_NE.T @ y_NE).square().sum()


def _unbiased(overlap: Tensor, length_x_N: Tensor, length_y_N: Tensor) -> Tensor:
    """The overlap less what each row has with itself; a factor that all three overlaps share is left out.

    Rows of the Gram matrices of centred vectors sum to zero, so that without the diagonal they sum to its negative.
    """
    rows = len(length_x_N)
    own = length_x_N @ length_y_N
    return overlap - rows / (rows - 2) * own + length_x_N.sum() * length_y_N.sum() / ((rows - 1) * (rows - 2))
