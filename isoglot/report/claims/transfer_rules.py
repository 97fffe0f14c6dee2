"""Ways to compare rows and columns of Table 1, from which the claims of section 4 are decided."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from math import isclose
from statistics import fmean
from typing import Self

from isoglot.report.published import TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores, transfer_noise
from isoglot.report.verdicts import (
    CLOSE_POINTS,
    Finding,
    Noise,
    Sample,
    Verdict,
    compared,
    in_order,
    mean_sample,
    order_verdict,
    ordered,
)
from isoglot.study.conditions import CONDITIONS, DEFAULT, label_of

SIMPLEST = "nli"
# Sections 4.4 and 5.2. German stands only in Figures 4, 6 and 7, and the paper does not order it and French.
RANKS = {"en": {"fr": 1, "de": 1, "ru": 2, "zh": 3}}
Place = tuple[str, str]
"""A task and a target language: a column of Table 1."""


def by_distance(source: str, targets: Iterable[str]) -> list[list[str]]:
    """Groups of equally close targets, the closest first; targets that the paper does not rank are left out."""
    ranks = RANKS.get(source, {})
    known = sorted((target for target in dict.fromkeys(targets) if target in ranks), key=ranks.__getitem__)
    return [list(alike) for _, alike in groupby(known, key=ranks.__getitem__)]


@dataclass(frozen=True, kw_only=True)
class TransferEvidence:
    """Table 1 of a study, with the conditions and tasks that the paper has."""

    of_task: Mapping[str, TaskScores]

    @classmethod
    def of(cls, tasks: Iterable[TaskScores]) -> Self:
        return cls(of_task={each.task.name: each for each in tasks if each.task.name in TITLE_OF_TASK})

    @cached_property
    def noise(self) -> Noise:
        return transfer_noise(self.of_task.values())

    @cached_property
    def columns(self) -> Mapping[Place, Mapping[str, Sample]]:
        return {(task, target): each for task, of in self.of_task.items() for target, each in of.transfer.items()}

    @property
    def source(self) -> str:
        return next((each.source for each in self.of_task.values()), "")

    def title(self, task: str) -> str:
        return self.of_task[task].task.title

    def places(self, *conditions: str) -> list[Place]:
        """The places where all these conditions have a score."""
        return [place for place, column in self.columns.items() if all(name in column for name in conditions)]

    def rows(self, *places: Place) -> list[str]:
        """The conditions that have a score in all these places, in the order of Table 1."""
        columns = [self.columns.get(place, {}) for place in places]
        return [name for name in CONDITIONS if all(name in column for column in columns)]

    def places_by_task(self, *conditions: str) -> dict[str, list[Place]]:
        return {task: list(alike) for task, alike in groupby(self.places(*conditions), key=lambda place: place[0])}

    def targets_by_distance(self, *conditions: str) -> list[list[str]]:
        return by_distance(self.source, (target for _, target in self.places(*conditions)))

    def mean(self, places: Iterable[Place], *conditions: str) -> Sample:
        """Over places and conditions, all of which have a score there."""
        return mean_sample([self.columns[place][name] for place in places for name in conditions])


def kept(transfer: TransferEvidence, conditions: Sequence[str], of: Sequence[str], share: float) -> Iterator[Finding]:
    """For each task: whether conditions keep this share of another's transfer, above what needs no pretraining."""
    for condition in conditions:
        # The first that was measured.
        other = next((name for name in of if transfer.places(condition, name)), of[-1])
        for task, places in transfer.places_by_task(condition, other).items():
            ours, theirs = transfer.mean(places, condition), transfer.mean(places, other)
            floors = [transfer.of_task[task].floors((condition, other), target) for _, target in places]
            our_floor, floor = (fmean(each[name] for each in floors) for name in (condition, other))
            title = transfer.title(task)
            if lost := _nothing_to_lose(transfer, title, task, other, theirs, floor):
                yield lost
                continue
            part = (ours.mean - our_floor) / (theirs.mean - floor)
            yield compared(
                ours,
                theirs * share + Sample.certain(our_floor - floor * share),
                numbers=f"{title}: {label_of(condition)} {ours.mean:.1f} keeps {max(part, 0):.0%} of "
                f"{label_of(other)} {theirs.mean:.1f}{_above(our_floor, floor)}",
                close=transfer.noise.points,
            )


