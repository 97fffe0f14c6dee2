"""The noise of scores, estimated from a study's seeds: for each task, and in it for each condition."""

# C = conditions, S = variances that are tried

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, lgamma, log, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.findings.samples import CLOSE_POINTS, LEVEL, Sample, t_quantile
from isoglot.report.quantities import listed
from isoglot.study.conditions import label_of

# With fewer scores of further seeds, an estimate of noise is worth too little.
LEAST_REPEATS = 5
# From fewer conditions it cannot be told whether they differ in their noise.
LEAST_CONDITIONS = 3
# Degrees of freedom of a variance that is assumed, and the most that conditions lend each other.
KNOWN, MOST_LENT = 1000, 100
STEPS = 200
BySeed = Mapping[int | None, float]
Task = str | None
"""None for retrieval, which is no task."""


class Spread(NamedTuple):
    """The variance of a score over seeds, and how many degrees of freedom its estimate has."""

    variance: float
    degrees: int

    @classmethod
    def assumed(cls, points: float) -> Spread:
        return cls((points / t_quantile(LEVEL, KNOWN)) ** 2 / 2, KNOWN)

    @property
    def points(self) -> float:
        """Two scores lie further apart in one case of twenty; their difference has twice the variance of one."""
        return t_quantile(LEVEL, self.degrees) * sqrt(2 * self.variance)

    def at_least(self, points: float) -> Spread:
        return max(self, Spread.assumed(points), key=lambda each: each.points)


