"""Comparisons that decide a claim, and Table 1 as evidence for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from isoglot.report.published import TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores, transfer_noise
from isoglot.report.verdicts import (
    CLOSE_POINTS,
    Noise,
    Sample,
    Verdict,
    in_order,
    joint_verdict,
    mean_sample,
    order_verdict,
)
from isoglot.study.conditions import CONDITIONS

# Sections 4.4 and 5.2. German stands only in Figures 4, 6 and 7, and the paper does not order it and French.
RANKS = {"en": {"fr": 1, "de": 1, "ru": 2, "zh": 3}}
MOST_LISTED = 6
HEADINGS = {Verdict.DISAGREES: "against it", Verdict.AGREES: "for it", Verdict.TOO_CLOSE: "too close"}
Place = tuple[str, str]
"""A task and a target language: a column of Table 1."""


def by_distance(source: str, targets: Iterable[str]) -> list[list[str]]:
    """Groups of equally close targets, the closest first; targets that the paper does not rank are left out."""
    ranks = RANKS.get(source, {})
    known = sorted((target for target in dict.fromkeys(targets) if target in ranks), key=ranks.__getitem__)
    return [list(alike) for _, alike in groupby(known, key=ranks.__getitem__)]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison that a claim rests on."""

    verdict: Verdict
    numbers: str
    num_seeds: int = 0


def untested(reason: str) -> Finding:
    """For numbers that are there, but decide nothing."""
    return Finding(verdict=Verdict.NOT_TESTED, numbers=reason)


def compared(better: Sample, worse: Sample, *, numbers: str, close: float = CLOSE_POINTS) -> Finding:
    """The finding on two samples that the paper puts in this order."""
    # A certain value, such as chance, needs no seeds.
    num_seeds = min(len(each.values) for each in (better, worse) if each.variance)
    return Finding(verdict=order_verdict(better, worse, close=close), numbers=numbers, num_seeds=num_seeds)


def ordered(
    where: str, *labelled: tuple[str, Sample | None], close: float = CLOSE_POINTS, number: str = ".1f"
) -> Iterator[Finding]:
    """Findings on samples that the paper puts in this order, each against the next one that was measured."""
    known = [(label, sample) for label, sample in labelled if sample is not None]
    for better, worse in pairwise(known):
        numbers = f"{where}: {in_order(better, worse, number=number)}"
        yield compared(better[1], worse[1], numbers=numbers, close=close)


def decided(findings: Sequence[Finding], *, needs: str) -> tuple[Verdict, str, int]:
    """The verdict, its numbers in a sentence, and how many seeds it stands on."""
    verdict = joint_verdict([each.verdict for each in findings])
    if verdict is Verdict.NOT_TESTED:
        return verdict, "; ".join(dict.fromkeys(each.numbers for each in findings)) or f"needs {needs}", 0
    tested = [each for each in findings if each.verdict is not Verdict.NOT_TESTED]
    parts = []
    for of_verdict, heading in HEADINGS.items():
        numbers = [each.numbers for each in tested if each.verdict is of_verdict]
        title = f"{heading}: " if len(numbers) < len(tested) else ""
        # Findings against a claim come first, and are never left out.
        if len(numbers) > MOST_LISTED and of_verdict is not Verdict.DISAGREES:
            title += f"{len(numbers)} comparisons, such as "
            numbers = numbers[: MOST_LISTED // 2]
        parts += [title + "; ".join(numbers)] if numbers else []
    unlisted = dict.fromkeys(each.numbers for each in findings if each.verdict is Verdict.NOT_TESTED)
    return verdict, "; ".join([*parts, *unlisted]), min(each.num_seeds for each in tested)


@dataclass(frozen=True, kw_only=True)
class TransferEvidence:
    """Table 1 of a study, with the conditions and tasks that the paper has."""

    of_task: Mapping[str, TaskScores]
    scores: Mapping[str, Mapping[Place, Sample]]
    """By condition, in the order of Table 1; conditions without a score are left out."""
    noise: Noise

    @classmethod
    def of(cls, tasks: Iterable[TaskScores]) -> TransferEvidence:
        of_task = {each.task.name: each for each in tasks if each.task.name in TITLE_OF_TASK}
        scores = {
            name: {
                (task, target): sample
                for task, of in of_task.items()
                for target in of.targets
                if (sample := of.sample(Model(condition=name), target))
            }
            for name in CONDITIONS
        }
        measured = {name: by_place for name, by_place in scores.items() if by_place}
        return cls(of_task=of_task, scores=measured, noise=transfer_noise(of_task.values()))

    @property
    def source(self) -> str:
        return next((each.source for each in self.of_task.values()), "")

    def title(self, task: str) -> str:
        return self.of_task[task].task.title

    def places(self, *conditions: str) -> list[Place]:
        """The places where all these conditions have a score."""
        everywhere = [(task, target) for task, of in self.of_task.items() for target in of.targets]
        rows = [self.scores.get(name, {}) for name in conditions]
        return [place for place in everywhere if all(place in row for row in rows)]

    def places_by_task(self, *conditions: str) -> dict[str, list[Place]]:
        return {task: list(alike) for task, alike in groupby(self.places(*conditions), key=lambda place: place[0])}

    def targets_by_distance(self, *conditions: str) -> list[list[str]]:
        return by_distance(self.source, (target for _, target in self.places(*conditions)))

    def mean(self, places: Iterable[Place], *conditions: str) -> Sample:
        """Over places and conditions, all of which have a score there."""
        return mean_sample([self.scores[name][place] for place in places for name in conditions])

    def order(self, better: Sample, worse: Sample) -> Verdict:
        """The verdict on two scores that the paper puts in this order."""
        return order_verdict(better, worse, close=self.noise.points)

    def floor(self, condition: str, place: Place) -> float | None:
        """The best that it reaches without pretraining, or by chance; None if neither is known."""
        task, target = place
        return self.of_task[task].floor(Model(condition=condition), target)
