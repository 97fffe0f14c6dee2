"""How alike two parallel matrices are: centred kernel alignment (section 5.2), SVCCA and neuron-wise correlation."""

# N = rows, which are parallel, D = width of x, E = width of y, K = directions that are kept, J = those of the other

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import Vectors, comparable_matrices

LEAST_UNBIASED_ROWS = 4
ROUNDING = 1e-12


def linear_cka(x: Vectors, y: Vectors) -> Tensor:
    """From 0 to 1 (Kornblith et al., 2019); rotating or scaling x or y changes nothing, a general linear map does."""
    # Departure: columns are centred, which the formula in the paper leaves out.
    xy, xx, yy = _overlaps(*comparable_matrices(x, y))
    return (xy / (xx * yy).sqrt()).clamp(max=1)


def debiased_cka(x: Vectors, y: Vectors) -> Tensor:
    """CKA of unbiased estimates (Song et al., 2012), from -1 to 1; unrelated matrices have 0 on average."""
    # Plain CKA of unrelated matrices nears 1 as they get wider than they are high.
    x_ND, y_NE = comparable_matrices(x, y, least_rows=LEAST_UNBIASED_ROWS)
    length_x_N, length_y_N = x_ND.square().sum(1), y_NE.square().sum(1)
    overlaps = _overlaps(x_ND, y_NE)
    lengths = (length_x_N, length_y_N), (length_x_N, length_x_N), (length_y_N, length_y_N)
    xy, xx, yy = (_unbiased(overlap, *sides) for overlap, sides in zip(overlaps, lengths, strict=True))
    for name, unbiased, biased in (("x", xx, overlaps[1]), ("y", yy, overlaps[2])):
        if unbiased <= ROUNDING * biased:
            problem = f"{name}: all its rows are equally far apart, so debiased CKA has nothing to compare"
            raise IsoglotError(f"{problem}; give more rows")
    return (xy / (xx * yy).sqrt()).clamp(-1, 1)


def _overlaps(x_ND: Tensor, y_NE: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The squared norms of x'y, x'x and y'y."""
    (rows, width_x), width_y = x_ND.shape, y_NE.shape[1]
    # The same norm is the sum over products of two Gram matrices, which are smaller where rows are few.
    if rows * (width_x + width_y) < width_x * width_y + width_x**2 + width_y**2:
        gram_x_NN, gram_y_NN = x_ND @ x_ND.T, y_NE @ y_NE.T
        return torch.sum(gram_x_NN * gram_y_NN), gram_x_NN.square().sum(), gram_y_NN.square().sum()
    return (x_ND.T @ y_NE).square().sum(), (x_ND.T @ x_ND).square().sum(), (y_NE.T @ y_NE).square().sum()


def _unbiased(overlap: Tensor, length_x_N: Tensor, length_y_N: Tensor) -> Tensor:
    """The overlap less what each row has with itself; a factor that all three overlaps share is left out."""
    # Rows of the Gram matrix of centred vectors sum to zero, so without the diagonal they sum to its negative.
    rows = len(length_x_N)
    own = length_x_N @ length_y_N
    return overlap - rows / (rows - 2) * own + length_x_N.sum() * length_y_N.sum() / ((rows - 1) * (rows - 2))


def svcca(x: Vectors, y: Vectors, *, variance: float = 0.99) -> Tensor:
    """From 0 to 1: the mean canonical correlation of the directions that hold so much of each matrix's variance.

    The mean is over as many as the matrix with fewer directions has.
    """
    # With fewer rows than both have directions together, some correlations are 1 whatever the vectors are.
    if not 0 < variance < 1:
        raise IsoglotError(f"variance: is {variance}, and must lie between 0 and 1; all would keep rounding errors")
    basis_x_NK, basis_y_NJ = (_principal_basis(side, variance=variance) for side in comparable_matrices(x, y))
    correlations: Tensor = torch.linalg.svdvals(basis_x_NK.T @ basis_y_NJ)
    return correlations.clamp(max=1).mean()


def _principal_basis(x_ND: Tensor, *, variance: float) -> Tensor:
    """Orthonormal columns [N, K]: the left singular vectors of the largest singular values."""
    # Eigenvectors are several times as fast as a singular value decomposition. They square small values, but none
    # that is kept holds less of the variance than a D-th of what may be lost.
    is_high = x_ND.shape[0] > x_ND.shape[1]
    value_D, vector_DD = torch.linalg.eigh(x_ND.T @ x_ND if is_high else x_ND @ x_ND.T)
    value_D = value_D.flip(0)
    num_kept = int((value_D.cumsum(0) < variance * value_D.sum()).sum()) + 1
    kept_DK: Tensor = vector_DD.flip(1)[:, :num_kept]
    return x_ND @ kept_DK / value_D[:num_kept].sqrt() if is_high else kept_DK


SIMILARITIES = {"cka": linear_cka, "cka_debiased": debiased_cka, "svcca": svcca}
"""By metric: what compares models of any two widths."""


def average_neuron_correlation(x: Vectors, y: Vectors) -> Tensor:
    """From -1 to 1: the mean over neurons of the correlation between a column of x and the same column of y.

    It is meant for two languages in one model, or models with a common start: neurons of others match by chance.
    A neuron that is constant on either side counts as 0.
    """
    x_ND, y_ND = comparable_matrices(x, y)
    if x_ND.shape != y_ND.shape:
        problem = f"x has {x_ND.shape[1]} neurons and y has {y_ND.shape[1]}, and each is compared with its namesake"
        raise IsoglotError(f"{problem}; give vectors of one width, or use linear_cka")
    # The sign is kept, as in the authors' code: a shared task layer gains nothing from a neuron that is turned round.
    length_D: Tensor = x_ND.norm(dim=0) * y_ND.norm(dim=0)
    correlation_D = (x_ND * y_ND).sum(0) / length_D.clamp(min=torch.finfo(torch.float64).tiny)
    return correlation_D.clamp(-1, 1).mean()
