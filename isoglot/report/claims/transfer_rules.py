"""Ways to compare rows and columns of Table 1 by points above the floor: they decide the claims of section 4."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, product

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.findings.comparisons import ALIVE, DEAD, Comparisons, Kept, Outcome
from isoglot.report.findings.published import TITLE_OF_TASK
from isoglot.report.findings.samples import CLOSE_POINTS, Sample, mean_sample, paired
from isoglot.report.findings.trials import Trial, by_group
from isoglot.report.findings.verdicts import (
    Finding,
    Verdict,
    compared,
    in_order,
    is_above_floor,
    order_verdict,
    ordered,
)
from isoglot.study.conditions import DEFAULT, TABLE_1, label_of

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
    """The comparisons of a study in the tasks that the paper has."""

    comparisons: Comparisons

    @cached_property
    def trials(self) -> Mapping[Place, Trial]:
        return {
            (trial.task, trial.languages[1]): trial for trial in self.comparisons.trials if trial.task in TITLE_OF_TASK
        }

    @cached_property
    def columns(self) -> Mapping[Place, Mapping[str, Sample]]:
        """Points above the floor of the conditions whose gates are open."""
        return {
            place: {name: lead for name, lead in trial.leads.items() if self.comparisons.refusal(trial, name) is None}
            for place, trial in self.trials.items()
        }

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(task for task, _ in self.trials))

    @property
    def source(self) -> str:
        return next((trial.languages[0] for trial in self.trials.values()), "")

    def measured(self, *conditions: str) -> list[Trial]:
        """The trials where all these conditions have a score, whatever their gates."""
        return [trial for trial in self.trials.values() if all(name in trial.leads for name in conditions)]

    def in_line(self, found: Finding, ahead: str, behind: str) -> Finding:
        """The finding that one condition is ahead of another, left open where their outcomes say the contrary."""
        outcomes = {DEFAULT.name: Outcome.SURVIVES, **self.comparisons.outcomes}
        contrary: dict[tuple[Outcome | None, Outcome | None], Verdict] = {
            (Outcome.DIES, Outcome.SURVIVES): Verdict.AGREES,
            (Outcome.SURVIVES, Outcome.DIES): Verdict.DISAGREES,
        }
        is_contrary = contrary.get((outcomes.get(ahead), outcomes.get(behind))) is found.verdict
        return _contradicted(found, "tests") if is_contrary else found

    def places(self, *conditions: str) -> list[Place]:
        """The places where all these conditions have a score."""
        return [place for place, column in self.columns.items() if all(name in column for name in conditions)]

    def rows(self, *places: Place) -> list[str]:
        """The rows of Table 1 that have a score in all these places."""
        columns = [self.columns.get(place, {}) for place in places]
        return [row.name for row in TABLE_1 if all(row.name in column for column in columns)]

    def places_by_task(self, *conditions: str) -> dict[str, list[Place]]:
        return {task: list(alike) for task, alike in groupby(self.places(*conditions), key=lambda place: place[0])}

    def targets_by_distance(self, *conditions: str) -> list[list[str]]:
        return by_distance(self.source, (target for _, target in self.places(*conditions)))

    def mean(self, places: Iterable[Place], *conditions: str) -> Sample:
        """Points above the floor, over places and conditions, all of which have a score there."""
        return mean_sample([self.columns[place][name] for place in places for name in conditions])


def _contradicted(found: Finding, by: str) -> Finding:
    return found.left_open(f"{found.numbers}, and {by} contradict each other")


def _by_scores_too(found: Finding, better: Sample, worse: Sample) -> Finding:
    """The finding if the scores themselves show it as well; else left open, with the scores."""
    # A floor that is higher, as that of Default's shared spelling, leaves less to gain.
    better, worse = paired(better.plain, worse.plain)
    if found.verdict in (Verdict.TOO_CLOSE, order_verdict(better, worse)):
        return found
    return found.left_open(f"{found.numbers}, but scores of {better.mean:.1f} and {worse.mean:.1f}")


def _in_both_ways(where: str, better: tuple[str, Sample], worse: tuple[str, Sample]) -> Finding:
    """The finding on two samples that the paper puts in this order, by points above the floor and by scores."""
    numbers = f"{where}: {in_order(better, worse, number='+.1f')}"
    return _by_scores_too(compared(better[1], worse[1], numbers=numbers), better[1], worse[1])


def kept(transfer: TransferEvidence, conditions: Sequence[str], of: Sequence[str], share: float) -> Iterator[Finding]:
    """Whether conditions keep this share of another's points: on the mean of tasks, and in no test less."""
    for condition in conditions:
        # The first that was measured.
        other = next((name for name in of if transfer.measured(condition, name)), of[-1])
        if trials := transfer.measured(condition, other):
            found = transfer.comparisons.kept(condition, share, of=other, trials=trials)
            outcome = transfer.comparisons.outcomes.get(condition) if other == DEFAULT.name else None
            finding = _finding(transfer, found, condition, other, contrary="clearly less")
            is_contrary = (outcome is Outcome.DIES and finding.verdict is Verdict.AGREES) or (
                outcome is Outcome.SURVIVES and share <= ALIVE and finding.verdict is Verdict.DISAGREES
            )
            yield _contradicted(finding, "tasks") if is_contrary else finding


