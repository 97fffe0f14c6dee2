"""Growth of a score with training: a logistic curve over the logarithm of tokens, with intervals.

The family has a slope and a place: the odds of a score, as a share of the way from its floor to its ceiling, are
multiplied by the same number with every doubling of tokens. It is fitted by quasi-likelihood, as in a logistic
regression with overdispersion (McCullagh and Nelder, 1989, chapter 4), so scores at the floor need no logarithm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isoglot.report.findings.samples import t_quantile

# N = points, P = parameters: the place, the slope, and what the end of a learning rate adds
Array: TypeAlias = NDArray[np.float64]

LEVEL = 0.9  # of all intervals
BEND_LEVEL = 0.99  # above LEVEL: ten rows are tested, and one of them must not bend by chance
FEWEST_MOMENTS = 5
# Half a point of a hundred above the floor: growth from there would be growth of noise.
AT_FLOOR = 0.005
# Wider intervals say nothing of where between floor and ceiling a score will be.
WIDEST = 0.5
# The variance of a share near 0 or 1 is that of counting, a few answers in thousands, and never vanishes.
LEAST_VARIANCE = 1e-3
MOST_STEPS = 200
MOST_LOGIT = 30.0  # a sigmoid of more is 0 or 1 in floating point


class Point(NamedTuple):
    """A score at a moment of training, of one seed."""

    tokens: float
    score: float
    is_annealed: bool = False
    """Whether the learning rate had begun its way to 0 by then: such a model scores higher, whatever it read."""


class Interval(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float

    def text(self, decimals: int) -> str:
        """ "53.5 (34.4 to 71.9)"."""
        return f"{self.value:.{decimals}f} ({self.low:.{decimals}f} to {self.high:.{decimals}f})"


def prediction_text(predicted: Interval | None, remark: str, *, decimals: int) -> str:
    """ "53.5 (34.4 to 71.9) (slows down)", or "- (at its floor)"."""
    shown = "-" if predicted is None else predicted.text(decimals)
    return f"{shown} ({remark})" if remark else shown


@dataclass(frozen=True, kw_only=True)
class GrowthFit:
    """The curve of one row."""

    floor: float
    ceiling: float
    centre: float  # the mean of log2(tokens), around which the slope is measured
    parameters_P: Array
    covariance_PP: Array
    dispersion: float
    num_free: int  # points less parameters
    bend: str
    """How the points leave the curve, if beyond noise: a longer run will then miss its prediction on that side."""

    @property
    def slope(self) -> Interval:
        """The number that the odds are multiplied by with every doubling of tokens."""
        half = t_quantile(LEVEL, self.num_free) * sqrt(self.covariance_PP[1, 1])
        middle = self.parameters_P[1]
        low, value, high = np.exp(np.clip([middle - half, middle, middle + half], -MOST_LOGIT, MOST_LOGIT))
        return Interval(float(value), float(low), float(high))

    def curve(self, tokens: float, *, is_annealed: bool) -> Interval:
        """The mean score after this many tokens, with the interval of the curve itself."""
        value, low, high = (self._score(share) for share in self._shares(tokens, is_annealed=is_annealed))
        return Interval(value, low, high)

    def predicted(self, tokens: float, *, is_annealed: bool) -> Interval:
        """The score of one new model after this many tokens: its interval has the noise of single models too."""
        value, low, high = self._shares(tokens, is_annealed=is_annealed)
        noise = t_quantile(LEVEL, self.num_free) * sqrt(self.dispersion * max(value * (1 - value), LEAST_VARIANCE))
        # Both are independent, so that their squares add up, on either side of a curve that is not symmetric.
        below, above = sqrt((value - low) ** 2 + noise**2), sqrt((high - value) ** 2 + noise**2)
        return Interval(self._score(value), self._score(max(value - below, 0.0)), self._score(min(value + above, 1.0)))

    def is_vague(self, predicted: Interval) -> bool:
        """Whether an interval is too wide to say anything."""
        return predicted.high - predicted.low > WIDEST * (self.ceiling - self.floor)

    def _shares(self, tokens: float, *, is_annealed: bool) -> tuple[float, float, float]:
        row_P = _row(tokens, centre=self.centre, is_annealed=is_annealed)[: len(self.parameters_P)]
        middle = float(row_P @ self.parameters_P)
        half = t_quantile(LEVEL, self.num_free) * sqrt(max(float(row_P @ self.covariance_PP @ row_P), 0.0))
        value, low, high = _sigmoid(np.array([middle, middle - half, middle + half]))
        return float(value), float(low), float(high)

    def _score(self, share: float) -> float:
        return self.floor + share * (self.ceiling - self.floor)


def growth_fit(points: Sequence[Point], *, floor: float, ceiling: float) -> tuple[GrowthFit | None, str]:
    """The curve, or None; and in words why it must not be extrapolated, empty where it may be."""
    num_moments = len({point.tokens for point in points})
    if num_moments < FEWEST_MOMENTS:
        return None, f"{num_moments} moments, and a fit needs {FEWEST_MOMENTS}"
    share_N = (np.array([point.score for point in points]) - floor) / (ceiling - floor)
    if share_N.max() < AT_FLOOR:
        return None, "at its floor"
    centre = float(np.mean(np.log2([point.tokens for point in points])))
    rows_NP = np.stack([_row(point.tokens, centre=centre, is_annealed=point.is_annealed) for point in points])
    # Without annealed models, or with no others, their column would say what that of ones says.
    if len({point.is_annealed for point in points}) == 1:
        rows_NP = rows_NP[:, :2]
    parameters_P = _estimate(rows_NP, share_N)
    covariance_PP, dispersion = _spread(rows_NP, share_N, parameters_P)
    fit = GrowthFit(
        floor=floor,
        ceiling=ceiling,
        centre=centre,
        parameters_P=parameters_P,
        covariance_PP=covariance_PP,
        dispersion=dispersion,
        num_free=len(points) - rows_NP.shape[1],
        bend=_bend(rows_NP, share_N),
    )
    return fit, "" if _grows(rows_NP, share_N, parameters_P, dispersion) else "no growth beyond noise"


def _grows(rows_NP: Array, share_N: Array, parameters_P: Array, dispersion: float) -> bool:
    # By how much worse the points are told without a slope, and not by the slope's own interval: of a sudden leap the
    # slope is hardly known, however plain the leap is (Hauck and Donner, 1977).
    flat_NP = np.delete(rows_NP, 1, axis=1)
    flat_P = _estimate(flat_NP, share_N)
    gain = 2 * (_likelihood(rows_NP, share_N, parameters_P) - _likelihood(flat_NP, share_N, flat_P))
    needed = dispersion * t_quantile(LEVEL, len(share_N) - rows_NP.shape[1]) ** 2
    return bool(parameters_P[1] > 0 and gain > needed)


def _bend(rows_NP: Array, share_N: Array) -> str:
    # With a square of log(tokens) beside it, is a straight line still the better story?
    bent_NP = np.column_stack([rows_NP, rows_NP[:, 1] ** 2])
    num_free = len(share_N) - bent_NP.shape[1]
    if num_free < 1:
        return ""
    estimate_P = _estimate(bent_NP, share_N)
    covariance_PP, _ = _spread(bent_NP, share_N, estimate_P)
    if abs(estimate_P[-1]) <= t_quantile(BEND_LEVEL, num_free) * sqrt(covariance_PP[-1, -1]):
        return ""
    return "slows down" if estimate_P[-1] < 0 else "speeds up"


def _row(tokens: float, *, centre: float, is_annealed: bool) -> Array:
    return np.array([1.0, np.log2(tokens) - centre, float(is_annealed)])


def _estimate(rows_NP: Array, share_N: Array) -> Array:
    """Newton's method on the quasi-likelihood, which has one maximum; a step that would go too far is halved."""
    parameters_P = np.zeros(rows_NP.shape[1])
    # The bit of weight keeps parameters finite where a row leaps from its floor to its ceiling between two moments.
    weak_PP = 1e-6 * np.eye(rows_NP.shape[1])

    def likelihood(candidate_P: Array) -> float:
        return _likelihood(rows_NP, share_N, candidate_P) - float(candidate_P @ weak_PP @ candidate_P) / 2

    for _ in range(MOST_STEPS):
        mean_N = _sigmoid(rows_NP @ parameters_P)
        information_PP = rows_NP.T @ ((mean_N * (1 - mean_N))[:, None] * rows_NP) + weak_PP
        step_P = np.linalg.solve(information_PP, rows_NP.T @ (_inside(share_N) - mean_N) - weak_PP @ parameters_P)
        while likelihood(parameters_P + step_P) < likelihood(parameters_P) and np.abs(step_P).max() > 1e-10:
            step_P = step_P / 2
        parameters_P = parameters_P + step_P
        if np.abs(step_P).max() <= 1e-10:
            break
    return parameters_P


