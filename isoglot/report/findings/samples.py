"""A score with its seeds, and how far two of them lie apart by noise alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from math import sqrt, tan
from operator import add
from statistics import fmean, variance

import numpy as np

# Two scores in percent, each of one model, differ by as much through seeds alone (docs/claims.md).
CLOSE_POINTS = 3.0
CLOSE_CKA = 0.02


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A score with its seeds. Samples are added seed by seed; a certain value, such as chance, has no variance."""

    mean: float
    by_seed: Mapping[int | None, float]
    """For the seeds that have every part of the mean."""
    variance: float
    """The variance of the mean, in units of that of one score of one model."""
    above_floor_of: Sample | None = None
    """The score itself, of which these are points above a floor; seeds do not show the noise of a measured one."""
    close: float = CLOSE_POINTS
    """The noise between two scores like those it is made of, each of one model."""
    is_of_tests: bool = False
    """Whether it is a mean of several tests, which counts all seeds of each of them."""
    of_language: str = ""
    """Seeds of models of different languages have nothing in common; empty where none is compared with another."""

    @classmethod
    def of(cls, by_seed: Mapping[int | None, float], *, close: float = CLOSE_POINTS) -> Sample:
        return cls(mean=fmean(by_seed.values()), by_seed=by_seed, variance=1 / len(by_seed), close=close)

    @classmethod
    def certain(cls, value: float) -> Sample:
        return cls(mean=value, by_seed={}, variance=0.0)

    @property
    def values(self) -> tuple[float, ...]:
        """One for each seed; the mean alone where no seed has all of it."""
        return tuple(self.by_seed.values()) or (self.mean,)

    def __add__(self, other: Sample) -> Sample:
        # A certain value goes with every seed, and has none of its own.
        seeds = [
            seed
            for seed in {**self.by_seed, **other.by_seed}
            if all(seed in each.by_seed or not each.variance for each in (self, other))
        ]
        variance = self.variance + other.variance
        # Parts of different tasks may be more and less certain.
        squares = sum(each.close**2 * each.variance for each in (self, other))
        return Sample(
            mean=self.mean + other.mean,
            by_seed={seed: self.by_seed.get(seed, self.mean) + other.by_seed.get(seed, other.mean) for seed in seeds},
            variance=variance,
            above_floor_of=self.plain + other.plain if self.above_floor_of or other.above_floor_of else None,
            close=sqrt(squares / variance) if variance else CLOSE_POINTS,
            is_of_tests=self.is_of_tests or other.is_of_tests,
        )

    def __mul__(self, factor: float) -> Sample:
        return Sample(
            mean=factor * self.mean,
            by_seed={seed: factor * value for seed, value in self.by_seed.items()},
            variance=factor**2 * self.variance,
            above_floor_of=self.above_floor_of and self.above_floor_of * factor,
            close=self.close,
            is_of_tests=self.is_of_tests,
        )

    def __sub__(self, other: Sample) -> Sample:
        return self + other * -1.0

    def of_seeds(self, seeds: Collection[int | None]) -> Sample:
        """The same score over some of its seeds; as it is where it has no others."""
        by_seed = {seed: value for seed, value in self.by_seed.items() if seed in seeds}
        score = self.above_floor_of and self.plain.of_seeds(seeds)
        if self.is_of_tests or len(by_seed) == len(self.by_seed):
            return replace(self, by_seed=by_seed, above_floor_of=score)
        variance = self.variance + self.plain.variance * (len(self.by_seed) / len(by_seed) - 1)
        return replace(self, mean=fmean(by_seed.values()), by_seed=by_seed, variance=variance, above_floor_of=score)

    def above(self, floor: float, *, variance: float) -> Sample:
        """Points above a floor, which may be measured itself."""
        return replace(self - Sample.certain(floor), variance=self.variance + variance, above_floor_of=self)

    @property
    def plain(self) -> Sample:
        """The score itself, with its floor and without that one's noise."""
        if self.above_floor_of is None:
            return self
        return replace(self.above_floor_of, is_of_tests=self.is_of_tests, of_language=self.of_language)

    def with_noise(self, close: float) -> Sample:
        """The same with this much noise between two scores like it, the score itself included."""
        return replace(self, close=close, above_floor_of=self.above_floor_of and self.above_floor_of.with_noise(close))

    @property
    def variance_by_seeds(self) -> float:
        """The variance of the mean in points, as its own seeds show it; a floor's scores are taken to vary as much."""
        with_floor = self.variance / self.plain.variance
        return variance(self.by_seed.values()) / len(self.by_seed) * with_floor


def mean_sample(samples: Sequence[Sample]) -> Sample:
    """The mean of scores of different models or tasks, each of which counts as much as any other."""
    return replace(reduce(add, samples) * (1 / len(samples)), is_of_tests=len(samples) > 1)


def paired(a: Sample, b: Sample) -> tuple[Sample, Sample]:
    """Both over the seeds that both have; as they are where one is certain or no seed is in both."""
    seeds = a.by_seed.keys() & b.by_seed.keys() if a.of_language == b.of_language else set()
    return (a.of_seeds(seeds), b.of_seeds(seeds)) if seeds else (a, b)


ENOUGH_SEEDS = 3
# Chance keeps as many differences within noise.
LEVEL = 0.95
# Sums of the same decimals differ in their last bits.
ROUNDING = 1e-9


def noise_between(a: Sample, b: Sample) -> float:
    """The noise between two means: from their own seeds where both have enough, else that of scores like them."""
    # Two single scores differ by `close` through noise alone, means of n by close / sqrt(n).
    close, in_scores = (a - b).close, sqrt((a.variance + b.variance) / 2)
    uncertain = [each for each in (a, b) if each.variance]
    if any(len(each.by_seed) < ENOUGH_SEEDS for each in uncertain):
        return close * in_scores
    own = _own_noise([(each.variance_by_seeds, len(each.by_seed) - 1) for each in uncertain])
    # A few seeds may lie together by chance.
    return max(min(close, CLOSE_POINTS) * in_scores, own)


def _own_noise(variances: Sequence[tuple[float, int]]) -> float:
    """The noise between means of which each has a variance, by so many degrees of freedom."""
    variance = sum(each for each, _ in variances)
    # Welch's: where one side varies far more, the seeds of the other tell nothing of it.
    uncertainty = sum(each**2 / degrees for each, degrees in variances)
    return t_quantile(LEVEL, variance**2 / uncertainty) * sqrt(variance) if uncertainty else 0.0


@cache
def t_quantile(level: float, num_free: float) -> float:
    """The end of the middle `level` of Student's t distribution: 2.13 for 0.9 and 4 degrees of freedom."""
    # With t = sqrt(n) tan(angle) the density becomes a power of a cosine on a finite range, easily summed up.
    angles = np.linspace(0, np.pi / 2, 20_001)
    middles = (angles[1:] + angles[:-1]) / 2
    mass = np.concatenate([[0.0], np.cumsum(np.cos(middles) ** (num_free - 1))])
    return sqrt(num_free) * tan(float(np.interp(level, mass / mass[-1], angles)))
