"""Ways to compare rows and columns of Table 1, from which the claims of section 4 are decided."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isclose

from isoglot.report.claims.evidence import Finding, Place, TransferEvidence, by_distance, in_order, tasks_of, untested
from isoglot.report.verdicts import CLOSE_POINTS, Sample, Verdict, mean_sample
from isoglot.study.conditions import DEFAULT, label_of

MOST = 0.8
HALF = 0.5
WITH_LAYERS_OF_THEIR_OWN = ("sep-emb", "sep-l1-3", "sep-l1-6", "sep-emb-l1-3", "sep-emb-l1-6")
CHAINS = (("default", "sep-l1-3", "sep-l1-6"), ("default", "sep-emb", "sep-emb-l1-3", "sep-emb-l1-6"))
OTHER_FACTORS = ("wiki-cc", "no-anchors", "default-anchors")


def kept(transfer: TransferEvidence, condition: str, *, of: str, share: float) -> Iterator[Finding]:
    """For each task: whether a condition keeps this share of another's transfer, above what needs no pretraining."""
    for task, places in tasks_of(transfer.places(condition, of)).items():
        ours, theirs = transfer.mean(condition, places), transfer.mean(of, places)
        our_floor, floor = transfer.floors((condition, of), places)
        if not _transfers(transfer, theirs, floor):
            yield _no_start(transfer.title(task), of, theirs, _floor_words(transfer, task, floor))
            continue
        part = (ours.mean - our_floor) / (theirs.mean - floor)
        yield transfer.compared(
            ours,
            theirs * share + Sample.certain(our_floor - floor * share),
            numbers=f"{transfer.title(task)}: {label_of(condition)} {ours.mean:.1f} keeps {max(part, 0):.0%} of "
            f"{label_of(of)} {theirs.mean:.1f}{_above(our_floor, floor)}",
        )


def ahead_on_average(transfer: TransferEvidence, better: str, worse: str) -> Iterator[Finding]:
    """The mean of all tasks, each the mean over its targets; undecided where tasks clearly contradict it."""
    by_task = tasks_of(transfer.places(better, worse))
    if not by_task:
        return
    ours = {task: transfer.mean(better, places) for task, places in by_task.items()}
    theirs = {task: transfer.mean(worse, places) for task, places in by_task.items()}
    overall = (mean_sample(list(ours.values())), mean_sample(list(theirs.values())))
    labels = label_of(better), label_of(worse)
    of_tasks = [
        f"{transfer.title(task)} {ours[task].mean:.1f} and {theirs[task].mean:.1f}"
        for task in (by_task if len(by_task) > 1 else ())
    ]
    numbers = in_order((labels[0], overall[0]), (labels[1], overall[1]))
    found = transfer.compared(*overall, numbers=numbers + (f" ({', '.join(of_tasks)})" if of_tasks else ""))
    verdicts = {found.verdict, *(transfer.order(ours[task], theirs[task]) for task in by_task)}
    if verdicts >= {Verdict.AGREES, Verdict.DISAGREES}:
        found = Finding(
            verdict=Verdict.TOO_CLOSE,
            numbers=f"{found.numbers}, and tasks contradict each other",
            num_seeds=found.num_seeds,
        )
    yield found


def at_chance(transfer: TransferEvidence, condition: str, *, of: str) -> Iterator[Finding]:
    """For each place where another transfers: at most CLOSE_POINTS above what needs no pretraining.

    Twice that, and every seed above CLOSE_POINTS, refutes it.
    """
    unknown: list[str] = []
    for place in transfer.places(condition, of):
        task, target = place
        floor = transfer.floor(condition, place)
        if floor is None:
            unknown.append(transfer.title(task))
            continue
        title = f"{transfer.title(task)} {target}"
        score, start = transfer.score(condition, place), transfer.score(of, place)
        # Its own floor may be far higher; where that is not known, the other's is the best guess.
        own_floor = transfer.floor(of, place)
        start_floor = floor if own_floor is None else own_floor
        if not _transfers(transfer, start, start_floor):
            yield _no_start(title, of, start, _floor_words(transfer, task, start_floor))
            continue
        above = score.mean - floor
        if above <= CLOSE_POINTS:
            verdict = Verdict.AGREES
        elif above > 2 * CLOSE_POINTS and min(score.values) > floor + CLOSE_POINTS:
            verdict = Verdict.DISAGREES
        else:
            verdict = Verdict.TOO_CLOSE
        yield Finding(
            verdict=verdict,
            numbers=f"{title} {score.mean:.1f}{_floor_words(transfer, task, floor)}",
            num_seeds=len(score.values),
        )
    text = f"chance in {' and '.join(dict.fromkeys(unknown))} is not known without baselines of that condition"
    yield from [untested(text)] * len(unknown)


def falling(transfer: TransferEvidence, chain: Sequence[str]) -> Iterator[Finding]:
    """For each pair: every condition of a chain ahead of the next that is measured, on the mean of tasks."""
    for target in dict.fromkeys(target for _, target in transfer.places()):
        measured = [name for name in chain if any(place[1] == target for place in transfer.places(name))]
        for better, worse in pairwise(measured):
            places = [place for place in transfer.places(better, worse) if place[1] == target]
            if places:
                ours, theirs = transfer.mean(better, places), transfer.mean(worse, places)
                where = f"{transfer.source}-{target}"
                yield transfer.ordered(where, (label_of(better), ours), (label_of(worse), theirs))


