"""Runs a plan on an engine, each stage after its inputs; several runs on one store share the work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.errors import IsoglotError
from isoglot.store.engine import Engine, Event, Failed, Held, InThisProcess, Made, Progressed, Reused, Waiting
from isoglot.store.plan import State, inputs_first, plan
from isoglot.store.stage import Stage
from isoglot.store.store import Store


class Observer:
    """Told what happens while a plan runs; a subclass shows what it cares for.

    Where several stages are in work at once, what is told of them comes mixed.
    """

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        """The index-th, from 1, of the count stages that were not done when the run began."""

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        """A stage's own report of how far it is."""

    def queued(self, stage: Stage, *, where: str) -> None:
        """It was started, but has to wait for its turn: "Slurm job 4711, pending"."""

    def gave_way(self, stage: Stage) -> None:
        """It was started, but another run was quicker; it comes again when that one has ended."""

    def waiting(self, stage: Stage, *, holder: str) -> None:
        """Nothing can be done before another process has made it: "host, process 4711". Told once for a stage."""

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


def run_plan(
    targets: Sequence[Stage], store: Store, observer: Observer | None = None, *, engine: Engine | None = None
) -> Outcome:
    """Makes what the targets still need, in this process if no engine is given.

    Ctrl-C stops the engine and passes through, and the next run goes on from there.
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
    """How far a plan is."""

    def __init__(self, targets: Sequence[Stage], *, store: Store, observer: Observer) -> None:
        self._store = store
        self._observer = observer
        planned = plan(targets, store)
        self.left = {each.stage.digest: each.stage for each in planned if each.state is not State.DONE}
        self.in_work: dict[str, Stage] = {}
        self.made: list[Stage] = []
        self.reused = [each.stage for each in planned if each.state is State.DONE]
        self.failed: dict[str, IsoglotError] = {}
        self.skipped: list[Stage] = []
        self.gave_way: dict[str, str] = {}
        """Holders by digest of what other runs were found to be at since the engine last waited."""
        self._told_of: set[str] = set()
        self._count = len(self.left)
        # Those that are there already, or that a damaged artifact would not be made from anyway, are not waited for.
        self._awaited = {digest: self.left.keys() & stage.input_digests.values() for digest, stage in self.left.items()}
        # A target is lost with any stage it rests on, and what only lost targets rest on need not be made.
        self._rests_on = [set(inputs_first([target])) for target in targets]
        for stage in self.reused:
            observer.reused(stage)

    def start_some(self, engine: Engine) -> None:
        """Begin what can be begun; if that is nothing at all, say whom the run waits for."""
        while engine.room() > 0:
            ready = (each for each in self._ready() if engine.takes(each))
            stage = next((each for each in ready if self._holder(each) is None), None)
            if stage is None:
                break
            self.in_work[stage.digest] = self.left.pop(stage.digest)
            self._observer.started(stage, index=self._count - len(self.left), count=self._count)
            engine.start(stage, self._take)
        if not self.in_work:
            self._tell_of_wait()

    def _ready(self) -> Iterator[Stage]:
        return (stage for digest, stage in self.left.items() if not self._awaited[digest])

    def _holder(self, stage: Stage) -> str | None:
        # An engine may know of another run better than this machine's locks do.
        return self.gave_way.get(stage.digest) or self._store.holder(stage)

    def _tell_of_wait(self) -> None:
        stage = next(self._ready(), None)
        holder = self._holder(stage) if stage else None
        if stage and holder and stage.digest not in self._told_of:
            self._told_of.add(stage.digest)
            self._observer.waiting(stage, holder=holder)

    def _take(self, event: Event) -> None:
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
                self._finish(stage)
            case Reused():
                self._observer.reused(stage)
                self._is_there(stage, self.reused)
            case Failed(_, error):
                self._fail(stage, error)
        del self.in_work[event.digest]

    def _finish(self, stage: Stage) -> None:
        try:
            seconds = self._store.record(stage).seconds
        except IsoglotError as error:
            self._fail(stage, error)
            return
        self._observer.finished(stage, seconds=seconds)
        self._is_there(stage, self.made)

    def _is_there(self, stage: Stage, where: list[Stage]) -> None:
        where.append(stage)
        for awaited in self._awaited.values():
            awaited.discard(stage.digest)

    def _fail(self, stage: Stage, error: IsoglotError) -> None:
        self.failed[stage.digest] = error
        self._observer.failed(stage, error=error)
        wanted = set().union(*(stages for stages in self._rests_on if stages.isdisjoint(self.failed)))
        lost = [digest for digest in self.left if digest not in wanted]
        self.skipped += [self.left.pop(digest) for digest in lost]


class Observers(Observer):
    """Each is told everything, in the order they are given."""

    def __init__(self, *members: Observer) -> None:
        self._members = members

    def started(self, stage: Stage, *, index: int, count: int) -> None:
        for each in self._members:
            each.started(stage, index=index, count=count)

    def progress(self, stage: Stage, *, done: float, total: float, unit: str, note: str) -> None:
        for each in self._members:
            each.progress(stage, done=done, total=total, unit=unit, note=note)

    def queued(self, stage: Stage, *, where: str) -> None:
        for each in self._members:
            each.queued(stage, where=where)

    def gave_way(self, stage: Stage) -> None:
        for each in self._members:
            each.gave_way(stage)

    def waiting(self, stage: Stage, *, holder: str) -> None:
        for each in self._members:
            each.waiting(stage, holder=holder)

    def finished(self, stage: Stage, *, seconds: float) -> None:
        for each in self._members:
            each.finished(stage, seconds=seconds)

    def reused(self, stage: Stage) -> None:
        for each in self._members:
            each.reused(stage)

    def failed(self, stage: Stage, *, error: IsoglotError) -> None:
        for each in self._members:
            each.failed(stage, error=error)
