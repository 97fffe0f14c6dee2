"""Iterative normalization: vectors of length one whose mean is zero, both at once (Zhang et al., 2019)."""

# N = vectors, D = width, R = rounds

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.geometry.vectors import Vectors, matrix_of

TINY_LENGTH = 1e-8
"""Added to every length, as its authors do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Normalization:
    """What must be known of some vectors to normalise others with them."""

    mean_D: Tensor
    """Of the vectors as they came."""
    round_mean_RD: Tensor
    """What each round took away."""

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
        return cls(
            mean_D=mean_D, round_mean_RD=torch.stack(round_means) if rounds else mean_D.new_empty(0, len(mean_D))
        )

    def apply(self, vectors: Vectors) -> Tensor:
        """Vectors taken through the same rounds with the means that were kept, and given unit length at the end.

        Vectors of zeros stay zero; where there were no rounds, this is unit length and no more.
        """
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
    """So many times unit length and then the mean taken away, and unit length once more; vectors of zeros stay zero."""
    return Normalization.of(x, rounds=rounds).apply(x)


def _unit_length(vector_ND: Tensor) -> Tensor:
    length_N1: Tensor = vector_ND.norm(dim=1, keepdim=True)
    return vector_ND / (length_N1 + TINY_LENGTH)
