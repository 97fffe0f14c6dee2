"""Scores of zero-shot transfer for each task, by model, language and seed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import BASELINES, FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.training_log import OVER_UNIGRAM
from isoglot.report.findings.samples import Sample, mean_sample
from isoglot.study.conditions import condition_named

VARIANT_LABELS = {None: "", UNTRAINED: ", untrained", FROZEN: ", untrained and frozen"}
# Kinds of floors, beside the same model untrained.
ZERO, CHANCE, MAJORITY = "0", "chance", "most frequent label"
BySeed = Mapping[int | None, float]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A row of Table 1: the models of a condition, or the same before pretraining."""

    condition: str
    variant: str | None = None

    @property
    def label(self) -> str:
        return condition_named(self.condition).label + VARIANT_LABELS[self.variant]

    @property
    def is_pretrained(self) -> bool:
        return self.variant is None


DEFAULT = Model(condition="default")


@dataclass(frozen=True, kw_only=True)
class Delta:
    """The paper's Δ: the mean over target languages, less Default's."""

    points: float
    is_partial: bool
    """Whether one of the two lacks a language that the other has; the mean is then over those that both have."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The best score that is known to need no pretraining."""

    kind: str
    points: float
    variance: float = 0.0
    """The variance of a measured one, in units of that of one score of one model."""

    @property
    def words(self) -> str:
        """ "floor 41.6 (untrained)"."""
        return f"floor {self.points:.1f} ({self.kind})" if self.points else "floor 0"


