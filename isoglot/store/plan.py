"""The stages that some targets still need, in order, with estimates of their time."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from isoglot.errors import IsoglotError
from isoglot.store.canonical import Json
from isoglot.store.record import Record
from isoglot.store.stage import Amount, Stage
from isoglot.store.store import Store


class State(StrEnum):
    DONE = "done"
    INTERRUPTED = "interrupted"
    TO_DO = "to do"
    # It is there but differs from its record. Running its stage gives the reason.
    DAMAGED = "damaged"


@dataclass(frozen=True, kw_only=True)
class PlannedStage:
    """One line of a plan."""

    stage: Stage
    state: State
    amount: Amount | None
    seconds_estimate: float | None
    """The time left: 0 if it is done, None if nothing is known about stages of this kind."""
    guessed: bool = False
    """Whether no stage like it has run yet: the estimate is its own guess or, without one, from others of its kind."""
    share_done: float = 0.0  # the part of an interrupted stage that need not be done again

    @property
    def share_left(self) -> float:
        return 1 - self.share_done


def plan(targets: Sequence[Stage], store: Store) -> tuple[PlannedStage, ...]:
    """Stages that are done and stages that a target still needs, each once and after its inputs."""
    # From the targets back: an input that was deleted after its users were finished is not needed, and a stage from
    # which nothing is to be made may be there as a summary.
    order = inputs_first(targets)
    states: dict[str, State] = {}
    needed = {stage.digest for stage in targets}
    to_read: set[str] = set()
    for digest, stage in reversed(order.items()):
        states[digest] = _state(stage, store=store, whole=digest in to_read)
        if digest in needed and states[digest] in (State.INTERRUPTED, State.TO_DO):
            to_read.update(stage.input_digests.values())
            needed |= to_read
    records = list(store.records())
    return tuple(
        _planned(stage, state=states[digest], store=store, records=records)
        for digest, stage in order.items()
        if digest in needed or states[digest] is State.DONE
    )


def _planned(stage: Stage, *, state: State, store: Store, records: list[Record]) -> PlannedStage:
    whole, guessed = (0.0, False) if state is State.DONE else _whole_seconds(stage, records=records)
    share_done = stage.share_done(store.partial_folder(stage)) if state is State.INTERRUPTED else 0.0
    return PlannedStage(
        stage=stage,
        state=state,
        amount=stage.amount(),
        seconds_estimate=None if whole is None else whole * (1 - share_done),
        guessed=guessed,
        share_done=share_done,
    )


def inputs_first(targets: Iterable[Stage]) -> dict[str, Stage]:
    """The targets and all stages they rest on, by digest, each after its inputs."""
    order: dict[str, Stage] = {}

    def visit(stage: Stage) -> None:
        if stage.digest not in order:
            for each in stage.inputs.values():
                visit(each)
            order[stage.digest] = stage

    for target in targets:
        visit(target)
    return order


def _state(stage: Stage, *, store: Store, whole: bool) -> State:
    try:
        if store.has(stage):
            return State.DONE
    except IsoglotError:
        return State.DAMAGED
    # A summary serves readers; a damaged one is as good as none, since the stage can be made again.
    with suppress(IsoglotError):
        if not whole and store.lookup(stage, read=()) is not None:
            return State.DONE
    return State.INTERRUPTED if store.is_interrupted(stage) else State.TO_DO


def _whole_seconds(stage: Stage, *, records: Iterable[Record]) -> tuple[float | None, bool]:
    """An estimate from finished stages with the same rate settings, or else a guess; and whether it is one."""
    of_kind = [record for record in records if record.kind == stage.kind and record.seconds > 0]
    deciding = [_setting(stage.settings, path) for path in stage.rate_settings]
    alike = [each for each in of_kind if [_setting(each.settings, path) for path in stage.rate_settings] == deciding]
    if (known := _seconds_estimate(stage, alike)) is not None:
        return known, False
    guess = stage.guessed_seconds()
    guess = _seconds_estimate(stage, of_kind) if guess is None else guess
    return guess, guess is not None


def _setting(settings: Mapping[str, Json], path: str) -> Json:
    """The value at "run.shape"; None where there is none."""
    found: Json = dict(settings)
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _seconds_estimate(stage: Stage, records: Sequence[Record]) -> float | None:
    """An estimate from the median rate of finished stages, or from their median time."""
    from statistics import median  # a third of the time it would take to import this package

    amount = stage.amount()
    # Those made on this machine come first.
    records = [each for each in records if each.host == os.uname().nodename] or records
    if amount is None:
        return median(each.seconds for each in records) if records else None
    rates = [r.amount.units / r.seconds for r in records if r.amount is not None and r.amount.of == amount.of]
    rate = median(rates) if rates else None
    return amount.units / rate if rate else None
