"""How far two models may lie apart that differ in their seed alone: a difference within that says nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from isoglot.report.verdicts import CLOSE_POINTS

LEAST_REPEATS = 5
"""Fewer scores of further seeds say too little of how much scores vary."""
DEVIATIONS = 2
"""Of a difference, that chance exceeds in one case of twenty."""


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What two scores in percent, each of one model, differ by for no reason."""

    points: float = CLOSE_POINTS
    num_scores: int = 0
    """Of several seeds each, that say so; 0 where nothing but the constant does."""

    @classmethod
    def of(cls, scores: Iterable[Mapping[int | None, float]]) -> "Noise":
        """By the standard deviation over seeds, pooled over all scores; never less than CLOSE_POINTS."""
        repeated = [list(by_seed.values()) for by_seed in scores if len(by_seed) > 1]
        num_repeats = sum(len(values) - 1 for values in repeated)
        if num_repeats < LEAST_REPEATS:
            return cls()
        squares = sum((value - fmean(values)) ** 2 for values in repeated for value in values)
        # The difference of two scores has twice the variance of one.
        points = DEVIATIONS * sqrt(2 * squares / num_repeats)
        return cls(points=points, num_scores=len(repeated)) if points > CLOSE_POINTS else cls()

    def sentence(self) -> str:
        """For people; empty where noise is what it always is."""
        if not self.num_scores:
            return ""
        return (
            f"Of single scores in Table 1, {self.points:.1f} points are taken for noise in place of "
            f"{CLOSE_POINTS:.0f}, twice the standard deviation of the difference between two models that differ in "
            f"their seed alone ({self.num_scores} scores of several seeds that show transfer); of means of n "
            "it is that over √n."
        )
