"""How far two scores differ for no reason, by the seeds of a study, in each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.findings.verdicts import CLOSE_POINTS, Sample
from isoglot.report.quantities import listed

# With fewer scores of further seeds, an estimate of noise is worth too little.
LEAST_REPEATS = 5
# Chance exceeds as many standard deviations in one case of twenty.
DEVIATIONS = 2
BySeed = Mapping[int | None, float]
Task = str | None
"""None for retrieval, which is no task."""


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How far two scores in percent, each of one model, differ for no reason, where seeds are few."""

    of_all: float = CLOSE_POINTS
    """Over the scores of all tasks."""
    by_task: Mapping[Task, float] = field(default_factory=dict)
    """A task with too few scores of several seeds has the noise of all."""
    num_scores: int = 0
    """How many scores of several seeds it rests on; 0 where it is assumed."""

    @classmethod
    def of(cls, scores: Iterable[tuple[Task, BySeed]]) -> Noise:
        """Estimated from the standard deviation over seeds, pooled over the scores of a task; at least CLOSE_POINTS."""
        repeated: dict[Task, list[BySeed]] = {}
        for task, by_seed in scores:
            repeated.setdefault(task, []).extend([by_seed] if len(by_seed) > 1 else [])
        everything = [by_seed for of_task in repeated.values() for by_seed in of_task]
        of_all = noise_of(everything, least=CLOSE_POINTS)
        if of_all is None:
            return cls()
        by_task = {task: noise_of(of_task, least=CLOSE_POINTS) or of_all for task, of_task in repeated.items()}
        return cls(of_all=of_all, by_task=by_task, num_scores=len(everything))

    @classmethod
    def of_leads(cls, leads: Iterable[tuple[Task, Sample]]) -> Noise:
        """Noise of points above the floor."""
        # Scores without transfer can hardly differ: they would make all others look certain.
        return cls.of((task, lead.by_seed) for task, lead in leads if isfinite(lead.mean) and lead.mean > CLOSE_POINTS)

    def points(self, task: Task) -> float:
        return self.by_task.get(task, self.of_all)

    def deviation(self, task: Task) -> float:
        """The standard deviation of one score."""
        return self.points(task) / DEVIATIONS / sqrt(2)

    def sentence(self) -> str:
        """How large it is, and why."""
        if not self.num_scores:
            why = f", as fewer than {LEAST_REPEATS} that show transfer have a second seed. Small models vary more"
        elif max([self.of_all, *self.by_task.values()]) > CLOSE_POINTS:
            why = (
                f", in place of {CLOSE_POINTS:.0f}: twice the standard deviation of the difference between two models "
                f"that differ in their seed alone ({self.num_scores} scores of several seeds that show transfer)"
            )
        else:
            why = f", and seeds say no more ({self.num_scores} scores of several seeds that show transfer)"
        verb = "is" if self.num_scores else "is taken to be"
        return f"Noise {verb} {self._size()} for two single scores{why}. Of means of n it is that over √n."

    def _size(self) -> str:
        """ "5.1 points", or "7.9 points in NLI, 23.1 in NER and 7.4 in Parsing"."""
        sizes = {task: _size(points) for task, points in self.by_task.items() if task is not None}
        if len({*sizes.values()}) < 2:
            return f"{next(iter(sizes.values()), _size(self.of_all))} points"
        texts = [f"{size} in {task_named(task).title}" for task, size in sizes.items()]
        return listed([texts[0].replace(" in ", " points in ", 1), *texts[1:]])


def noise_of(scores: Sequence[BySeed], *, least: float) -> float | None:
    """Twice the standard deviation of the difference between two models of different seeds; None of too few scores."""
    num_repeats = sum(len(by_seed) - 1 for by_seed in scores)
    if num_repeats < LEAST_REPEATS:
        return None
    squares = sum((value - fmean(by_seed.values())) ** 2 for by_seed in scores for value in by_seed.values())
    # The difference of two scores has twice the variance of one.
    return max(DEVIATIONS * sqrt(2 * squares / num_repeats), least)


def _size(points: float) -> str:
    return f"{points:.1f}" if points > CLOSE_POINTS else f"{CLOSE_POINTS:.0f}"