def at_chance(transfer: TransferEvidence, condition: str, of: str) -> Iterator[Finding]:
    """Whether transfer dies, and ends at most CLOSE_POINTS above the floor on the mean of tasks."""
    if trials := transfer.measured(condition, of):
        found = transfer.comparisons.kept(condition, DEAD, of=of, trials=trials, is_loss=True)
        finding = _finding(transfer, found, condition, of, contrary="clearly more than a third")
        if finding.verdict is Verdict.AGREES and found.ours.mean > CLOSE_POINTS:
            finding = finding.left_open(finding.numbers)
        contrary: dict[Outcome | None, Verdict] = {
            Outcome.SURVIVES: Verdict.AGREES,
            Outcome.DIES: Verdict.DISAGREES,
        }
        is_contrary = contrary.get(transfer.comparisons.outcomes.get(condition)) is finding.verdict
        yield _contradicted(finding, "tasks") if is_contrary else finding


def _finding(transfer: TransferEvidence, found: Kept, condition: str, other: str, *, contrary: str) -> Finding:
    """The finding with its numbers: the mean, each task, and the tests that say the contrary."""
    if not found.trials:
        refusals = (transfer.comparisons.refusal(trial, condition, other) for trial in found.measured)
        reasons = dict.fromkeys(refusal.gate.missing for refusal in refusals if refusal)
        return Finding(verdict=Verdict.NOT_TESTED, numbers=f"no verdict: {'; '.join(reasons)}")
    # Where there is nothing to lose, nothing is shown by losing it.
    if not is_above_floor(found.theirs):
        text = f"{label_of(other)} itself does not transfer ({found.theirs.mean:+.1f})"
        return Finding(verdict=Verdict.NOT_TESTED, numbers=text)
    pairs = zip(*(by_group(found.trials, name).items() for name in (condition, other)), strict=True)
    tasks = ", ".join(f"{group} {ours.mean:+.1f} of {theirs.mean:+.1f}" for (group, ours), (_, theirs) in pairs)
    ours, theirs = found.ours.mean, found.theirs.mean
    left = f"{label_of(condition)} {ours:+.1f} keeps {max(ours / theirs, 0):.0%} of {label_of(other)} {theirs:+.1f}"
    numbers = [f"{left} ({tasks})"]
    if found.exceptions:
        listed = (f"{each.title} {each.leads[condition].mean:+.1f}" for each in found.exceptions)
        numbers.append(f"{contrary} in {', '.join(listed)}")
    if found.verdict is Verdict.NOT_TESTED:
        numbers.append(f"a gate is shut in {len(found.measured) - len(found.trials)} of {len(found.measured)} tests")
    return Finding(verdict=found.verdict, numbers="; ".join(numbers), num_seeds=found.num_seeds, margins=found.margins)


