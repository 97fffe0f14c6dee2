"""Singular vector canonical correlation: do two matrices span the same directions? (Raghu et al., 2017)."""

# N = rows, which are parallel, D = width of a matrix, K = its directions that are kept, J = those of the other

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.vectors import Vectors, comparable_matrices


def svcca(x: Vectors, y: Vectors, *, variance: float = 0.99) -> Tensor:
    """From 0 to 1: the mean canonical correlation of the directions that hold so much of each matrix's variance.

    The mean is over as many as the matrix with fewer directions has. With fewer rows than both have directions
    together, some correlations are 1 whatever the vectors are.
    """
    if not 0 < variance < 1:
        raise IsoglotError(
            f"variance: is {variance}, and must lie between 0 and 1; all of it would keep rounding errors"
        )
    x_ND, y_NE = comparable_matrices(x, y)
    basis_x_NK, basis_y_NJ = _principal_basis(x_ND, variance=variance), _principal_basis(y_NE, variance=variance)
    correlations: Tensor = torch.linalg.svdvals(basis_x_NK.T @ basis_y_NJ)
    return correlations.clamp(max=1).mean()


def _principal_basis(x_ND: Tensor, *, variance: float) -> Tensor:
    """Orthonormal columns [N, K]: the left singular vectors of the largest singular values.

    From eigenvectors, which is several times as fast as a singular value decomposition. This squares small values,
    but none that is kept holds less of the variance than a D-th of what may be lost.
    """
    is_high = x_ND.shape[0] > x_ND.shape[1]
    value_D, vector_DD = torch.linalg.eigh(x_ND.T @ x_ND if is_high else x_ND @ x_ND.T)
    value_D = value_D.flip(0)
    num_kept = int((value_D.cumsum(0) < variance * value_D.sum()).sum()) + 1
    kept_DK: Tensor = vector_DD.flip(1)[:, :num_kept]
    return x_ND @ kept_DK / value_D[:num_kept].sqrt() if is_high else kept_DK
