"""Maps from the vectors of one model to those of another, with all they need to map new vectors."""

# N = vectors, as many of each side as it has, D = width

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, assert_never

from safetensors import SafetensorError, safe_open
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import Normalization, Vectors, matrix_of, orthogonal_map, parallel_matrices
from isoglot.files import write_tensors
from isoglot.study.searches import NewVectors


@dataclass(frozen=True, kw_only=True, eq=False)
class VectorMap:
    """A rotation between normalised vectors, and how each side was normalised (section 5.1)."""

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
            _check_pairs(pairs, num_origins=len(origin_ND), num_goals=len(goal_ND))
        origin, goal = (Normalization.of(side, rounds=rounds) for side in (origin_ND, goal_ND))
        rows, goal_rows = zip(*pairs, strict=True)
        rotation_DD = orthogonal_map(origin.apply(origin_ND)[list(rows)], goal.apply(goal_ND)[list(goal_rows)])
        return cls(rotation_DD=rotation_DD, origin=origin, goal=goal)

    def mapped(self, vector_ND: Vectors, *, new_vectors: NewVectors) -> Tensor:
        """Origin vectors in the goal's space; those of zeros have no direction and stay zero."""
        vector_ND = matrix_of(vector_ND, name="vectors")
        self.origin.check_width(vector_ND, name="vectors")
        rotation_DD = self.rotation_DD.to(vector_ND)
        match new_vectors:
            case NewVectors.CENTRED:
                shifted_ND = vector_ND - self.origin.mean_D.to(vector_ND)
                mapped_ND: Tensor = shifted_ND @ rotation_DD + self.goal.mean_D.to(vector_ND)
                return mapped_ND * vector_ND.any(1, keepdim=True)
            case NewVectors.ROTATED:
                return vector_ND @ rotation_DD
            case NewVectors.NORMALIZED:
                return self.origin.apply(vector_ND) @ rotation_DD
            case _:
                assert_never(new_vectors)

    def compared(self, vector_ND: Vectors, *, new_vectors: NewVectors) -> Tensor:
        """Goal vectors in the form that mapped vectors are compared with."""
        vector_ND = matrix_of(vector_ND, name="vectors")
        self.goal.check_width(vector_ND, name="vectors")
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
    try:
        with safe_open(path, framework="pt") as tensors:
            maps = []
            for layer in range(int((tensors.metadata() or {})["maps"])):
                origin, goal = (
                    Normalization(
                        mean_D=tensors.get_tensor(f"{layer}/{side}/mean"),
                        round_mean_RD=tensors.get_tensor(f"{layer}/{side}/round_means"),
                    )
                    for side in ("origin", "goal")
                )
                maps.append(VectorMap(rotation_DD=tensors.get_tensor(f"{layer}/rotation"), origin=origin, goal=goal))
            return maps
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise IsoglotError(f"{path}: does not hold readable maps ({error}); delete it, and it is made again") from error


def _check_pairs(pairs: Sequence[tuple[int, int]], *, num_origins: int, num_goals: int) -> None:
    if not pairs:
        raise IsoglotError("pairs: there are none; give at least one, and better more than the vectors have dimensions")
    for origin_row, goal_row in pairs:
        if not (0 <= origin_row < num_origins and 0 <= goal_row < num_goals):
            raise IsoglotError(
                f"pairs: ({origin_row}, {goal_row}) is out of range; there are {num_origins} origin vectors and "
                f"{num_goals} goal vectors, counted from 0"
            )