def ahead_on_average(transfer: TransferEvidence, better: Sequence[str], worse: Sequence[str]) -> Iterator[Finding]:
    """The mean of all tasks, each the mean over its targets, against the first of `worse` that was measured."""
    behind = next((name for name in worse if transfer.places(name)), worse[-1])
    for ahead in better:
        places_by_task = transfer.places_by_task(ahead, behind)
        by_task = {
            task_named(task).title: (transfer.mean(places, ahead), transfer.mean(places, behind))
            for task, places in places_by_task.items()
        }
        if not by_task:
            continue
        ours, theirs = (mean_sample(side) for side in zip(*by_task.values(), strict=True))
        numbers = in_order((label_of(ahead), ours), (label_of(behind), theirs), number="+.1f")
        if len(by_task) > 1:
            listed = (f"{title} {a.mean:+.1f} and {b.mean:+.1f}" for title, (a, b) in by_task.items())
            numbers += f" ({', '.join(listed)})"
        found = _by_scores_too(compared(ours, theirs, numbers=numbers), ours, theirs)
        # Means hide it where tasks clearly contradict each other.
        verdicts = {found.verdict, *(order_verdict(*pair) for pair in by_task.values())}
        if verdicts >= {Verdict.AGREES, Verdict.DISAGREES}:
            found = _contradicted(found, "tasks")
        yield transfer.in_line(found, ahead, behind)


def falling(transfer: TransferEvidence, chains: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """For each chain and pair: every condition ahead of the next that is measured, on the mean of tasks."""
    for chain in chains:
        for target in dict.fromkeys(target for _, target in transfer.places()):
            measured = [name for name in chain if any(place[1] == target for place in transfer.places(name))]
            for names in pairwise(measured):
                if places := [place for place in transfer.places(*names) if place[1] == target]:
                    better, worse = ((label_of(name), transfer.mean(places, name)) for name in names)
                    yield transfer.in_line(_in_both_ways(f"{transfer.source}-{target}", better, worse), *names)


def domain_costs_more_in_ner(transfer: TransferEvidence) -> Iterator[Finding]:
    losses = {
        task: (task_named(task).title, transfer.mean(places, "default") - transfer.mean(places, "wiki-cc"))
        for task, places in transfer.places_by_task("default", "wiki-cc").items()
    }
    if "ner" in losses:
        for task in [task for task in losses if task != "ner"]:
            yield from ordered("points lost", losses["ner"], losses[task])


def falling_with_distance(transfer: TransferEvidence) -> Iterator[Finding]:
    """For each task: the mean of all rows that both columns have, from each distance to the next."""
    for task in transfer.tasks:
        for ends in pairwise(transfer.targets_by_distance()):
            if rows := transfer.rows(*((task, target) for end in ends for target in end)):
                near, far = (
                    (name, replace(transfer.mean(product([task], end), *rows), of_language=name))
                    for end in ends
                    for name in [", ".join(end)]
                )
                yield _in_both_ways(task_named(task).title, near, far)


def gap_by_task(transfer: TransferEvidence) -> Iterator[Finding]:
    """The gap from the closest to the furthest language in each task, against that in NLI."""
    groups = transfer.targets_by_distance()
    if len(groups) < 2:
        return
    near, far = groups[0], groups[-1]
    for task in transfer.tasks:
        rows = transfer.rows(*product((task, SIMPLEST), near + far))
        if task != SIMPLEST and rows:
            larger, smaller = (
                (
                    task_named(each).title,
                    transfer.mean(product([each], near), *rows) - transfer.mean(product([each], far), *rows),
                )
                for each in (task, SIMPLEST)
            )
            yield _in_both_ways(f"{', '.join(near)} less {', '.join(far)}", larger, smaller)


def change_by_distance(transfer: TransferEvidence, conditions: Sequence[str], sign: int) -> Iterator[Finding]:
    """The gain of conditions over Default (or with sign -1 their loss), in the furthest language and the closest."""
    measured = [name for name in conditions if transfer.places(name)]
    groups = transfer.targets_by_distance(DEFAULT.name, *measured)
    if not measured or len(groups) < 2:
        return
    ends = far, near = groups[-1], groups[0]
    # Only tasks that have both ends: otherwise languages and tasks are mixed up.
    tasks = [
        task for task in transfer.tasks if {DEFAULT.name, *measured} <= {*transfer.rows(*product([task], far + near))}
    ]
    if tasks:
        changes = {}
        for end in ends:
            name, places = ", ".join(end), list(product(tasks, end))
            change = (transfer.mean(places, *measured) - transfer.mean(places, DEFAULT.name)) * sign
            changes[name] = replace(change, of_language=name)
        text = in_order(*changes.items(), number="+.1f" if sign > 0 else ".1f")
        who = f"{', '.join(map(label_of, measured))} {'gains' if sign > 0 else 'loses'}"
        found = compared(*changes.values(), numbers=f"{who} in {text}")
        yield _by_scores_too(found, *changes.values())