def domain_costs_more_in_ner(transfer: TransferEvidence) -> Iterator[Finding]:
    by_task = tasks_of(transfer.places("default", "wiki-cc"))
    losses = {
        task: mean_sample([transfer.score("default", place) - transfer.score("wiki-cc", place) for place in places])
        for task, places in by_task.items()
    }
    for task in losses:
        if task != "ner" and "ner" in losses:
            labelled = [(transfer.title(each), losses[each]) for each in ("ner", task)]
            yield transfer.ordered("points lost", *labelled)


def anchors_account_for_little(transfer: TransferEvidence) -> Iterator[Finding]:
    """Against the same vocabulary with anchors, or where that was not trained against Default."""
    other = "default-anchors" if transfer.places("no-anchors", "default-anchors") else "default"
    yield from kept(transfer, "no-anchors", of=other, share=MOST)


def fewer_layers_fall(transfer: TransferEvidence) -> Iterator[Finding]:
    for chain in CHAINS:
        yield from falling(transfer, chain)


def bottom_three_kept(transfer: TransferEvidence) -> Iterator[Finding]:
    for condition in ("sep-l1-3", "sep-emb-l1-3"):
        yield from kept(transfer, condition, of="default", share=HALF)


def sharing_above_all(transfer: TransferEvidence) -> Iterator[Finding]:
    """The most separate condition that was measured stands for little sharing."""
    for most_separate in [name for name in ("sep-emb-l1-6", "sep-l1-6") if name in transfer.conditions][:1]:
        for other in OTHER_FACTORS:
            yield from ahead_on_average(transfer, other, most_separate)


def _transfers(transfer: TransferEvidence, score: Sample, floor: float) -> bool:
    return transfer.order(score, Sample.certain(floor)) is Verdict.AGREES


def _no_start(title: str, condition: str, score: Sample, floor_words: str) -> Finding:
    """Where there is nothing to lose, nothing is shown by losing it."""
    return untested(f"{title}: {label_of(condition)} itself does not transfer ({score.mean:.1f}{floor_words})")


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


SIMPLEST = "nli"


def falling_with_distance(transfer: TransferEvidence) -> Iterator[Finding]:
    """For each task: the mean of all rows that both columns have, from each distance to the next."""
    for task in transfer.of_task:
        for near, far in pairwise(by_distance(transfer.source, [target for _, target in transfer.places()])):
            rows = _rows(transfer, [(task, target) for target in near + far])
            if rows:
                a, b = (_mean(transfer, rows, [(task, target) for target in targets]) for targets in (near, far))
                yield transfer.ordered(transfer.title(task), (", ".join(near), a), (", ".join(far), b))


def gap_by_task(transfer: TransferEvidence) -> Iterator[Finding]:
    """The gap from the closest to the furthest language in each task, against that in NLI."""
    groups = by_distance(transfer.source, [target for _, target in transfer.places()])
    if len(groups) < 2:
        return
    near, far = groups[0], groups[-1]
    for task in transfer.of_task:
        rows = _rows(transfer, [(each, target) for each in (task, SIMPLEST) for target in near + far])
        if task != SIMPLEST and rows:
            ours, simple = (
                _mean(transfer, rows, [(each, target) for target in near])
                - _mean(transfer, rows, [(each, target) for target in far])
                for each in (task, SIMPLEST)
            )
            where = f"{', '.join(near)} less {', '.join(far)}"
            yield transfer.ordered(where, (transfer.title(task), ours), (transfer.title(SIMPLEST), simple))


def change_by_distance(transfer: TransferEvidence, conditions: Sequence[str], *, sign: int) -> Iterator[Finding]:
    """The gain of conditions over Default (or with sign -1 their loss), in the furthest language and the closest."""
    measured = [name for name in conditions if name in transfer.conditions]
    places = transfer.places(DEFAULT.name, *measured)
    groups = by_distance(transfer.source, [target for _, target in places])
    if not measured or len(groups) < 2:
        return
    near, far = groups[0], groups[-1]
    # Of tasks that have both ends: otherwise languages and tasks are mixed up.
    both = {task for task, of_task in tasks_of(places).items() if {*near, *far} <= {target for _, target in of_task}}
    ends = [[(task, target) for task, target in places if target in end and task in both] for end in (far, near)]
    if both:
        changes = [(_mean(transfer, measured, end) - transfer.mean(DEFAULT.name, end)) * sign for end in ends]
        text = in_order(
            (", ".join(far), changes[0]), (", ".join(near), changes[1]), number="+.1f" if sign > 0 else ".1f"
        )
        verb = "gains" if sign > 0 else "loses"
        conditions = ", ".join(label_of(name) for name in measured)
        yield transfer.compared(*changes, numbers=f"{conditions} {verb} in {text}")


def _rows(transfer: TransferEvidence, places: Sequence[Place]) -> list[str]:
    """The conditions that have a score in all these places."""
    return [name for name in transfer.conditions if set(places) <= set(transfer.places(name))]


def _mean(transfer: TransferEvidence, conditions: Sequence[str], places: Sequence[Place]) -> Sample:
    return mean_sample([transfer.mean(name, places) for name in conditions])
