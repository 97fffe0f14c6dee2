"""A plan before a long run: stages, tokens, parameters, memory, disk and estimated time."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill

from rich.table import Table

from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError, option
from isoglot.hardware import FreeMemory, free_memory_here, machine_in_brief
from isoglot.machine import processes_per_model
from isoglot.pipeline.exhibits import gap_sentences, left_out_sentences
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder, table_sizes
from isoglot.pretraining.footprint import DiskUse, Footprint, TooLargeError, micro_batch
from isoglot.report.quantities import duration, short_number, size_in_bytes
from isoglot.store import PlannedStage, Stage, State, Store
from isoglot.study.languages import LANGUAGES, language_of
from isoglot.study.real_text import RealText
from isoglot.study.study import Study

# The narrowest terminal that people use.
WIDTH = 80


@dataclass(frozen=True, kw_only=True)
class ModelCost:
    """The cost of models that are as large as each other; disk and seconds are those of one."""

    encoders: tuple[PretrainedEncoder, ...]
    footprint: Footprint
    has_vocabulary: bool
    """Whether the sizes of its tables are known, and no estimates."""
    fits: bool
    """Whether there is memory here for at least one window at a time."""
    tokens_per_second: float | None = None
    """On this machine, once it is measured."""

    @property
    def disk(self) -> DiskUse:
        return DiskUse(run=self.footprint.run, table_sizes=self.footprint.table_sizes)

    @property
    def seconds(self) -> float | None:
        return None if self.tokens_per_second is None else self.footprint.run.tokens / self.tokens_per_second


@dataclass(frozen=True, kw_only=True)
class DiskNeed:
    """Room for models, trained and untrained, that a store still lacks, if they are made one after the other."""

    store: Path
    finished_bytes: int
    passing_bytes: int
    """The most that one of them takes besides, while it is made."""
    least_bytes: int
    """The need of the smallest model while it is made."""
    free_bytes: int

    def refuse_if_hopeless(self) -> None:
        """Raise an error, before anything begins, if not one of the models can be finished."""
        if self.least_bytes > self.free_bytes:
            needs = f"a model of this study needs {size_in_bytes(self.least_bytes)} while it is made"
            has = f"the store {self.store} has {size_in_bytes(self.free_bytes)} free"
            raise IsoglotError(f"{needs}, and {has}: {_more_room()}")


def costs_here(planned: Sequence[PlannedStage], store: Store) -> tuple[list[ModelCost], DiskNeed]:
    """The costs with the memory that is free now; an error if the environment asks for the impossible."""
    lacks_models = any(isinstance(stage, PretrainedEncoder) for stage in _left(planned))
    costs = model_costs(planned, store, free=free_memory_here()) if lacks_models else []
    return costs, disk_need(planned, store, costs=costs)


def model_costs(planned: Sequence[PlannedStage], store: Store, *, free: FreeMemory) -> list[ModelCost]:
    """All pretraining that is left to do, one entry for each size of model."""
    alike: dict[tuple[object, ...], ModelCost] = {}
    processes = processes_per_model()
    for stage in _left(planned):
        if isinstance(stage, PretrainedEncoder):
            run, tables = stage.run, table_sizes(stage, store)
            sizes = tables.by_language
            # Neither the languages nor the seed of a model change what it costs.
            bare = replace(run, languages=(), seed=0)
            key = (bare, *(sizes[language] for language in run.languages), tables.are_known)
            if key in alike:
                alike[key] = replace(alike[key], encoders=(*alike[key].encoders, stage))
                continue
            try:
                windows, fits = micro_batch(run, table_sizes=sizes, free=free, processes=processes), True
            except TooLargeError:
                windows, fits = 1, False
            memory = Footprint(run=run, table_sizes=sizes, device=free.device, micro_batch=windows, processes=processes)
            alike[key] = ModelCost(encoders=(stage,), footprint=memory, has_vocabulary=tables.are_known, fits=fits)
    return [*alike.values()]


def disk_need(planned: Sequence[PlannedStage], store: Store, *, costs: Sequence[ModelCost]) -> DiskNeed:
    # What an interrupted attempt has written is room that it need not find again.
    untrained, present = 0, 0
    for stage in _left(planned):
        if isinstance(stage, UntrainedEncoder):
            untrained += DiskUse(run=stage.run, table_sizes=table_sizes(stage, store).by_language).model_bytes
        if isinstance(stage, PretrainedEncoder) and store.is_interrupted(stage):
            files = (path for path in store.partial_folder(stage).rglob("*") if path.is_file())
            present += sum(path.stat().st_size for path in files)
    # A store that is still to be made will lie on the disk of the nearest folder above it.
    existing = next(each for each in (store.root, *store.root.parents) if each.exists())
    return DiskNeed(
        store=store.root,
        finished_bytes=untrained + sum(len(cost.encoders) * cost.disk.finished_bytes for cost in costs),
        passing_bytes=max((cost.disk.passing_bytes for cost in costs), default=0),
        least_bytes=min((cost.disk.finished_bytes + cost.disk.passing_bytes for cost in costs), default=0),
        free_bytes=shutil.disk_usage(existing).free + present,
    )


def _left(planned: Sequence[PlannedStage]) -> list[Stage]:
    return [each.stage for each in planned if each.state is not State.DONE]


def timed(
    costs: Sequence[ModelCost], *, speed: Callable[[Footprint], float], say: Callable[[str], None]
) -> list[ModelCost]:
    """The costs with the speed of each size that fits; `say` announces that it will take a while."""
    fitting = sum(cost.fits for cost in costs)
    if fitting:
        say(f"timing {fitting} {'size' if fitting == 1 else 'sizes'} of model here ({machine_in_brief()}) ...")
    return [replace(cost, tokens_per_second=speed(cost.footprint)) if cost.fits else cost for cost in costs]


def speed_here(footprint: Footprint) -> float:
    """Tokens a second, from some seconds of training on made-up text in one process."""
    from isoglot.machine import this_machine
    from isoglot.pretraining.calibration import tokens_per_second

    sizes, windows = footprint.table_sizes, footprint.micro_batch
    return tokens_per_second(footprint.run, table_sizes=sizes, machine=this_machine(), micro_batch=windows)


def with_measured_times(planned: Sequence[PlannedStage], costs: Sequence[ModelCost]) -> tuple[PlannedStage, ...]:
    # What is measured here counts for more than guesses, and than what the store's other models took elsewhere.
    seconds = {encoder.digest: cost.seconds for cost in costs for encoder in cost.encoders if cost.seconds is not None}
    return tuple(
        replace(each, seconds_estimate=seconds[each.stage.digest] * each.share_left, guessed=False)
        if each.stage.digest in seconds
        else each
        for each in planned
    )


def costs_in_brief(planned: Sequence[PlannedStage], store: Store) -> Iterator[str]:
    """The costs of a plan on this machine in a line; an error if it has no room for a single model."""
    costs, need = costs_here(planned, store)
    yield from cost_lines(costs, need)
    need.refuse_if_hopeless()


def cost_lines(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[str]:
    """Totals in a line, and warnings."""
    if not costs:
        return
    parameters, tokens = [cost.footprint.parameters for cost in costs], [cost.footprint.run.tokens for cost in costs]
    peak = size_in_bytes(max(cost.footprint.peak_bytes for cost in costs))
    yield (
        f"  {_counted(sum(len(cost.encoders) for cost in costs))} of {_range(parameters)} parameters, {_range(tokens)} "
        f"tokens each: {peak} of memory at most, {size_in_bytes(need.finished_bytes)} on disk"
    )
    if not all(cost.fits for cost in costs):
        yield "  not all of them fit into the memory that is free here now"
    if need.finished_bytes + need.passing_bytes > need.free_bytes:
        free = f"only {size_in_bytes(need.free_bytes)} are free in {need.store}"
        yield f"  {free}, too little for all of them: {_more_room()}"


def costs_in_full(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[str]:
    """A few lines for each size of model, then the totals and warnings."""
    for cost in costs:
        conditions = dict.fromkeys(encoder.label.partition(",")[0] for encoder in cost.encoders)
        run, sizes = cost.footprint.run, list(cost.footprint.table_sizes.values())
        subwords = "+".join(map(short_number, sizes if run.separate.embeddings else sizes[:1]))
        facts = [
            f"{'' if cost.has_vocabulary else 'about '}{subwords} subwords",
            f"{short_number(cost.footprint.parameters)} parameters",
            f"{short_number(run.tokens)} tokens in {short_number(run.updates)} updates",
            f"{size_in_bytes(cost.footprint.peak_bytes)} of memory{'' if cost.fits else ' (too much here)'}",
            f"{size_in_bytes(cost.disk.finished_bytes)} on disk",
        ]
        if cost.seconds is not None and cost.tokens_per_second is not None:
            facts.append(f"{duration(cost.seconds)} here ({short_number(cost.tokens_per_second)} tokens/s)")
        for text in (f"{_counted(len(cost.encoders))}: {', '.join(conditions)}", f"  each {', '.join(facts)}"):
            yield fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    yield from cost_lines(costs, need)


def outlook(study: Study, planned: Sequence[PlannedStage], *, is_timed: bool = False) -> Iterator[str]:
    """The work left, how the words of each real language are found, what is left out, and what has no data.

    How long the work takes is left out where that was said already, by a measurement.
    """
    yield _plan_line(study, planned, is_timed=is_timed)
    if isinstance(study.text, RealText):
        for code in study.languages:
            splitting = study.text.splittings[code]
            line = f"  words of {code}: {splitting.splitter.value} ({splitter_version(splitting)})"
            line += ", in lower case" if splitting.lowercase else ""
            # A language that isoglot does not know may deserve a better splitter than the one it gets.
            by_default = splitting.splitter is language_of(code).splitter and code not in LANGUAGES
            yield line + (f"; {language_of(code).remark}" if by_default else "")
    for sentence in (*left_out_sentences(study), *gap_sentences(study)):
        yield f"  {sentence}"


def _plan_line(study: Study, planned: Sequence[PlannedStage], *, is_timed: bool) -> str:
    left = [each for each in planned if each.state is not State.DONE]
    line = f"{study.name}: {len(planned) - len(left)} artifacts done, {len(left)} to make"
    if not left:
        return line
    amounts = [(each.amount, each.share_left) for each in left if each.amount is not None]
    tokens = sum(amount.units * share for amount, share in amounts if amount.of == "tokens")
    line += f", {short_number(tokens)} tokens of training" if tokens else ""
    if is_timed:
        return line
    known = [each for each in left if each.seconds_estimate is not None]
    if not known:
        return f"{line}; how long that takes is seen when it has run once in this store"
    line += f", about {_time(known)}" + (" one after the other" if len(known) > 1 else "")
    if guessed := [each for each in known if each.guessed]:
        line += f", {'' if len(guessed) == len(known) else f'{_time(guessed)} of it '}guessed for two CPU cores"
    unknown = len(left) - len(known)
    return line + (f", without {unknown} of kinds never run in this store" if unknown else "")


def plan_parts(planned: Sequence[PlannedStage], store: Store) -> Iterator[str | Table]:
    """How many stages of each kind are done, then a table of all that are left, if any are."""
    kinds = Counter(each.stage.kind for each in planned if each.state is State.DONE)
    if kinds:
        # No line may end between a number and its kind.
        counts = ", ".join(f"{number}\N{NO-BREAK SPACE}{kind}" for kind, number in kinds.items())
        lines = fill(f"done: {counts}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        yield lines.replace("\N{NO-BREAK SPACE}", " ")
    if not _left(planned):
        return
    done = {each.stage.digest for each in planned if each.state is State.DONE}
    table = Table("Stage", "State", "Size", "Estimate", box=None, header_style="bold")
    for each in planned:
        if each.stage.digest not in done:
            size = "" if each.amount is None else f"{short_number(each.amount.units)} {each.amount.of}"
            estimate = "unknown" if each.seconds_estimate is None else f"{'? ' if each.guessed else ''}{_time([each])}"
            table.add_row(each.stage.title, _state(each, done=done, store=store), size, estimate)
    yield table


def _state(planned: PlannedStage, *, done: Container[str], store: Store) -> str:
    """The plan's own state; "next" where all inputs are done, "in work" where a run holds the stage."""
    percent = f", {planned.share_done:.0%} done" if planned.share_done else ""
    if planned.state in (State.TO_DO, State.INTERRUPTED) and store.holder(planned.stage) is not None:
        return f"in work{percent}"
    is_next = planned.state is State.TO_DO and all(digest in done for digest in planned.stage.input_digests.values())
    return "next" if is_next else planned.state.value + percent


def _time(planned: Iterable[PlannedStage]) -> str:
    return duration(sum(each.seconds_estimate or 0.0 for each in planned))


def _more_room() -> str:
    return f"free some, or choose a store on another disk with {option('store')}"


def _counted(num_models: int) -> str:
    return "1 model" if num_models == 1 else f"{num_models} models"


def _range(values: Iterable[float]) -> str:
    """ "1.2M", or "1.2M to 1.9M"."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(short_number(value) for value in (ordered[0], ordered[-1])))
