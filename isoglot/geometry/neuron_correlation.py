"""Average neuron-wise correlation: does each neuron do the same in both matrices? (Del and Fishel, 2022)."""

# N = rows, which are parallel, D = neurons

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.vectors import Vectors, comparable_matrices


def average_neuron_correlation(x: Vectors, y: Vectors) -> Tensor:
    """From -1 to 1: the mean over neurons of the correlation between a column of x and the same column of y.

    It is meant for two languages in one model, or models with a common start: neurons of others match by chance.
    A neuron that is constant on either side counts as 0.
    """
    x_ND, y_ND = comparable_matrices(x, y)
    if x_ND.shape != y_ND.shape:
        raise IsoglotError(
            f"x has {x_ND.shape[1]} neurons and y has {y_ND.shape[1]}; a neuron is compared with the same one of the "
            "other matrix, so give vectors of one width, or use linear_cka"
        )
    # The sign is kept, as in the authors' code: a shared task layer gains nothing from a neuron that is turned round.
    length_D: Tensor = x_ND.norm(dim=0) * y_ND.norm(dim=0)
    correlation_D = (x_ND * y_ND).sum(0) / length_D.clamp(min=torch.finfo(torch.float64).tiny)
    return correlation_D.clamp(-1, 1).mean()
