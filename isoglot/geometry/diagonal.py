"""The diagonal of fast_align's model: partners of a word lie around the place that corresponds to its own."""

# N = target words, M = source words, R = target words of sentence pairs of any size
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def distances(num_targets: int, num_sources: int, *, first_target: int = 1) -> Floats:
    """distance_NM: how far two words are from each other, as shares of their sentences: |j / n - i / m|."""
    place_N, place_M = np.arange(num_targets) + first_target, np.arange(num_sources) + 1
    # Over their common denominator, so that places as far on one side as on the other are no rounding apart.
    distance_NM: Floats = np.abs(place_N[:, None] * num_sources - place_M * num_targets) / (num_targets * num_sources)
    return distance_NM


def diagonal_probabilities(num_targets: int, num_sources: int, *, tension: float) -> Floats:
    """probability_NM of a target word's partner, given that it has one: e to the -tension times their distance."""
    rows = TargetPlaces(
        place_R=np.arange(1, num_targets + 1),
        num_targets_R=np.array(num_targets),
        num_sources_R=np.array(num_sources),
    )
    weight_NM: Floats = np.exp(-tension * distances(num_targets, num_sources))
    return weight_NM / rows.normaliser(tension)[:, None]


@dataclass(frozen=True, kw_only=True)
class TargetPlaces:
    """Places of target words, from 1, in sentence pairs of which the sizes are known."""

    place_R: Ids
    num_targets_R: Ids
    num_sources_R: Ids

    def normaliser(self, tension: float) -> Floats:
        """What the weights of all source words add up to: a geometric series on either side of the diagonal."""
        before_R, beyond_R = (
            np.exp(-tension * nearest_R) * _powers(count_R, tension / self.num_sources_R)
            for nearest_R, count_R in self._sides()
        )
        return before_R + beyond_R

    def expected_distance(self, tension: float) -> Floats:
        """The mean distance of a partner: minus the derivative of log normaliser."""
        total_R = np.zeros(len(self.place_R))
        for nearest_R, count_R in self._sides():
            rate_R = tension / self.num_sources_R
            powers_R, counted_R = _powers(count_R, rate_R), _counted_powers(count_R, rate_R)
            total_R += np.exp(-tension * nearest_R) * (nearest_R * powers_R + counted_R / self.num_sources_R)
        return total_R / self.normaliser(tension)

    def _sides(self) -> tuple[tuple[Floats, Ids], tuple[Floats, Ids]]:
        """Source words up to the diagonal, and beyond it: the distance of the nearest, and how many there are."""
        before_R = self.place_R * self.num_sources_R // self.num_targets_R
        share_R = self.place_R / self.num_targets_R
        return (
            (share_R - before_R / self.num_sources_R, before_R),
            ((before_R + 1) / self.num_sources_R - share_R, self.num_sources_R - before_R),
        )


def _powers(count_R: Ids, rate_R: Floats) -> Floats:
    """The sum of e^(-rate t) over t < count."""
    powers_R: Floats = np.expm1(-rate_R * count_R) / np.expm1(-rate_R)
    return powers_R


def _counted_powers(count_R: Ids, rate_R: Floats) -> Floats:
    """The sum of t e^(-rate t) over t < count."""
    last_R = (count_R - 1) * np.exp(-rate_R * count_R)
    return (_powers(count_R, rate_R) - 1 - last_R) / -np.expm1(-rate_R)
