"""Runs a plan on an engine, each stage after its inputs. Several runs on one store share the work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.store.engine import Engine, Event, Failed, Held, InThisProcess, Made, Progressed, Reused, Waiting
from isoglot.store.plan import State, inputs_first, plan
from isoglot.store.stage import Stage
from isoglot.store.store import Store


class Observer:
    """Is called while a plan runs; a subclass shows what it cares for. Calls for several stages may come mixed."""

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        """The index-th, from 1, of the count stages that were not done when the run began."""

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        """A stage's own report of its progress."""

    def queued(self, stage: Stage, *, where: str) -> None:
        """The stage was started and waits for its turn: "Slurm job 4711, pending"."""

    def gave_way(self, stage: Stage) -> None:
        """The stage was started, but another run was quicker. It starts again when that run has ended."""

    def waiting(self, stage: Stage, *, holder: str) -> None:
        """Nothing can be done before another process ("host, process 4711") has made this. Called once a stage."""

    def finished(self, stage: Stage, *, seconds: float) -> None:
        """The stage was made, in so many seconds over all attempts."""

    def reused(self, stage: Stage) -> None:
        """The artifact was there, or another process has made it meanwhile."""

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        """The stage failed. Stages that only serve targets resting on it are skipped; the others go on."""


class Observers(Observer):
    """Passes every call on to each of its members, in their order."""

    def __init__(self, *members: Observer) -> None:
        def call_each(name: str, stage: Stage, **details: Any) -> None:
            for member in members:
                getattr(member, name)(stage, **details)

        for name in vars(Observer):
            if not name.startswith("_"):
                setattr(self, name, partial(call_each, name))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of every stage of a plan."""

    made: tuple[Stage, ...]
    reused: tuple[Stage, ...]
    failed: dict[str, IsoglotError]  # errors by digest
    skipped: tuple[Stage, ...]  # stages that only serve targets which rest on a failed one


def run_plan(
    targets: Sequence[Stage], store: Store, observer: Observer | None = None, *, engine: Engine | None = None
) -> Outcome:
    """Make what the targets still need, in this process if no engine is given.

    Ctrl-C stops the engine and passes through. The next run goes on from there.
    """
    run = _Run(targets, store=store, observer=observer or Observer())
    with engine or InThisProcess(store) as place:
        while run.left or run.in_work:
            run.start_some(place)
            if run.in_work or run.left:
                place.wait()
                run.gave_way.clear()
    return Outcome(made=tuple(run.made), reused=tuple(run.reused), failed=run.failed, skipped=tuple(run.skipped))


class _Run:
    def __init__(self, targets: Sequence[Stage], *, store: Store, observer: Observer) -> None:
        self._store, self._observer = store, observer
        planned = plan(targets, store)
        self.left = {each.stage.digest: each.stage for each in planned if each.state is not State.DONE}
        self.in_work: dict[str, Stage] = {}
        self.made: list[Stage] = []
        self.reused = [each.stage for each in planned if each.state is State.DONE]
        self.failed: dict[str, IsoglotError] = {}
        self.skipped: list[Stage] = []
        self.gave_way: dict[str, str] = {}
        """Holders of the stages that other runs turned out to be making since the engine last waited."""
        self._reported_waits: set[str] = set()
        self._count = len(self.left)
        self._inputs = {digest: {*stage.input_digests.values()} for digest, stage in self.left.items()}
        # A target is lost with any stage it rests on, and stages that serve only lost targets need not be made.
        self._rests_on = [set(inputs_first([target])) for target in targets]
        for stage in self.reused:
            observer.reused(stage)

    def start_some(self, engine: Engine) -> None:
        """Start every stage that the engine takes; if nothing is in work, report which process the run waits for."""
        while stage := next((each for each in self._ready() if engine.takes(each) and not self._holder(each)), None):
            self.in_work[stage.digest] = self.left.pop(stage.digest)
            self._observer.started(stage, index=self._count - len(self.left), count=self._count)
            engine.start(stage, self._handle)
        stage = next(self._ready(), None)
        holder = self._holder(stage) if stage and not self.in_work else None
        if stage and holder and stage.digest not in self._reported_waits:
            self._reported_waits.add(stage.digest)
            self._observer.waiting(stage, holder=holder)

    def _ready(self) -> Iterator[Stage]:
        # Inputs that are done are not awaited, nor are those that a damaged artifact would be made from.
        awaited = self.left.keys() | self.in_work.keys()
        return (stage for digest, stage in self.left.items() if self._inputs[digest].isdisjoint(awaited))

    def _holder(self, stage: Stage) -> str | None:
        # An engine may know of another run that this machine's locks do not show.
        return self.gave_way.get(stage.digest) or self._store.holder(stage)

    def _handle(self, event: Event) -> None:
        stage = self.in_work[event.digest]
        match event:
            case Progressed(_, done, total, unit, note):
                self._observer.progress(stage, done=done, total=total, unit=unit, note=note)
                return
            case Waiting(_, where):
                self._observer.queued(stage, where=where)
                return
            case Held(digest, holder):
                self.left[digest] = stage
                self.gave_way[digest] = holder
                self._observer.gave_way(stage)
            case Made():
                try:
                    seconds = self._store.record(stage).seconds
                except IsoglotError as error:
                    self._fail(stage, error)
                else:
                    self._observer.finished(stage, seconds=seconds)
                    self.made.append(stage)
            case Reused():
                self._observer.reused(stage)
                self.reused.append(stage)
            case Failed(_, error):
                self._fail(stage, error)
        del self.in_work[event.digest]

    def _fail(self, stage: Stage, error: IsoglotError) -> None:
        self.failed[stage.digest] = error
        self._observer.failed(stage, error=error)
        needed = set().union(*(stages for stages in self._rests_on if stages.isdisjoint(self.failed)))
        self.skipped += [self.left.pop(digest) for digest in [*self.left] if digest not in needed]
