"""Scores of zero-shot transfer for each task, by model, language and seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Any

from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import BASELINES, FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.verdicts import CLOSE_POINTS, Noise, Sample, common_seeds
from isoglot.study.conditions import condition_named

VARIANT_LABELS = {None: "", UNTRAINED: ", untrained", FROZEN: ", untrained and frozen"}
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
class TaskScores:
    """All of one task. A pair of languages is a model of its own, so that the source has a score for each pair."""

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
        """For people: "NER (F1)"."""
        return f"{self.task.title} ({self.task.metric_titles[self.task.metric]})"

    def of_target(self, model: Model, target: str, *, metric: str | None = None) -> tuple[float, ...]:
        """One value for each seed, none if there is no such score; by default the metric of Table 1."""
        return tuple(self._by_seed(model, (self.source, target), target, metric).values())

    def of_source(self, model: Model, *, metric: str | None = None) -> tuple[float, ...]:
        """The mean over the models of all pairs that were measured, for each seed that has all of them.

        Where no seed has, the mean over pairs of the means over seeds: pairs must not weigh by their seeds.
        """
        found = [by_seed for pair in self.pairs if (by_seed := self._by_seed(model, pair, self.source, metric))]
        if not found:
            return ()
        whole = tuple(fmean(by_seed[seed] for by_seed in found) for seed in common_seeds(found))
        return whole or (fmean(fmean(by_seed.values()) for by_seed in found),)

    def of_language(self, model: Model, language: str, *, metric: str | None = None) -> tuple[float, ...]:
        if language == self.source:
            return self.of_source(model, metric=metric)
        return self.of_target(model, language, metric=metric)

    def delta(self, model: Model) -> Delta | None:
        ours, default = ({each for each in self.targets if self.of_target(of, each)} for of in (model, DEFAULT))
        both = [target for target in self.targets if target in ours & default]
        if not both:
            return None
        mean, default_mean = (fmean(fmean(self.of_target(of, each)) for each in both) for of in (model, DEFAULT))
        return Delta(points=mean - default_mean, is_partial=ours != default)

    def sample(self, model: Model, target: str) -> Sample | None:
        """The score of Table 1, seed by seed; None if there is none."""
        by_seed = self._by_seed(model, (self.source, target), target, None)
        return Sample.of(by_seed) if by_seed else None

    def untrained(self, model: Model, target: str) -> float | None:
        """The best of the same model without pretraining; None if that was not measured."""
        baselines = [each for each in self.models if each.condition == model.condition and not each.is_pretrained]
        return max((fmean(values) for each in baselines if (values := self.of_target(each, target))), default=None)

    def floor(self, model: Model, target: str) -> float | None:
        """The best that can be had without pretraining, as far as it is known."""
        known = (self.untrained(model, target), self.task.chance)
        return max((each for each in known if each is not None), default=None)

    def floors(self, conditions: Iterable[str], target: str) -> dict[str, float]:
        """The score without pretraining of each condition that is compared; chance, or 0, if one lacks that.

        It differs among them: with words in common a model that read no text at all finds names in either language.
        So Default's is no measure of No anchors, and a floor that only one has would make its transfer the smaller.
        """
        models = {name: Model(condition=name) for name in conditions}
        chance = self.task.chance or 0.0
        if any(self.untrained(model, target) is None for model in models.values()):
            return dict.fromkeys(models, chance)
        return {name: self.floor(model, target) or chance for name, model in models.items()}

    def is_lost(self, model: Model, target: str) -> bool:
        """Whether a model's transfer is within CLOSE_POINTS of chance, or of what it reaches without pretraining.

        Near 0 that is plain where neither is known as well, as nothing can be lower.
        """
        reached, floor = self.of_target(model, target), self.floor(model, target)
        return model.is_pretrained and bool(reached) and fmean(reached) - (floor or 0.0) <= CLOSE_POINTS

    def transferred(self) -> Iterator[BySeed]:
        """Every score of Table 1 that shows transfer, and is a number."""
        for model in self.models:
            for pair in self.pairs:
                by_seed = self._by_seed(model, pair, pair[1], None)
                is_whole = bool(by_seed) and all(map(isfinite, by_seed.values()))
                if model.is_pretrained and is_whole and not self.is_lost(model, pair[1]):
                    yield by_seed

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

    def _by_seed(self, model: Model, pair: tuple[str, str], language: str, metric: str | None) -> BySeed:
        return self.values.get((model, pair, language, metric or self.task.metric), {})


def transfer_scores(measurements: Sequence[Measurement]) -> Iterator[TaskScores]:
    """One for each task, in the order they came."""
    found = [each for each in measurements if each.exhibit in (TABLE_1, BASELINES) and each.task is not None]
    for task in dict.fromkeys(each.task for each in found if each.task is not None):
        of_task = [each for each in found if each.task == task]
        values: dict[tuple[Model, tuple[str, str], str, str], dict[int | None, float]] = {}
        for each in of_task:
            model = Model(condition=each.condition, variant=each.variant)
            key = (model, each.languages, each.language, each.metric)
            values.setdefault(key, {})[each.seed] = each.value
        pairs = tuple(dict.fromkeys(each.languages for each in of_task))
        models = _merged([model for model, languages, *_ in values if languages == pair] for pair in pairs)
        yield TaskScores(
            task=task_named(task),
            pairs=pairs,
            models=tuple(sorted(models, key=lambda model: not model.is_pretrained)),
            values=values,
        )


def transfer_noise(tasks: Iterable[TaskScores]) -> Noise:
    """Noise as seeds show it in all these tasks; scores without transfer can hardly differ, and do not count."""
    return Noise.of(by_seed for each in tasks for by_seed in each.transferred())


def _merged(orders: Iterable[Sequence[Model]]) -> list[Model]:
    """All of them once, each after those that come before it in any order: a pair may lack what another one has."""
    merged: list[Model] = []
    for order in orders:
        place = 0
        for model in order:
            if model not in merged:
                merged.insert(place, model)
            place = merged.index(model) + 1
    return merged
