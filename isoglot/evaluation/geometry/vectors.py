"""Matrices with a vector a row, from torch or numpy: checked, normalised, and mapped to another model (section 5.1)."""

# N = rows, pairs or vectors, D = width, E = width of the other matrix, R = rounds of normalisation

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.model.work_files import write_tensors
from isoglot.study.searches import NewVectors

TINY_LENGTH = 1e-8
"""Added to every length, as the authors of iterative normalisation do."""
Vectors = Tensor | NDArray[Any]


def matrix_of(vectors: Vectors, *, name: str) -> Tensor:
    """The vectors as a matrix of 32 or 64 bits on their own device, without gradients; NaN and infinity are refused."""
    if isinstance(vectors, Tensor):
        tensor = vectors.detach()
    else:
        try:
            # torch warns of arrays that it cannot write to, and refuses those that run backwards.
            tensor = torch.from_numpy(np.require(vectors, requirements=["C", "W"]))
        except (TypeError, ValueError) as error:
            raise IsoglotError(f"{name}: no matrix of numbers ({error}); give one with a vector in each row") from None
    if tensor.ndim != 2 or tensor.shape[1] == 0:
        raise IsoglotError(f"{name}: has the shape {tuple(tensor.shape)}; give a matrix with a vector in each row")
    matrix_ND = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    bad_N = matrix_ND.isfinite().all(1).logical_not()
    if bad_N.any():
        row = int(bad_N.nonzero()[0])
        found = f"row {row} holds {'NaN' if matrix_ND[row].isnan().any() else 'infinity'}"
        rows = f"({int(bad_N.sum())} such rows of {len(bad_N)})"
        raise IsoglotError(f"{name}: {found} {rows}; leave these rows out on both sides, or look for what made them")
    return matrix_ND


def parallel_matrices(x: Vectors, y: Vectors, *, names: tuple[str, str] = ("x", "y")) -> tuple[Tensor, Tensor]:
    x_ND, y_NE = matrix_of(x, name=names[0]), matrix_of(y, name=names[1])
    if len(x_ND) != len(y_NE):
        problem = f"{names[0]} has {len(x_ND)} rows and {names[1]} has {len(y_NE)}"
        raise IsoglotError(f"{problem}; row i of one must go with row i of the other, so give as many rows of both")
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
        raise IsoglotError(f"{name}: all its rows are the same; give vectors that differ, so that they can be compared")
    # Scaled as well: fourth powers are summed later on, and would overflow or vanish.
    return centred_ND.sub_(centred_ND.mean(0)).div_(largest)


@dataclass(frozen=True, kw_only=True, eq=False)
class Normalization:
    """The means of some vectors, with which others are normalised in the same way."""

    mean_D: Tensor
    """The mean of the vectors as they came."""
    round_mean_RD: Tensor

    @classmethod
    def of(cls, vectors: Vectors, *, rounds: int) -> Self:
        """The means of these vectors, round after round; vectors of zeros have no direction and are left out."""
        vector_ND = matrix_of(vectors, name="vectors")
        vector_ND = vector_ND[vector_ND.any(1)]
        if rounds < 0:
            raise IsoglotError(f"rounds: is {rounds}, and must be 0 or more")
        if len(vector_ND) == 0 or (rounds and vector_ND.eq(vector_ND[0]).all()):
            problem = "vectors: all are the same or zero, so that nothing is left when their mean is taken away"
            raise IsoglotError(f"{problem}; give at least two that differ")
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
        has_direction_N1 = vector_ND.any(1, keepdim=True)
        for mean_D in self.round_mean_RD.to(vector_ND):
            vector_ND = _unit_length(vector_ND) - mean_D
        return _unit_length(vector_ND) * has_direction_N1


def iterative_normalization(x: Vectors, rounds: int = 5) -> Tensor:
    """Unit length and then the mean taken away, so many times, and unit length once more; zeros stay zero."""
    return Normalization.of(x, rounds=rounds).apply(x)


def _unit_length(vector_ND: Tensor) -> Tensor:
    length_N1: Tensor = vector_ND.norm(dim=1, keepdim=True)
    return vector_ND / (length_N1 + TINY_LENGTH)


class FewPairsWarning(UserWarning):
    """There are fewer pairs than dimensions, so that many rotations fit them equally well."""


