"""Growth of a score with training: what the last two doublings of tokens added goes on, with intervals.

On real text this rule foretold later moments nearly without bias, where a logistic curve through all moments was far
too high (results/replication/growth.md). It is the drift method of Hyndman and Athanasopoulos (Forecasting: Principles
and Practice, 2021, chapter 5), with the drift of two steps. Its interval is as wide as the errors that it made when
it was asked at earlier moments of the same row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from statistics import fmean
from typing import NamedTuple, TypeAlias

import numpy as np

from isoglot.report.findings.samples import t_quantile

LEVEL = 0.9  # of all intervals
STEPS = 2  # moments that a rate of growth looks back
# A rate needs 3, and of two or more of its errors a spread can be known.
FEWEST_MOMENTS = STEPS + 3
ROUNDING = 1e-9  # the slope of scores that are all the same


class Moment(NamedTuple):
    """The score of one seed at a moment of training."""

    doublings: float
    """log2 of the tokens read."""
    score: float


Path: TypeAlias = Sequence[Moment]
"""One seed's moments, in their order, while the learning rate is what it was."""


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float

    def text(self, decimals: int) -> str:
        """ "53.5 (34.4 to 71.9)"."""
        return f"{self.value:.{decimals}f} ({self.low:.{decimals}f} to {self.high:.{decimals}f})"


def prediction_text(predicted: Interval | None, remark: str, *, decimals: int) -> str:
    """ "53.5 (34.4 to 71.9) (hardly known)", or "- (at its floor)"."""
    shown = "-" if predicted is None else predicted.text(decimals)
    return f"{shown} ({remark})" if remark else shown


@dataclass(frozen=True, kw_only=True)
class Trend:
    """How a row grows at the end of its steady moments."""

    rate: float
    """Points that a doubling of tokens adds."""
    deviation: float
    """The standard deviation of one step: errors grow from it with the doublings ahead."""
    num_free: int
    """Moments at which the rule could be asked: errors of one of them are alike."""

    @property
    def per_doubling(self) -> Interval:
        return self._around(self.rate, steps=1 / STEPS)

    def after(self, doublings: float, *, score: float) -> Interval:
        """The score of a model that has the given one now, so many doublings later."""
        return self._around(score + self.rate * doublings, steps=_growing(doublings))

    def _around(self, value: float, *, steps: float) -> Interval:
        half = t_quantile(LEVEL, self.num_free) * self.deviation * sqrt(steps)
        return Interval(value, value - half, value + half)


def trend(paths: Sequence[Path]) -> tuple[Trend | None, str]:
    """The trend, or None; and in words why it must not be carried on, empty where it may be."""
    num_moments = max((len(path) for path in paths), default=0)
    if num_moments < FEWEST_MOMENTS:
        return None, f"{num_moments} moments before the learning rate falls, and a trend needs {FEWEST_MOMENTS}"
    known = [path for path in paths if len(path) > STEPS]
    # A seed that is behind in its training says nothing yet of the last doublings.
    end = max(path[-1].doublings for path in known)
    found = Trend(
        rate=fmean(_rate(path) for path in known if path[-1].doublings == end),
        deviation=sqrt(fmean(_squares(known))),
        num_free=num_moments - STEPS - 1,
    )
    return found, "" if _grows(paths) else "no growth beyond noise"


def _rate(path: Path) -> float:
    first, last = path[-STEPS - 1], path[-1]
    return (last.score - first.score) / (last.doublings - first.doublings)


def _growing(doublings: float) -> float:
    """How many times the variance of one step an error has: of the steps ahead, and of a rate known from two."""
    return doublings + doublings**2 / STEPS


def _squares(paths: Sequence[Path]) -> list[float]:
    # What each moment of one seed would have said of later moments of the others, so that seeds which lie apart widen
    # the interval. A single seed can only be asked of itself.
    found = []
    for place, path in enumerate(paths):
        others = [*paths[:place], *paths[place + 1 :]] or [path]
        for end in range(STEPS + 1, len(path) + 1):
            now, rate = path[end - 1], _rate(path[:end])
            for later in chain(*others):
                if (ahead := later.doublings - now.doublings) > 0:
                    found.append((later.score - now.score - rate * ahead) ** 2 / _growing(ahead))
    return found


def _grows(paths: Sequence[Path]) -> bool:
    """Whether the slope of parallel lines, one through each seed's points, is above 0 by Student's t."""
    from_means = [np.array(path) - np.mean(path, axis=0) for path in paths if path]
    doublings_N, score_N = np.concatenate(from_means).T
    reach = float(doublings_N @ doublings_N)
    slope = float(doublings_N @ score_N) / reach
    rest_N = score_N - slope * doublings_N
    num_free = len(score_N) - len(from_means) - 1
    error = sqrt(float(rest_N @ rest_N) / num_free / reach)
    return slope > t_quantile(LEVEL, num_free) * error + ROUNDING