ASSUMED = Spread.assumed(CLOSE_POINTS)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise between two scores in percent, each of one model, where seeds are few."""

    of_all: Spread = ASSUMED
    """Over the scores of all tasks."""
    by_task: Mapping[Task, Spread] = field(default_factory=dict)
    """A task with too few scores of several seeds has the noise of all."""
    by_condition: Mapping[tuple[Task, str], Spread] = field(default_factory=dict)
    """A condition with one seed has the noise of the task."""
    num_scores: int = 0
    """How many scores of several seeds it rests on; 0 where it is assumed."""

    @classmethod
    def of_leads(cls, leads: Iterable[tuple[Task, str, Sample]]) -> Noise:
        """Estimated from points above the floor by task and condition; at least CLOSE_POINTS."""
        found: dict[Task, dict[str, list[Sample]]] = {}
        for task, condition, lead in leads:
            found.setdefault(task, {}).setdefault(condition, []).append(lead)
        # Scores without transfer can hardly differ: they would make all others look certain.
        live = {
            task: {
                condition: repeated
                for condition, leads in of_task.items()
                if (repeated := _repeated(lead for lead in leads if lead.mean > CLOSE_POINTS))
            }
            for task, of_task in found.items()
        }
        everything = [each for of_task in live.values() for repeated in of_task.values() for each in repeated]
        of_all = spread_of(everything, least=CLOSE_POINTS)
        if of_all is None:
            return cls()
        by_task: dict[Task, Spread] = {}
        by_condition: dict[tuple[Task, str], Spread] = {}
        for task, of_task in live.items():
            own = spread_of([each for repeated in of_task.values() for each in repeated], least=CLOSE_POINTS)
            by_task[task] = own or of_all
            if own and len(of_task) >= LEAST_CONDITIONS:
                # A condition without transfer in any language has its own small spread.
                dead = {
                    condition: repeated
                    for condition, leads in found[task].items()
                    if not any(lead.mean > CLOSE_POINTS for lead in leads) and (repeated := _repeated(leads))
                }
                spreads = {name: _pooled(repeated, least=CLOSE_POINTS) for name, repeated in (of_task | dead).items()}
                by_condition |= {(task, name): each for name, each in moderated(spreads, alike=of_task).items()}
        return cls(of_all=of_all, by_task=by_task, by_condition=by_condition, num_scores=len(everything))

    def spread(self, task: Task, condition: str = "") -> Spread:
        return self.by_condition.get((task, condition)) or self.by_task.get(task, self.of_all)

    def points(self, task: Task, condition: str = "") -> float:
        return self.spread(task, condition).points

    def deviation(self, task: Task, condition: str) -> float:
        """The standard deviation of one score."""
        return sqrt(self.spread(task, condition).variance)

    def sentence(self) -> str:
        """How large it is, and why."""
        rests = f"{self.num_scores} scores of several seeds that show transfer"
        if not self.num_scores:
            why = f", as fewer than {LEAST_REPEATS} that show transfer have a second seed. Small models vary more"
        elif any(_is_measured(each) for each in (self.of_all, *self.by_task.values(), *self.by_condition.values())):
            own = "; each condition has its own, drawn towards that of all" if self.by_condition else ""
            why = (
                f", in place of {CLOSE_POINTS:.0f}: models that differ in their seed alone lie further apart in one of "
                f"twenty cases ({rests}{own})"
            )
        else:
            why = f", and seeds say no more ({rests})"
        verb = "is" if self.num_scores else "is taken to be"
        return f"Noise {verb} {self._size()} for two single scores{why}. Of means of n it is that over √n."

    def _size(self) -> str:
        """ "5.1 points", or "4.3 (Default) to 9.0 (No anchors) points in NLI, 23.1 in NER and 7.4 in Parsing"."""
        sizes = {task: self._size_in(task) for task in self.by_task}
        if len({*sizes.values()}) < 2:
            return f"{next(iter(sizes.values()), _size(self.of_all))} points"
        (size, title), *others = [(size, task_named(str(task)).title) for task, size in sizes.items()]
        return listed([f"{size} points in {title}", *(f"{size} in {title}" for size, title in others)])

    def _size_in(self, task: Task) -> str:
        own = {name: spread for (where, name), spread in self.by_condition.items() if where == task}
        ends = sorted(own, key=lambda name: own[name].points)[:: max(len(own) - 1, 1)]
        if len({_size(own[name]) for name in ends}) < 2:
            return _size(self.spread(task, *ends[:1]))
        return " to ".join(f"{_size(own[name])} ({label_of(name)})" for name in ends)


def spread_of(scores: Sequence[BySeed], *, least: float) -> Spread | None:
    """Pooled over scores that have several seeds each, and at least so many points; None of too few."""
    if sum(len(by_seed) - 1 for by_seed in scores) < LEAST_REPEATS:
        return None
    return _pooled(scores).at_least(least)


def moderated(own: Mapping[str, Spread], *, alike: Collection[str]) -> dict[str, Spread]:
    """Variances of few degrees of freedom, each drawn towards what those `alike` have in common."""
    known = [own[name] for name in alike]
    common, most = in_common(known), sum(each.degrees for each in known)

    def drawn(each: Spread) -> Spread:
        degrees = common.degrees + each.degrees
        variance = (common.degrees * common.variance + each.degrees * each.variance) / degrees
        # No estimate rests on more than all of them together, as in Smyth's own limma.
        return Spread(variance, max(min(degrees, most), each.degrees))

    return {name: drawn(each) for name, each in own.items()}


def in_common(spreads: Sequence[Spread]) -> Spread:
    """The variance that all are drawn towards, and how many degrees of freedom it lends to each.

    An empirical Bayes estimate (Smyth, 2004, Statistical Applications in Genetics and Molecular Biology 3): inverses of
    the true variances are drawn from a scaled chi square, whose two parameters are those that make the variances found
    likeliest. The less these differ beyond chance, the more it lends.
    """
    variance_C, degrees_C = np.array(spreads).T
    common_S = np.geomspace(variance_C.min(), variance_C.max(), STEPS)
    ratio_SC = degrees_C * variance_C / common_S[:, None]

    def log_likelihood(lent: int) -> NDArray[np.float64]:
        """One value for each common variance, less a constant."""
        of_ratios_SC = degrees_C / 2 * np.log(ratio_SC) - (degrees_C + lent) / 2 * np.log(ratio_SC + lent)
        constants = (lgamma((degrees + lent) / 2) - lgamma(lent / 2) + lent / 2 * log(lent) for degrees in degrees_C)
        likelihood_S: NDArray[np.float64] = of_ratios_SC.sum(1) + sum(constants)
        return likelihood_S

    lent = max(range(1, MOST_LENT + 1), key=lambda lent: log_likelihood(lent).max())
    return Spread(float(common_S[log_likelihood(lent).argmax()]), lent)


def _repeated(leads: Iterable[Sample]) -> list[BySeed]:
    return [lead.by_seed for lead in leads if len(lead.by_seed) > 1 and isfinite(lead.mean)]


def _pooled(scores: Sequence[BySeed], *, least: float = 0.0) -> Spread:
    degrees = sum(len(by_seed) - 1 for by_seed in scores)
    squares = sum((value - fmean(by_seed.values())) ** 2 for by_seed in scores for value in by_seed.values())
    return Spread(max(squares / degrees, Spread.assumed(least).variance), degrees)


def _size(spread: Spread) -> str:
    return f"{spread.points:.1f}" if _is_measured(spread) else f"{CLOSE_POINTS:.0f}"


def _is_measured(spread: Spread) -> bool:
    """Whether seeds say more than what is assumed."""
    return spread.points > CLOSE_POINTS
