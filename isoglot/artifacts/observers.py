"""Several observers of one run."""

from isoglot.artifacts.executor import Observer
from isoglot.artifacts.stage import Stage
from isoglot.errors import IsoglotError


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
