"""Evidence for claims: columns of Table 1 and scores by layer, and the comparisons that decide a claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import by_seed_and_layer, pairs_of
from isoglot.report.published import TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores, transfer_noise
from isoglot.report.verdicts import CLOSE_POINTS, Noise, Sample, Verdict, joint_verdict, mean_sample, order_verdict
from isoglot.study.conditions import CONDITIONS

# Sections 4.4 and 5.2. German stands only in Figures 4, 6 and 7, and the paper does not order it and French.
RANKS = {"en": {"fr": 1, "de": 1, "ru": 2, "zh": 3}}
LACKING = "two target languages that the paper has at different distances from the source (en: fr and de, ru, zh)"


def by_distance(source: str, targets: Sequence[str]) -> list[list[str]]:
    """Groups of equally close targets, the closest first; targets that the paper does not rank are left out."""
    ranks = RANKS.get(source, {})
    known = [target for target in dict.fromkeys(targets) if target in ranks]
    return [
        [target for target in known if ranks[target] == rank] for rank in sorted({ranks[target] for target in known})
    ]


MOST_LISTED = 6
HEADINGS = {Verdict.DISAGREES: "against it", Verdict.AGREES: "for it", Verdict.TOO_CLOSE: "too close"}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison that a claim rests on."""

    verdict: Verdict
    numbers: str
    num_seeds: int = 0


def comparison(better: Sample, worse: Sample, *, numbers: str, close: float = CLOSE_POINTS) -> Finding:
    """The finding on two samples that the paper puts in this order."""
    return Finding(
        verdict=order_verdict(better, worse, close=close),
        numbers=numbers,
        # A certain value, such as chance, needs no seeds.
        num_seeds=min(len(each.values) for each in (better, worse) if each.variance),
    )


def untested(reason: str) -> Finding:
    """For numbers that are there, but decide nothing."""
    return Finding(verdict=Verdict.NOT_TESTED, numbers=reason)


def in_order(first: tuple[str, Sample], second: tuple[str, Sample], *, number: str = ".1f") -> str:
    """ "Default 70.2 > Sep Emb 65.7"."""
    (a_label, a), (b_label, b) = first, second
    sign = ">" if a.mean > b.mean else "<" if a.mean < b.mean else "="
    return f"{a_label} {a.mean:{number}} {sign} {b_label} {b.mean:{number}}"


def ordered(
    where: str,
    better: tuple[str, Sample],
    worse: tuple[str, Sample],
    *,
    close: float = CLOSE_POINTS,
    number: str = ".1f",
) -> Finding:
    """The finding on two labelled samples that the paper puts in this order."""
    numbers = f"{where}: {in_order(better, worse, number=number)}"
    return comparison(better[1], worse[1], numbers=numbers, close=close)


def decided(findings: Sequence[Finding], *, needs: str) -> tuple[Verdict, str, int]:
    """The verdict, its numbers in a sentence, and how many seeds it stands on."""
    verdict = joint_verdict([each.verdict for each in findings])
    if verdict is Verdict.NOT_TESTED:
        return verdict, "; ".join(dict.fromkeys(each.numbers for each in findings)) or f"needs {needs}", 0
    tested = [each for each in findings if each.verdict is not Verdict.NOT_TESTED]
    unlisted = dict.fromkeys(each.numbers for each in findings if each.verdict is Verdict.NOT_TESTED)
    return verdict, "; ".join([_summary(tested), *unlisted]), min(each.num_seeds for each in tested)


def _summary(findings: Sequence[Finding]) -> str:
    """Findings against a claim come first, and are never left out."""
    groups = {verdict: [each.numbers for each in findings if each.verdict is verdict] for verdict in HEADINGS}
    return "; ".join(
        (f"{HEADINGS[verdict]}: " if len(groups[verdict]) < len(findings) else "")
        + _listed(groups[verdict], whole=verdict is Verdict.DISAGREES)
        for verdict in HEADINGS
        if groups[verdict]
    )


def _listed(numbers: Sequence[str], *, whole: bool) -> str:
    if whole or len(numbers) <= MOST_LISTED:
        return "; ".join(numbers)
    return f"{len(numbers)} comparisons, such as {'; '.join(numbers[: MOST_LISTED // 2])}"


Place = tuple[str, str]
"""A task and a target language: a column of Table 1."""


@dataclass(frozen=True, kw_only=True)
class TransferEvidence:
    """Table 1 of a study, with the conditions and tasks that the paper has."""

    of_task: Mapping[str, TaskScores]
    noise: Noise

    @classmethod
    def of(cls, tasks: Iterable[TaskScores]) -> TransferEvidence:
        of_task = {each.task.name: each for each in tasks if each.task.name in TITLE_OF_TASK}
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
        """The places where all these conditions have a score."""
        return [
            (task, target)
            for task, scores in self.of_task.items()
            for target in scores.targets
            if all(scores.sample(Model(condition=name), target) for name in conditions)
        ]

    def score(self, condition: str, place: Place) -> Sample:
        """The score in a place that the condition has."""
        task, target = place
        found = self.of_task[task].sample(Model(condition=condition), target)
        assert found is not None
        return found

    def mean(self, condition: str, places: Sequence[Place]) -> Sample:
        return mean_sample([self.score(condition, place) for place in places])

    def order(self, better: Sample, worse: Sample) -> Verdict:
        """The verdict on two scores that the paper puts in this order."""
        return order_verdict(better, worse, close=self.noise.points)

    def compared(self, better: Sample, worse: Sample, *, numbers: str) -> Finding:
        return comparison(better, worse, numbers=numbers, close=self.noise.points)

    def ordered(
        self, where: str, better: tuple[str, Sample], worse: tuple[str, Sample], *, number: str = ".1f"
    ) -> Finding:
        return ordered(where, better, worse, close=self.noise.points, number=number)

    def floor(self, condition: str, place: Place) -> float | None:
        """The best that it reaches without pretraining, or by chance; None if neither is known."""
        task, target = place
        return self.of_task[task].floor(Model(condition=condition), target)

    def floors(self, conditions: Sequence[str], places: Sequence[Place]) -> list[float]:
        """For each condition that is compared, the mean of what it reaches without pretraining."""
        found = [self.of_task[task].floors(conditions, target) for task, target in places]
        return [fmean(floors[name] for floors in found) for name in conditions]


def tasks_of(places: Sequence[Place]) -> dict[str, list[Place]]:
    """Places by task."""
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return found


FEWEST_STATES = 3
"""Fewer have no bottom, middle and top."""


@dataclass(frozen=True, kw_only=True)
class LayerScores:
    """One metric of one kind of model, with the seeds that have every layer."""

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
class LayerEvidence:
    """Everything that a study measured by layer."""

    of_exhibit: Mapping[str, Sequence[Measurement]]
    num_states: int
    """The layers of its models, and the embeddings."""

    @classmethod
    def of(cls, measurements: Sequence[Measurement]) -> LayerEvidence:
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
        """Scores of the target language; None where no seed has all layers, so that none can be called the best."""
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
