"""What the models that a study still lacks will cost: memory, time and room on the disk."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.hardware import FreeMemory, free_memory_here
from isoglot.machine import processes_per_model
from isoglot.pipeline.stages.models import PretrainedEncoder, TableSizes, UntrainedEncoder, table_sizes
from isoglot.pretraining.footprint import DiskUse, Footprint, TooLargeError, micro_batch
from isoglot.pretraining.run import PretrainingRun
from isoglot.report.quantities import size_in_bytes
from isoglot.store import PlannedStage, State, Store

Speed = Callable[[Footprint], float]
"""Tokens a second, of a run with its micro-batch."""


@dataclass(frozen=True, kw_only=True)
class ModelCost:
    """Of models that are as large as each other."""

    encoders: tuple[PretrainedEncoder, ...]
    tables: TableSizes
    footprint: Footprint
    fits: bool
    """Whether there is memory here for one window at a time at least."""
    shares_left: Mapping[str, float] = field(default_factory=dict)
    """Of the training of those that were interrupted, by digest."""
    tokens_per_second: float | None = None
    """On this machine, once it is measured."""

    @property
    def run(self) -> PretrainingRun:
        """Of one of them."""
        return self.encoders[0].run

    @property
    def disk(self) -> DiskUse:
        """Of one of them."""
        return DiskUse(run=self.run, table_sizes=self.tables.by_language)

    @property
    def seconds(self) -> float | None:
        """Of training one of them from the beginning."""
        return None if self.tokens_per_second is None else self.run.tokens / self.tokens_per_second

    @property
    def models_left(self) -> float:
        """To train, of an interrupted one what is left of it."""
        return sum(self.shares_left.get(encoder.digest, 1.0) for encoder in self.encoders)


def model_costs(planned: Sequence[PlannedStage], store: Store, *, free: FreeMemory) -> list[ModelCost]:
    """Of all pretraining that is left to do, one for each size of model."""
    alike: dict[tuple[object, ...], list[tuple[PretrainedEncoder, TableSizes]]] = {}
    for each in planned:
        if isinstance(each.stage, PretrainedEncoder) and each.state is not State.DONE:
            tables = table_sizes(each.stage, store)
            alike.setdefault(_size(each.stage.run, tables), []).append((each.stage, tables))
    shares_left = {each.stage.digest: each.share_left for each in planned if each.share_done}
    costs = (_cost(tuple(encoder for encoder, _ in found), tables=found[0][1], free=free) for found in alike.values())
    return [replace(cost, shares_left=shares_left) for cost in costs]


def _size(run: PretrainingRun, tables: TableSizes) -> tuple[object, ...]:
    """All that decides the cost: not which languages are read, nor with which seed."""
    sizes = tuple(tables.by_language[language] for language in run.languages)
    return replace(run, languages=(), seed=0), sizes, tables.are_known


def _cost(encoders: tuple[PretrainedEncoder, ...], *, tables: TableSizes, free: FreeMemory) -> ModelCost:
    run, sizes, processes = encoders[0].run, tables.by_language, processes_per_model()
    try:
        windows, fits = micro_batch(run, table_sizes=sizes, free=free, processes=processes), True
    except TooLargeError:
        windows, fits = 1, False
    footprint = Footprint(run=run, table_sizes=sizes, device=free.device, micro_batch=windows, processes=processes)
    return ModelCost(encoders=encoders, tables=tables, footprint=footprint, fits=fits)


def timed(costs: Sequence[ModelCost], *, speed: Speed, say: Callable[[str], None]) -> list[ModelCost]:
    """With the speed of each size that fits; says first that it will take a while."""
    fitting = sum(cost.fits for cost in costs)
    if fitting:
        say(f"timing {fitting} {'size' if fitting == 1 else 'sizes'} of model here ...")
    return [replace(cost, tokens_per_second=speed(cost.footprint)) if cost.fits else cost for cost in costs]


def with_measured_times(planned: Sequence[PlannedStage], costs: Sequence[ModelCost]) -> tuple[PlannedStage, ...]:
    """The plan, with times measured here in place of guesses and of what the store's other models took."""
    seconds = {encoder.digest: cost.seconds for cost in costs for encoder in cost.encoders if cost.seconds is not None}
    return tuple(
        replace(each, seconds_estimate=seconds[each.stage.digest] * each.share_left, guessed=False)
        if each.stage.digest in seconds
        else each
        for each in planned
    )


def speed_here(footprint: Footprint) -> float:
    """Tokens a second, from some seconds of training on made-up text in one process."""
    from isoglot.machine import this_machine
    from isoglot.pretraining.calibration import tokens_per_second

    return tokens_per_second(
        footprint.run,
        table_sizes=footprint.table_sizes,
        machine=this_machine(),
        micro_batch=footprint.micro_batch,
    )


@dataclass(frozen=True, kw_only=True)
class DiskNeed:
    """Of models, trained and untrained, that a store still lacks; of other artifacts nothing is known beforehand."""

    store: Path
    finished_bytes: int
    passing_bytes: int
    """Most that one of them takes beside, while it is made."""
    least_bytes: int
    """Of the model that takes least, while it is made."""
    present_bytes: int
    """Of them, from attempts that were interrupted."""
    free_bytes: int

    @classmethod
    def of(cls, planned: Sequence[PlannedStage], store: Store, *, costs: Sequence[ModelCost]) -> "DiskNeed":
        """If they are made one after the other."""
        left = [each.stage for each in planned if each.state is not State.DONE]
        untrained = [
            DiskUse(run=stage.run, table_sizes=table_sizes(stage, store).by_language).model_bytes
            for stage in left
            if isinstance(stage, UntrainedEncoder)
        ]
        interrupted = [stage for stage in left if isinstance(stage, PretrainedEncoder) and store.is_interrupted(stage)]
        return cls(
            store=store.root,
            finished_bytes=sum(untrained) + sum(len(cost.encoders) * cost.disk.finished_bytes for cost in costs),
            passing_bytes=max((cost.disk.passing_bytes for cost in costs), default=0),
            least_bytes=min((cost.disk.finished_bytes + cost.disk.passing_bytes for cost in costs), default=0),
            present_bytes=sum(_bytes_under(store.partial_folder(stage)) for stage in interrupted),
            free_bytes=_free_bytes(store.root),
        )

    @property
    def is_short(self) -> bool:
        """Whether there is no room for all of them."""
        return self.finished_bytes + self.passing_bytes > self.free_bytes + self.present_bytes

    def refuse_if_hopeless(self) -> None:
        """An error, before anything is begun, if not one of the models can be finished."""
        if self.least_bytes > self.free_bytes + self.present_bytes:
            raise IsoglotError(
                f"a model of this study needs {size_in_bytes(self.least_bytes)} while it is made, and the store "
                f"{self.store} has {size_in_bytes(self.free_bytes)} free: free some, or choose a store on another disk "
                "with --store"
            )


def costs_here(planned: Sequence[PlannedStage], store: Store) -> tuple[list[ModelCost], DiskNeed]:
    """With the memory that is free now; an error if the environment asks for what no machine has."""
    if not any(isinstance(each.stage, PretrainedEncoder) and each.state is not State.DONE for each in planned):
        return [], DiskNeed.of(planned, store, costs=[])
    costs = model_costs(planned, store, free=free_memory_here())
    return costs, DiskNeed.of(planned, store, costs=costs)


def _free_bytes(folder: Path) -> int:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(existing).free


def _bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
