"""Ways to compare columns of Table 1: what becomes of transfer as languages are further apart."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from isoglot.report.claims.language_distance import by_distance
from isoglot.report.claims.question import Finding, in_order
from isoglot.report.claims.transfer_evidence import Place, Transfer, tasks_of
from isoglot.report.samples import Sample, mean_sample
from isoglot.study.conditions import DEFAULT, label_of

SIMPLEST = "nli"


def falling_with_distance(transfer: Transfer) -> Iterator[Finding]:
    """For each task: the mean of all rows that both columns have, from each distance to the next."""
    for task in transfer.of_task:
        for near, far in pairwise(by_distance(transfer.source, [target for _, target in transfer.places()])):
            rows = _rows(transfer, [(task, target) for target in near + far])
            if rows:
                a, b = (_mean(transfer, rows, [(task, target) for target in targets]) for targets in (near, far))
                told = in_order((_list(near), a), (_list(far), b))
                yield transfer.compared(a, b, numbers=f"{transfer.title(task)}: {told}")


def gap_by_task(transfer: Transfer) -> Iterator[Finding]:
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
            told = in_order((transfer.title(task), ours), (transfer.title(SIMPLEST), simple))
            yield transfer.compared(ours, simple, numbers=f"{_list(near)} less {_list(far)}: {told}")


def change_by_distance(transfer: Transfer, conditions: Sequence[str], *, sign: int) -> Iterator[Finding]:
    """What conditions gain (or with sign -1 lose) against Default, of the furthest language against the closest."""
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
        told = in_order((_list(far), changes[0]), (_list(near), changes[1]), number="+.1f" if sign > 0 else ".1f")
        verb = "gains" if sign > 0 else "loses"
        conditions = _list([label_of(name) for name in measured])
        yield transfer.compared(*changes, numbers=f"{conditions} {verb} in {told}")


def _rows(transfer: Transfer, places: Sequence[Place]) -> list[str]:
    """The conditions that have a score in all these places."""
    return [name for name in transfer.conditions if set(places) <= set(transfer.places(name))]


def _mean(transfer: Transfer, conditions: Sequence[str], places: Sequence[Place]) -> Sample:
    return mean_sample([transfer.mean(name, places) for name in conditions])


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
