"""The rotation that brings vectors of one space nearest to those of another (section 5.1)."""

# N = pairs, D = width

import warnings

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.vectors import Vectors, parallel_matrices


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