def orthogonal_map(source: Vectors, target: Vectors) -> Tensor:
    """[D, D]: the orthogonal matrix, reflections included, that brings source @ matrix nearest to target."""
    source_ND, target_ND = parallel_matrices(source, target, names=("source", "target"))
    if source_ND.shape != target_ND.shape:
        problem = f"source has vectors of {source_ND.shape[1]} numbers and target of {target_ND.shape[1]}"
        raise IsoglotError(f"{problem}; a rotation keeps the width, so give vectors of one width")
    num_pairs, width = source_ND.shape
    if num_pairs < width:
        where = (
            f"{num_pairs} pairs for {width} dimensions: where no pair points, at least {width - num_pairs} dimensions"
        )
        result = "the map is arbitrary, and so is what it does with new vectors; give more pairs"
        warnings.warn(f"{where}, {result}", FewPairsWarning, stacklevel=2)
    # Procrustes: of all rotations, the two sides of the singular value decomposition without its stretching fit best.
    left_DD, _, right_DD = torch.linalg.svd(source_ND.double().T @ target_ND.double())
    rotation_DD: Tensor = left_DD @ right_DD
    return rotation_DD.to(source_ND.dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorMap:
    """A rotation between normalised vectors, and how each side was normalised."""

    rotation_DD: Tensor
    origin: Normalization
    goal: Normalization

    @classmethod
    def fit(
        cls, origin_ND: Vectors, goal_ND: Vectors, *, pairs: Sequence[tuple[int, int]] | None = None, rounds: int
    ) -> Self:
        """The map that brings each origin vector of a pair nearest to its goal vector; row i to row i without pairs.

        All rows are normalised together, those without a pair as well. A pair that is given twice counts twice.
        """
        if pairs is None:
            origin_ND, goal_ND = parallel_matrices(origin_ND, goal_ND, names=("origin", "goal"))
            pairs = [(row, row) for row in range(len(origin_ND))]
        else:
            origin_ND, goal_ND = matrix_of(origin_ND, name="origin"), matrix_of(goal_ND, name="goal")
        origin, goal = (Normalization.of(side, rounds=rounds) for side in (origin_ND, goal_ND))
        rows, goal_rows = zip(*pairs, strict=True)
        rotation_DD = orthogonal_map(origin.apply(origin_ND)[list(rows)], goal.apply(goal_ND)[list(goal_rows)])
        return cls(rotation_DD=rotation_DD, origin=origin, goal=goal)

    def mapped(self, vector_ND: Vectors, *, new_vectors: NewVectors) -> Tensor:
        """Origin vectors in the goal's space; those of zeros have no direction and stay zero."""
        vector_ND = matrix_of(vector_ND, name="vectors")
        rotation_DD = self.rotation_DD.to(vector_ND)
        if new_vectors is NewVectors.ROTATED:
            return vector_ND @ rotation_DD
        if new_vectors is NewVectors.NORMALIZED:
            return self.origin.apply(vector_ND) @ rotation_DD
        # The rotation was fitted between centred vectors: one side's mean goes before it, the other's comes after.
        shifted_ND = vector_ND - self.origin.mean_D.to(vector_ND)
        mapped_ND: Tensor = shifted_ND @ rotation_DD + self.goal.mean_D.to(vector_ND)
        return mapped_ND * vector_ND.any(1, keepdim=True)

    def compared(self, vector_ND: Vectors, *, new_vectors: NewVectors) -> Tensor:
        """Goal vectors in the form that mapped vectors are compared with."""
        vector_ND = matrix_of(vector_ND, name="vectors")
        return self.goal.apply(vector_ND) if new_vectors is NewVectors.NORMALIZED else vector_ND


def write_maps(maps: Sequence[VectorMap], path: Path) -> None:
    """Write maps, one a layer, to a safetensors file, in one step."""
    tensors = {}
    for layer, layer_map in enumerate(maps):
        tensors[f"{layer}/rotation"] = layer_map.rotation_DD.clone()
        for name, side in (("origin", layer_map.origin), ("goal", layer_map.goal)):
            tensors[f"{layer}/{name}/mean"] = side.mean_D.clone()
            tensors[f"{layer}/{name}/round_means"] = side.round_mean_RD.clone()
    write_tensors(tensors, path, metadata={"maps": str(len(maps))})


def read_maps(path: Path) -> list[VectorMap]:
    """The maps that `write_maps` put there, bit for bit, on the CPU."""
    with safe_open(path, framework="pt") as tensors:
        read = tensors.get_tensor
        maps = []
        for layer in range(int(tensors.metadata()["maps"])):
            origin, goal = (
                Normalization(mean_D=read(f"{side}/mean"), round_mean_RD=read(f"{side}/round_means"))
                for side in (f"{layer}/origin", f"{layer}/goal")
            )
            maps.append(VectorMap(rotation_DD=read(f"{layer}/rotation"), origin=origin, goal=goal))
        return maps
