"""A quantity as it was measured: its mean, its value with each seed, and how little the mean is to be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Samples are added and subtracted seed by seed; what is certain, such as chance, has no seeds and no variance."""

    mean: float
    by_seed: Mapping[int | None, float]
    """Of the seeds that have all that the mean is made of."""
    variance: float
    """Of the mean, in units of that of one score of one model."""

    @classmethod
    def of(cls, by_seed: Mapping[int | None, float]) -> Sample:
        """One score with each seed."""
        return cls(mean=fmean(by_seed.values()), by_seed=by_seed, variance=1 / len(by_seed))

    @classmethod
    def certain(cls, value: float) -> Sample:
        return cls(mean=value, by_seed={}, variance=0.0)

    @property
    def values(self) -> tuple[float, ...]:
        """One for each seed; the mean alone where no seed has all of it."""
        return tuple(self.by_seed.values()) or (self.mean,)

    def __add__(self, other: Sample) -> Sample:
        seeds = common_seeds([each.by_seed for each in (self, other) if each.variance])
        return Sample(
            mean=self.mean + other.mean,
            by_seed={seed: self._with(seed) + other._with(seed) for seed in seeds},
            variance=self.variance + other.variance,
        )

    def __mul__(self, factor: float) -> Sample:
        return Sample(
            mean=factor * self.mean,
            by_seed={seed: factor * value for seed, value in self.by_seed.items()},
            variance=factor**2 * self.variance,
        )

    def __sub__(self, other: Sample) -> Sample:
        return self + other * -1.0

    def _with(self, seed: int | None) -> float:
        return self.by_seed.get(seed, self.mean)


def mean_sample(samples: Sequence[Sample]) -> Sample:
    """Of scores of different models or tasks, each of which counts as much as any other."""
    total = samples[0]
    for each in samples[1:]:
        total = total + each
    return total * (1 / len(samples))


def common_seeds(scores: Sequence[Mapping[int | None, float]]) -> list[int | None]:
    """Those that all of them have."""
    return [seed for seed in scores[0] if all(seed in by_seed for by_seed in scores)] if scores else []