def ahead_on_average(transfer: TransferEvidence, better: Sequence[str], worse: Sequence[str]) -> Iterator[Finding]:
    """The mean of all tasks, each the mean over its targets, against the first of `worse` that was measured."""
    behind = next((name for name in worse if transfer.places(name)), worse[-1])
    for ahead in better:
        by_task = {
            transfer.title(task): (transfer.mean(places, ahead), transfer.mean(places, behind))
            for task, places in transfer.places_by_task(ahead, behind).items()
        }
        if not by_task:
            continue
        ours, theirs = (mean_sample(side) for side in zip(*by_task.values(), strict=True))
        numbers = in_order((label_of(ahead), ours), (label_of(behind), theirs))
        if len(by_task) > 1:
            of_tasks = (f"{title} {a.mean:.1f} and {b.mean:.1f}" for title, (a, b) in by_task.items())
            numbers += f" ({', '.join(of_tasks)})"
        found = compared(ours, theirs, numbers=numbers, close=transfer.noise.points)
        # Means hide it where tasks clearly contradict each other.
        verdicts = {found.verdict, *(order_verdict(*pair, close=transfer.noise.points) for pair in by_task.values())}
        if verdicts >= {Verdict.AGREES, Verdict.DISAGREES}:
            found = replace(found, verdict=Verdict.TOO_CLOSE, numbers=f"{numbers}, and tasks contradict each other")
        yield found


def at_chance(transfer: TransferEvidence, condition: str, of: str) -> Iterator[Finding]:
    """For each place where another transfers: at most CLOSE_POINTS above what needs no pretraining."""
    unknown: list[str] = []
    for place in transfer.places(condition, of):
        task, target = place
        floor, own_floor = (transfer.of_task[task].floor(Model(condition=name), target) for name in (condition, of))
        if floor is None:
            unknown.append(transfer.title(task))
            continue
        title = f"{transfer.title(task)} {target}"
        score, start = transfer.columns[place][condition], transfer.columns[place][of]
        # Its own floor may be far higher; where that is not known, the other's is the best guess.
        start_floor = floor if own_floor is None else own_floor
        if lost := _nothing_to_lose(transfer, title, task, of, start, start_floor):
            yield lost
            continue
        verdict = Verdict.TOO_CLOSE
        # Twice CLOSE_POINTS, and every seed above them, refutes it.
        if score.mean - floor <= CLOSE_POINTS:
            verdict = Verdict.AGREES
        elif score.mean - floor > 2 * CLOSE_POINTS and min(score.values) > floor + CLOSE_POINTS:
            verdict = Verdict.DISAGREES
        numbers = f"{title} {score.mean:.1f}{_floor_words(transfer, task, floor)}"
        yield Finding(verdict=verdict, numbers=numbers, num_seeds=len(score.values))
    text = f"chance in {' and '.join(dict.fromkeys(unknown))} is not known without baselines of that condition"
    yield from [Finding(verdict=Verdict.NOT_TESTED, numbers=text)] * len(unknown)


def _nothing_to_lose(
    transfer: TransferEvidence, title: str, task: str, condition: str, score: Sample, floor: float
) -> Finding | None:
    # Where there is nothing to lose, nothing is shown by losing it.
    if order_verdict(score, Sample.certain(floor), close=transfer.noise.points) is Verdict.AGREES:
        return None
    reached = f"{score.mean:.1f}{_floor_words(transfer, task, floor)}"
    numbers = f"{title}: {label_of(condition)} itself does not transfer ({reached})"
    return Finding(verdict=Verdict.NOT_TESTED, numbers=numbers)


def _above(ours: float, theirs: float) -> str:
    """ " above 33.3", or where both were measured " above 8.1 and 41.6 without pretraining"."""
    if not isclose(ours, theirs):
        return f" above {ours:.1f} and {theirs:.1f} without pretraining"
    return f" above {ours:.1f}" if ours else ""


