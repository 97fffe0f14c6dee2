"""Runs a plan on an engine, each stage after its inputs. Several runs on one store share the work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.errors import IsoglotError
from isoglot.store.engine import (
    Awaited,
    Engine,
    Event,
    Failed,
    Held,
    InThisProcess,
    Made,
    Observer,
    Progressed,
    Reused,
    Started,
    Waiting,
)
from isoglot.store.plan import State, inputs_first, plan
from isoglot.store.stage import Stage
from isoglot.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of every stage of a plan."""

    made: tuple[Stage, ...]
    reused: tuple[Stage, ...]
    failed: dict[str, IsoglotError]  # errors by digest
    skipped: tuple[Stage, ...]  # stages that only serve targets which rest on a failed one


def run_plan(targets: Sequence[Stage], store: Store, *observers: Observer, engine: Engine | None = None) -> Outcome:
    """Make what the targets still need, in this process if no engine is given.

    Ctrl-C stops the engine and passes through. The next run goes on from there.
    """
    run = _Run(targets, store=store, observers=observers)
    with engine or InThisProcess(store) as place:
        while run.left or run.in_work:
            run.start_some(place)
            if run.in_work or run.left:
                place.wait()
                run.gave_way.clear()
    return Outcome(made=tuple(run.made), reused=tuple(run.reused), failed=run.failed, skipped=tuple(run.skipped))


class _Run:
    def __init__(self, targets: Sequence[Stage], *, store: Store, observers: Sequence[Observer]) -> None:
        self._store, self._observers = store, observers
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
            self._tell(stage, Reused(stage.digest))

    def start_some(self, engine: Engine) -> None:
        """Start every stage that the engine takes; if nothing is in work, report which process the run waits for."""
        while stage := next((each for each in self._ready() if engine.takes(each) and not self._holder(each)), None):
            self.in_work[stage.digest] = self.left.pop(stage.digest)
            self._tell(stage, Started(stage.digest, self._count - len(self.left), self._count))
            engine.start(stage, self._handle)
        stage = next(self._ready(), None)
        holder = self._holder(stage) if stage and not self.in_work else None
        if stage and holder and stage.digest not in self._reported_waits:
            self._reported_waits.add(stage.digest)
            self._tell(stage, Awaited(stage.digest, holder))

    def _ready(self) -> Iterator[Stage]:
        # Inputs that are done are not awaited, nor are those that a damaged artifact would be made from.
        awaited = self.left.keys() | self.in_work.keys()
        return (stage for digest, stage in self.left.items() if self._inputs[digest].isdisjoint(awaited))

    def _holder(self, stage: Stage) -> str | None:
        # An engine may know of another run that this machine's locks do not show.
        return self.gave_way.get(stage.digest) or self._store.holder(stage)

    def _handle(self, event: Event) -> None:
        stage = self.in_work[event.digest]
        if isinstance(event, Made):
            try:
                event = Made(event.digest, self._store.record(stage).seconds)
            except IsoglotError as damage:
                event = Failed(event.digest, damage)
        self._tell(stage, event)
        match event:
            case Progressed() | Waiting():
                return
            case Held(digest, holder):
                self.left[digest] = stage
                self.gave_way[digest] = holder
            case Made():
                self.made.append(stage)
            case Reused():
                self.reused.append(stage)
            case Failed(digest, error):
                self.failed[digest] = error
                needed = set().union(*(stages for stages in self._rests_on if stages.isdisjoint(self.failed)))
                self.skipped += [self.left.pop(digest) for digest in [*self.left] if digest not in needed]
        del self.in_work[event.digest]

    def _tell(self, stage: Stage, event: Event) -> None:
        for observer in self._observers:
            observer(stage, event)
