"""Costs of models, for people: a table before a long run, or one line."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from isoglot.artifacts import PlannedStage, Store
from isoglot.report.model_costs import DiskNeed, ModelCost, costs_here
from isoglot.report.quantities import duration, short_number, size_in_bytes


def costs_in_full(planned: Sequence[PlannedStage], store: Store, *, calibrate: bool) -> Iterator[RenderableType]:
    """Of a plan on this machine: a table with a row for each size of model, and what they come to together."""
    costs, need = costs_here(planned, store, calibrate=calibrate)
    yield from told_costs(costs, need)


def costs_in_brief(planned: Sequence[PlannedStage], store: Store) -> Iterator[str]:
    """Of a plan on this machine, in a line; an error if it has no room for a single model."""
    costs, need = costs_here(planned, store)
    yield from cost_lines(costs, need)
    need.refuse_if_hopeless()


def told_costs(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[RenderableType]:
    """A table, totals, and warnings."""
    if not costs:
        return
    yield _table(costs)
    num_models = sum(len(cost.encoders) for cost in costs)
    line = f"{_counted(num_models)}: {size_in_bytes(need.finished_bytes)} on disk, "
    line += f"{size_in_bytes(need.passing_bytes)} more while one is made"
    seconds = [len(cost.encoders) * cost.seconds for cost in costs if cost.seconds is not None]
    line += f", about {duration(sum(seconds))} of pretraining here" if seconds else ""
    yield line
    yield from _warnings(costs, need)


def cost_lines(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[str]:
    """Totals in a line, and warnings."""
    if not costs:
        return
    num_models = sum(len(cost.encoders) for cost in costs)
    parameters = _range(cost.footprint.parameters for cost in costs)
    tokens = _range(cost.run.tokens for cost in costs)
    peak = size_in_bytes(max(cost.footprint.peak_bytes for cost in costs))
    yield (
        f"  {_counted(num_models)} of {parameters} parameters, {tokens} tokens each: {peak} of memory at most, "
        f"{size_in_bytes(need.finished_bytes)} on disk"
    )
    yield from _warnings(costs, need)


def _table(costs: Sequence[ModelCost]) -> Table:
    timed = any(cost.seconds is not None for cost in costs)
    table = Table(
        *("Models", "Conditions", "Subwords", "Parameters", "Tokens", "Updates", "At once", "Memory", "Checkpoint"),
        *("On disk", *(["Time here"] if timed else [])),
        box=None,
        header_style="bold",
    )
    for cost in costs:
        footprint, disk, about = cost.footprint, cost.disk, "" if cost.tables.are_known else "about "
        table.add_row(
            str(len(cost.encoders)),
            ", ".join(dict.fromkeys(encoder.label.partition(",")[0] for encoder in cost.encoders)),
            about + "+".join(short_number(size) for size in _own_tables(cost)),
            short_number(footprint.parameters),
            short_number(cost.run.tokens),
            short_number(cost.run.updates),
            f"{footprint.rows} of {cost.run.batch} windows",
            size_in_bytes(footprint.peak_bytes) + ("" if cost.fits else ", too much here"),
            size_in_bytes(disk.checkpoint_bytes),
            size_in_bytes(disk.finished_bytes),
            *([_time(cost)] if timed else []),
        )
    return table


def _time(cost: ModelCost) -> str:
    if cost.seconds is None or cost.tokens_per_second is None:
        return ""
    return f"{duration(cost.seconds)} ({short_number(cost.tokens_per_second)} tokens/s)"


def _own_tables(cost: ModelCost) -> list[int]:
    sizes = list(cost.tables.by_language.values())
    return sizes if cost.run.separate.embeddings else sizes[:1]


def _warnings(costs: Iterable[ModelCost], need: DiskNeed) -> Iterator[str]:
    if not all(cost.fits for cost in costs):
        yield "  not all of them fit into the memory that is free here now"
    if need.is_short:
        yield (
            f"  only {size_in_bytes(need.free_bytes)} are free in {need.store}, too little for all of them: "
            "free some, or choose a store on another disk with --store"
        )


def _counted(num_models: int) -> str:
    return "1 model" if num_models == 1 else f"{num_models} models"


def _range(values: Iterable[float]) -> str:
    """ "1.2M", or "1.2M to 1.9M"."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(short_number(value) for value in (ordered[0], ordered[-1])))