def _floor_words(transfer: TransferEvidence, task: str, floor: float) -> str:
    """ ", chance 33.3", or where it was measured ", and 41.2 without pretraining"."""
    chance = transfer.of_task[task].task.chance
    if chance is not None and isclose(floor, chance):
        return f", chance {floor:.1f}"
    return f", and {floor:.1f} without pretraining" if floor else ""


def falling(transfer: TransferEvidence, chains: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """For each chain and pair: every condition ahead of the next that is measured, on the mean of tasks."""
    for chain in chains:
        for target in dict.fromkeys(target for _, target in transfer.places()):
            measured = [name for name in chain if any(place[1] == target for place in transfer.places(name))]
            for names in pairwise(measured):
                if places := [place for place in transfer.places(*names) if place[1] == target]:
                    labelled = [(label_of(name), transfer.mean(places, name)) for name in names]
                    yield from ordered(f"{transfer.source}-{target}", *labelled, close=transfer.noise.points)


def domain_costs_more_in_ner(transfer: TransferEvidence) -> Iterator[Finding]:
    losses = {
        task: (transfer.title(task), transfer.mean(places, "default") - transfer.mean(places, "wiki-cc"))
        for task, places in transfer.places_by_task("default", "wiki-cc").items()
    }
    if "ner" in losses:
        for task in [task for task in losses if task != "ner"]:
            yield from ordered("points lost", losses["ner"], losses[task], close=transfer.noise.points)


def falling_with_distance(transfer: TransferEvidence) -> Iterator[Finding]:
    """For each task: the mean of all rows that both columns have, from each distance to the next."""
    for task in transfer.of_task:
        for ends in pairwise(transfer.targets_by_distance()):
            if rows := transfer.rows(*((task, target) for end in ends for target in end)):
                labelled = [(", ".join(end), transfer.mean(product([task], end), *rows)) for end in ends]
                yield from ordered(transfer.title(task), *labelled, close=transfer.noise.points)


def gap_by_task(transfer: TransferEvidence) -> Iterator[Finding]:
    """The gap from the closest to the furthest language in each task, against that in NLI."""
    groups = transfer.targets_by_distance()
    if len(groups) < 2:
        return
    near, far = groups[0], groups[-1]
    for task in transfer.of_task:
        rows = transfer.rows(*product((task, SIMPLEST), near + far))
        if task != SIMPLEST and rows:
            labelled = [
                (
                    transfer.title(each),
                    transfer.mean(product([each], near), *rows) - transfer.mean(product([each], far), *rows),
                )
                for each in (task, SIMPLEST)
            ]
            where = f"{', '.join(near)} less {', '.join(far)}"
            yield from ordered(where, *labelled, close=transfer.noise.points)


def change_by_distance(transfer: TransferEvidence, conditions: Sequence[str], sign: int) -> Iterator[Finding]:
    """The gain of conditions over Default (or with sign -1 their loss), in the furthest language and the closest."""
    measured = [name for name in conditions if transfer.places(name)]
    groups = transfer.targets_by_distance(DEFAULT.name, *measured)
    if not measured or len(groups) < 2:
        return
    ends = far, near = groups[-1], groups[0]
    # Only tasks that have both ends: otherwise languages and tasks are mixed up.
    tasks = [
        task for task in transfer.of_task if {DEFAULT.name, *measured} <= {*transfer.rows(*product([task], far + near))}
    ]
    if tasks:
        places = [list(product(tasks, end)) for end in ends]
        changes = [(transfer.mean(end, *measured) - transfer.mean(end, DEFAULT.name)) * sign for end in places]
        labelled = zip(map(", ".join, ends), changes, strict=True)
        text = in_order(*labelled, number="+.1f" if sign > 0 else ".1f")
        who = f"{', '.join(map(label_of, measured))} {'gains' if sign > 0 else 'loses'}"
        yield compared(*changes, numbers=f"{who} in {text}", close=transfer.noise.points)
