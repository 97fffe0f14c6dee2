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
        seeds = _common_seeds([self, other])
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


def _common_seeds(samples: Sequence[Sample]) -> list[int | None]:
    """Those of all that have any."""
    with_seeds = [each for each in samples if each.variance]
    return (
        [seed for seed in with_seeds[0].by_seed if all(seed in each.by_seed for each in with_seeds)]
        if with_seeds
        else []
    )