@dataclass(frozen=True, kw_only=True)
class TaskScores:
    """All of one task."""

    # A pair of languages is a model of its own, so that the source has a score for each pair.
    task: Task[Any]
    pairs: tuple[tuple[str, str], ...]
    models: tuple[Model, ...]
    """As they came, those that were pretrained first."""
    values: Mapping[tuple[Model, tuple[str, str], str, str], BySeed]
    """Scores by model, pair, language and metric."""

    @property
    def source(self) -> str:
        return self.pairs[0][0]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target for _, target in self.pairs)

    @property
    def title(self) -> str:
        return f"{self.task.title} ({self.task.metric_titles[self.task.metric]})"

    def by_seed(self, model: Model, pair: tuple[str, str], language: str, metric: str | None = None) -> BySeed:
        """Empty if there is no such score; by default the metric of Table 1."""
        return self.values.get((model, pair, language, metric or self.task.metric), {})

    def of_target(self, model: Model, target: str, *, metric: str | None = None) -> tuple[float, ...]:
        return tuple(self.by_seed(model, (self.source, target), target, metric).values())

    def of_source(self, model: Model, *, metric: str | None = None) -> tuple[float, ...]:
        """The mean over the models of all pairs that were measured, for each seed that has all of them."""
        # Where no seed has, it is the mean over pairs of the means over seeds: pairs must not weigh by their seeds.
        found = [by_seed for pair in self.pairs if (by_seed := self.by_seed(model, pair, self.source, metric))]
        return mean_sample([Sample.of(by_seed) for by_seed in found]).values if found else ()

    def of_language(self, model: Model, language: str, *, metric: str | None = None) -> tuple[float, ...]:
        if language == self.source:
            return self.of_source(model, metric=metric)
        return self.of_target(model, language, metric=metric)

    def sample(self, model: Model, target: str) -> Sample | None:
        """The score of Table 1, seed by seed; None if there is none."""
        by_seed = self.by_seed(model, (self.source, target), target)
        return Sample.of(by_seed) if by_seed else None

    @cached_property
    def transfer(self) -> Mapping[str, Mapping[str, Sample]]:
        """Table 1 itself: scores of pretrained models by target and condition."""
        names = [model.condition for model in self.models if model.is_pretrained]
        return {
            target: {name: sample for name in names if (sample := self.sample(Model(condition=name), target))}
            for target in self.targets
        }

    def delta(self, model: Model) -> Delta | None:
        ours, default = (
            {target: sample.mean for target in self.targets if (sample := self.sample(of, target))}
            for of in (model, DEFAULT)
        )
        both = ours.keys() & default.keys()
        if not both:
            return None
        points = fmean(ours[target] for target in both) - fmean(default[target] for target in both)
        return Delta(points=points, is_partial=ours.keys() != default.keys())

    def untrained(self, model: Model, pair: tuple[str, str], language: str) -> Sample | None:
        """The best of the same model without pretraining; None if that was not measured."""
        # With words in common such a model finds names in either language: this is the floor of shared spelling too.
        kinds = [each for each in self.models if each.condition == model.condition and not each.is_pretrained]
        found = [Sample.of(by_seed) for kind in kinds if (by_seed := self.by_seed(kind, pair, language))]
        return max(found, key=lambda sample: sample.mean, default=None)

    def floor(self, model: Model, pair: tuple[str, str], language: str) -> Floor:
        """The highest of chance, the most frequent label and the same model without pretraining; at least 0."""
        known = [Floor(kind=ZERO, points=0.0)]
        if self.task.chance is not None:
            known.append(Floor(kind=CHANCE, points=self.task.chance))
        if self.task.majority and (frequent := self.by_seed(model, pair, language, self.task.majority)):
            known.append(Floor(kind=MAJORITY, points=fmean(frequent.values())))
        if untrained := self.untrained(model, pair, language):
            known.append(Floor(kind=UNTRAINED, points=untrained.mean, variance=untrained.variance))
        # Of equals the first, which is certain.
        return max(known, key=lambda floor: floor.points)

    def floors(self, conditions: Iterable[str], target: str) -> dict[str, float]:
        """The floor of each condition that is compared; chance, or 0, if one was not measured without pretraining."""
        # A floor that only one has would make its transfer the smaller.
        models, pair = [Model(condition=name) for name in conditions], (self.source, target)
        has_all = all(self.untrained(model, pair, target) for model in models)
        return {
            model.condition: self.floor(model, pair, target).points if has_all else self.task.chance or 0.0
            for model in models
        }

    def unlearned(self, model: Model, pair: tuple[str, str]) -> list[str]:
        """The languages of a pair whose words some seed's model gives no better chances than their frequencies."""
        return [language for language in pair if self.values.get((model, pair, language, OVER_UNIGRAM))]

    def highest(self, metric: str, *, language: str | None = None) -> float | None:
        return max(self.all_values(metric, language=language), default=None)

    def all_values(self, metric: str, *, language: str | None = None) -> list[float]:
        """Over all models, pairs and seeds."""
        return [
            value
            for (_, _, of_language, of_metric), by_seed in self.values.items()
            if of_metric == metric and language in (None, of_language)
            for value in by_seed.values()
        ]


def transfer_scores(measurements: Sequence[Measurement]) -> Iterator[TaskScores]:
    """One for each task, in the order they came."""
    by_task: dict[str, list[Measurement]] = {}
    for each in measurements:
        if each.exhibit in (TABLE_1, BASELINES) and each.task is not None:
            by_task.setdefault(each.task, []).append(each)
    for task, found in by_task.items():
        values: dict[tuple[Model, tuple[str, str], str, str], dict[int | None, float]] = {}
        for each in found:
            model = Model(condition=each.condition, variant=each.variant)
            key = (model, each.languages, each.language, each.metric)
            values.setdefault(key, {})[each.seed] = each.value
        pairs = tuple(dict.fromkeys(each.languages for each in found))
        models = _merged([model for model, languages, *_ in values if languages == pair] for pair in pairs)
        pretrained_first = tuple(sorted(models, key=lambda model: not model.is_pretrained))
        yield TaskScores(task=task_named(task), pairs=pairs, models=pretrained_first, values=values)


def _merged(orders: Iterable[Sequence[Model]]) -> list[Model]:
    """All of them once, each after those that come before it in any order."""
    # A pair may lack what another one has, so that no order has them all.
    merged: list[Model] = []
    for order in orders:
        place = 0
        for model in order:
            if model not in merged:
                merged.insert(place, model)
            place = merged.index(model) + 1
    return merged
