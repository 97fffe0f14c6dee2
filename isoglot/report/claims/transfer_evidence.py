"""Zero-shot scores of the paper's tasks, as claims compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.question import Finding, comparison
from isoglot.report.noise import Noise
from isoglot.report.published import TITLE_OF_TASK
from isoglot.report.samples import Sample, mean_sample
from isoglot.report.transfer_scores import Model, TaskScores, transfer_noise, transfer_scores
from isoglot.report.verdicts import Verdict, order_verdict
from isoglot.study.conditions import CONDITIONS

Place = tuple[str, str]
"""A task and a target language: a column of Table 1."""


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Table 1 of a study, of the conditions and tasks that the paper has."""

    of_task: Mapping[str, TaskScores]
    noise: Noise
    """Of its scores."""

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> Transfer:
        of_task = {each.task.name: each for each in transfer_scores(measurements) if each.task.name in TITLE_OF_TASK}
        return cls(of_task=of_task, noise=transfer_noise(of_task.values()))

    @property
    def source(self) -> str:
        return next((each.source for each in self.of_task.values()), "")

    @property
    def conditions(self) -> list[str]:
        """In the order of Table 1."""
        found = {model.condition for scores in self.of_task.values() for model in scores.models if model.is_pretrained}
        return [name for name in CONDITIONS if name in found]

    def title(self, task: str) -> str:
        return self.of_task[task].task.title

    def places(self, *conditions: str) -> list[Place]:
        """Those where all these conditions have a score."""
        return [
            (task, target)
            for task, scores in self.of_task.items()
            for target in scores.targets
            if all(scores.sample(Model(condition=name), target) for name in conditions)
        ]

    def score(self, condition: str, place: Place) -> Sample:
        """Of a place that the condition has."""
        task, target = place
        found = self.of_task[task].sample(Model(condition=condition), target)
        assert found is not None
        return found

    def mean(self, condition: str, places: Sequence[Place]) -> Sample:
        return mean_sample([self.score(condition, place) for place in places])

    def order(self, better: Sample, worse: Sample) -> Verdict:
        """Of two that the paper puts in this order."""
        return order_verdict(better, worse, close=self.noise.points)

    def compared(self, better: Sample, worse: Sample, *, numbers: str) -> Finding:
        return comparison(better, worse, numbers=numbers, close=self.noise.points)

    def floor(self, condition: str, place: Place) -> float | None:
        """The best that it reaches without pretraining, or by chance; None if neither is known."""
        task, target = place
        return self.of_task[task].floor(Model(condition=condition), target)

    def floors(self, conditions: Sequence[str], places: Sequence[Place]) -> list[float]:
        """Of each condition that is compared, the mean of what it reaches without pretraining."""
        found = [self.of_task[task].floors(conditions, target) for task, target in places]
        return [fmean(floors[name] for floors in found) for name in conditions]


def tasks_of(places: Sequence[Place]) -> dict[str, list[Place]]:
    """Places by task."""
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return found