def _likelihood(rows_NP: Array, share_N: Array, parameters_P: Array) -> float:
    logit_N = rows_NP @ parameters_P
    return float(_inside(share_N) @ logit_N - np.logaddexp(0, logit_N).sum())


def _inside(share_N: Array) -> Array:
    # Scores below the floor count as at it: with shares below 0 the maximum may lie at infinity.
    return np.clip(share_N, 0.0, 1.0)


def _spread(rows_NP: Array, share_N: Array, parameters_P: Array) -> tuple[Array, float]:
    """The covariance of parameters, and how many times the variance of shares is m(1 - m), by Pearson's residuals."""
    num_points, num_parameters = rows_NP.shape
    mean_N = _sigmoid(rows_NP @ parameters_P)
    variance_N = np.maximum(mean_N * (1 - mean_N), LEAST_VARIANCE)
    dispersion = float(((share_N - mean_N) ** 2 / variance_N).sum()) / max(num_points - num_parameters, 1)
    slopes_NP = (mean_N * (1 - mean_N))[:, None] * rows_NP
    # Estimates solve rows'(shares - means) = 0: a sandwich of what that sum varies by, between its derivatives.
    bread_PP = np.linalg.pinv(rows_NP.T @ slopes_NP)
    return dispersion * bread_PP @ (rows_NP.T @ (variance_N[:, None] * rows_NP)) @ bread_PP, dispersion


def _sigmoid(logit: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -MOST_LOGIT, MOST_LOGIT))))
