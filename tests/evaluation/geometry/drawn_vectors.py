"""Vectors and rotations drawn with a seed."""

import torch
from scipy.stats import ortho_group
from torch import Tensor


def drawn_vectors(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def drawn_rotation(width: int, *, seed: int) -> Tensor:
    """A rotation or a reflection."""
    return torch.from_numpy(ortho_group.rvs(width, random_state=seed))
