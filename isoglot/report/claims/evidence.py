"""Scores by layer, as claims compare them: at the bottom, in the middle, at the top, and the best of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.question import Finding, comparison
from isoglot.report.figures.layer_series import by_seed_and_layer, pairs_of
from isoglot.report.published import TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores, transfer_noise, transfer_scores
from isoglot.report.verdicts import Noise, Sample, Verdict, mean_sample, order_verdict
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


FEWEST_STATES = 3
"""That have a bottom, a middle and a top."""


@dataclass(frozen=True, kw_only=True)
class LayerScores:
    """One metric of one kind of model, of the seeds that have every layer."""

    by_seed: Mapping[int, Sequence[float]]
    """From layer 0 up."""

    @property
    def _third(self) -> int:
        num_states = len(next(iter(self.by_seed.values())))
        return max(1, round(num_states / 3))

    # Layers of one model rise and fall together, so that their mean is no surer than one score.
    @property
    def mean(self) -> Sample:
        return Sample.of({seed: fmean(values) for seed, values in self.by_seed.items()})

    @property
    def best(self) -> Sample:
        return Sample.of({seed: max(values) for seed, values in self.by_seed.items()})

    @property
    def bottom(self) -> Sample:
        """The mean of the lowest third: layers 0 to 2 of 8."""
        return Sample.of({seed: fmean(values[: self._third]) for seed, values in self.by_seed.items()})

    @property
    def middle(self) -> Sample:
        return Sample.of({seed: fmean(values[self._third : -self._third]) for seed, values in self.by_seed.items()})

    @property
    def top(self) -> Sample:
        """The mean of the highest third: layers 6 to 8 of 8."""
        return Sample.of({seed: fmean(values[-self._third :]) for seed, values in self.by_seed.items()})


@dataclass(frozen=True, kw_only=True)
class Layers:
    """All that a study measured by layer."""

    of_exhibit: Mapping[str, Sequence[Measurement]]
    num_states: int
    """Of its models: layers and embeddings."""

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> Layers:
        of_exhibit: dict[str, list[Measurement]] = {}
        for each in measurements:
            of_exhibit.setdefault(each.exhibit, []).append(each)
        num_states = 1 + max((each.layer or 0 for each in measurements), default=0)
        return cls(of_exhibit=of_exhibit, num_states=num_states)

    def pairs(self, exhibit: str) -> list[tuple[str, str]]:
        return pairs_of(self.of_exhibit.get(exhibit, ()), exhibit)

    def tasks(self, exhibit: str, languages: tuple[str, str]) -> list[str]:
        found = (each.task for each in self.of_exhibit.get(exhibit, ()) if each.languages == languages)
        return list(dict.fromkeys(task for task in found if task is not None))

    def scores(
        self,
        exhibit: str,
        metric: str,
        *,
        condition: str,
        languages: tuple[str, str],
        task: str | None = None,
        variant: str | None = None,
    ) -> LayerScores | None:
        """Of the target language; None where no seed has all layers, so that none can be called the best."""
        found = by_seed_and_layer(
            self.of_exhibit.get(exhibit, ()),
            exhibit=exhibit,
            metric=metric,
            variant=variant,
            condition=condition,
            languages=languages,
            task=task,
            language=languages[1],
        )
        whole = {
            seed: [values[layer] for layer in sorted(values)]
            for seed, values in found.items()
            if len(values) == self.num_states >= FEWEST_STATES
        }
        return LayerScores(by_seed=whole) if whole else None

    def single(self, exhibit: str, metric: str, *, languages: tuple[str, str]) -> Sample | None:
        """A metric that has no layer; None where it was not measured."""
        found = {
            each.seed: each.value
            for each in self.of_exhibit.get(exhibit, ())
            if (each.metric, each.variant, each.languages) == (metric, None, languages)
        }
        return Sample.of(found) if found else None
