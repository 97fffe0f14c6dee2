"""Runs a plan in this process, one stage after the other; several processes with one store share the work."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from isoglot.artifacts.plan import State, inputs_first, plan
from isoglot.artifacts.stage import Stage
from isoglot.artifacts.store import Store
from isoglot.errors import IsoglotError


class Observer:
    """Told what happens while a plan runs; a subclass shows what it cares for."""

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        """The index-th, from 1, of the count stages that were not done when the run began."""

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        """A stage's own report of how far it is."""

    def waiting(self, stage: Stage, *, holder: str) -> None:
        """Another process is making it: "host, process 4711"."""

    def finished(self, stage: Stage, *, seconds: float) -> None:
        """Made, in so many seconds over all attempts."""

    def reused(self, stage: Stage) -> None:
        """It was there, or another process made it meanwhile."""

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        """What only serves targets that need it is skipped; the rest goes on."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of every stage of a plan."""

    made: tuple[Stage, ...]
    reused: tuple[Stage, ...]
    failed: dict[str, IsoglotError]
    """By digest."""
    skipped: tuple[Stage, ...]
    """Since every target that rests on them rests on one that failed."""


def run_plan(targets: Sequence[Stage], store: Store, observer: Observer | None = None) -> Outcome:
    """Makes what the targets still need. Ctrl-C passes through, and the next run goes on from there."""
    observer = observer or Observer()
    planned = plan(targets, store)
    left = [each.stage for each in planned if each.state is not State.DONE]
    reused = [each.stage for each in planned if each.state is State.DONE]
    for stage in reused:
        observer.reused(stage)
    made: list[Stage] = []
    skipped: list[Stage] = []
    failed: dict[str, IsoglotError] = {}
    # A target is lost with any stage it rests on, and what only lost targets rest on need not be made.
    rests_on = [set(inputs_first([target])) for target in targets]
    count = len(left)
    while left:
        stage = _next(left, store)
        left.remove(stage)
        if not any(stage.digest in stages and stages.isdisjoint(failed) for stages in rests_on):
            skipped.append(stage)
            continue
        observer.started(stage, index=count - len(left), count=count)
        try:
            (made if _ensure(stage, left, store=store, observer=observer) else reused).append(stage)
        except _HeldError:
            left.append(stage)
        except IsoglotError as error:
            failed[stage.digest] = error
            observer.failed(stage, error=error)
    return Outcome(made=tuple(made), reused=tuple(reused), failed=failed, skipped=tuple(skipped))


class _HeldError(Exception):
    """Another process was quicker, and there is something else to do meanwhile."""


def _next(left: Sequence[Stage], store: Store) -> Stage:
    """The first that can be made and that no other process is making; if they are at all of them, one to wait for."""
    ready = (stage for stage in left if _is_ready(stage, store))
    first = next(ready, None)
    if first is None:  # what is missing has failed, and the first is to be skipped
        return left[0]
    return next((stage for stage in chain([first], ready) if not store.is_held(stage)), first)


def _is_ready(stage: Stage, store: Store) -> bool:
    try:
        return all(store.has(each) for each in stage.inputs.values())
    except IsoglotError:  # one is damaged, which is told when it comes to be its turn
        return False


def _ensure(stage: Stage, left: Sequence[Stage], *, store: Store, observer: Observer) -> bool:
    def progress(done: float, total: float, unit: str, note: str = "") -> None:
        observer.progress(stage, done=done, total=total, unit=unit, note=note)

    def waiting(holder: str) -> None:
        if any(_is_ready(other, store) and not store.is_held(other) for other in left):
            raise _HeldError
        observer.waiting(stage, holder=holder)

    is_made = store.ensure(stage, progress, waiting=waiting)
    if is_made:
        observer.finished(stage, seconds=store.record(stage).seconds)
    else:
        observer.reused(stage)
    return is_made
