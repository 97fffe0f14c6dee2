"""What a study will do, told before it does it."""

from collections.abc import Container, Iterable, Iterator, Sequence
from textwrap import fill

from rich.table import Table

from isoglot.corpora.words import splitter_version
from isoglot.pipeline.exhibits import gap_sentences, left_out_sentences
from isoglot.report.model_costs import DiskNeed, ModelCost, costs_here
from isoglot.report.quantities import duration, short_number, size_in_bytes
from isoglot.store import PlannedStage, State, Store
from isoglot.study.languages import LANGUAGES, language_of
from isoglot.study.real_text import RealText
from isoglot.study.study import Study

WIDTH = 80
"""Of the narrowest terminal that people use."""


def costs_in_brief(planned: Sequence[PlannedStage], store: Store) -> Iterator[str]:
    """Of a plan on this machine, in a line; an error if it has no room for a single model."""
    costs, need = costs_here(planned, store)
    yield from cost_lines(costs, need)
    need.refuse_if_hopeless()


def costs_in_full(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[str]:
    """A block of lines for each size of model, what they come to together, and warnings."""
    if not costs:
        return
    for cost in costs:
        yield from _block(cost)
    num_models = sum(len(cost.encoders) for cost in costs)
    yield (
        f"{_counted(num_models)} in all: {size_in_bytes(need.finished_bytes)} on disk, "
        f"{size_in_bytes(need.passing_bytes)} more while one is made"
    )
    yield from _time_together(costs)
    yield from _warnings(costs, need)


def cost_lines(costs: Sequence[ModelCost], need: DiskNeed) -> Iterator[str]:
    """Totals in a line, and warnings."""
    if not costs:
        return
    num_models = sum(len(cost.encoders) for cost in costs)
    parameters = _range(cost.footprint.parameters for cost in costs)
    tokens = _range(cost.run.tokens for cost in costs)
    each = " each" if num_models > 1 else ""
    peak = size_in_bytes(max(cost.footprint.peak_bytes for cost in costs))
    yield (
        f"  {_counted(num_models)} of {parameters} parameters, {tokens} tokens{each}: {peak} of memory at most, "
        f"{size_in_bytes(need.finished_bytes)} on disk"
    )
    yield from _warnings(costs, need)


def _block(cost: ModelCost) -> Iterator[str]:
    """Of one size of model: who they are, and below what one of them takes."""
    conditions = dict.fromkeys(encoder.label.partition(",")[0] for encoder in cost.encoders)
    title = f"{_counted(len(cost.encoders))}: {', '.join(conditions)}"
    yield fill(title, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    footprint, disk, run = cost.footprint, cost.disk, cost.run
    subwords = "+".join(short_number(size) for size in _own_tables(cost))
    about = "" if cost.tables.are_known else "about "
    each = " each" if len(cost.encoders) > 1 else ""
    yield _row("size", f"{about}{subwords} subwords, {short_number(footprint.parameters)} parameters")
    yield _row("training", f"{short_number(run.tokens)} tokens{each} in {short_number(run.updates)} updates")
    yield _row("at once", f"{footprint.rows} of {run.batch} windows")
    yield _row("memory", size_in_bytes(footprint.peak_bytes) + ("" if cost.fits else ", too much here"))
    yield _row(
        "disk", f"{size_in_bytes(disk.finished_bytes)}{each}; a checkpoint {size_in_bytes(disk.checkpoint_bytes)}"
    )
    if cost.seconds is not None and cost.tokens_per_second is not None:
        yield _row("time here", f"{duration(cost.seconds)}{each} ({short_number(cost.tokens_per_second)} tokens/s)")


def _row(name: str, value: str) -> str:
    return f"  {name:<11}{value}"


def _time_together(costs: Sequence[ModelCost]) -> Iterator[str]:
    """Of all models whose size was timed."""
    measured = [cost for cost in costs if cost.seconds is not None]
    num_models = sum(len(cost.encoders) for cost in measured)
    if not num_models:
        return
    models_left = sum(cost.models_left for cost in measured)
    line = f"about {duration(sum(cost.models_left * (cost.seconds or 0) for cost in measured))} of pretraining here"
    line += f" for {num_models} of them" if len(measured) < len(costs) else ""
    line += ", one after the other" if num_models > 1 else ""
    yield line + (", without what was done before" if models_left < num_models else "")


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


NEXT, IN_WORK = "next", "in work"


def outlook(study: Study, planned: Sequence[PlannedStage]) -> Iterator[str]:
    """What is to be made, how the words of each real language are found, what is left out, and what has no data."""
    yield _plan_line(study, planned)
    if isinstance(study.text, RealText):
        yield from _word_lines(study.text)
    for sentence in (*left_out_sentences(study), *gap_sentences(study)):
        yield f"  {sentence}"


def plan_table(planned: Sequence[PlannedStage], store: Store) -> Table:
    """Every stage: its state, size and cost."""
    done = {each.stage.digest for each in planned if each.state is State.DONE}
    table = Table("Stage", "State", "Size", "Estimate", box=None, header_style="bold")
    for each in planned:
        size = "" if each.amount is None else f"{short_number(each.amount.units)} {each.amount.of}"
        guess = "? " if each.guessed else ""
        estimate = "unknown" if each.seconds_estimate is None else guess + duration(each.seconds_estimate)
        table.add_row(
            each.stage.title, _state(each, done=done, store=store), size, "" if each.state is State.DONE else estimate
        )
    return table


def _state(planned: PlannedStage, *, done: Container[str], store: Store) -> str:
    """As the plan has it, or "next" where all is there that it is made from, or "in work" where a run is at it."""
    if planned.state in (State.TO_DO, State.INTERRUPTED) and store.holder(planned.stage) is not None:
        return IN_WORK + _percent(planned)
    is_next = planned.state is State.TO_DO and all(digest in done for digest in planned.stage.input_digests.values())
    return NEXT if is_next else planned.state.value + _percent(planned)


def _percent(planned: PlannedStage) -> str:
    return f", {planned.share_done:.0%} done" if planned.share_done else ""


def _plan_line(study: Study, planned: Sequence[PlannedStage]) -> str:
    left = [each for each in planned if each.state is not State.DONE]
    line = f"{study.name}: {len(planned) - len(left)} artifacts done, {len(left)} to make"
    if not left:
        return line
    amounts = [(each.amount, each.share_left) for each in left if each.amount is not None]
    tokens = sum(amount.units * share for amount, share in amounts if amount.of == "tokens")
    line += f", {short_number(tokens)} tokens of training" if tokens else ""
    known = {each.stage.digest: each.seconds_estimate for each in left if each.seconds_estimate is not None}
    if not known:
        return f"{line}; how long that takes is seen when it has run once in this store"
    line += f", about {duration(sum(known.values()))}" + (" one after the other" if len(known) > 1 else "")
    guessed = [known[each.stage.digest] for each in left if each.guessed]
    if guessed:
        share = "" if len(guessed) == len(known) else f"{duration(sum(guessed))} of it "
        line += f", {share}guessed for two CPU cores"
    unknown = len(left) - len(known)
    return line + (f", without {unknown} of kinds never run in this store" if unknown else "")


def _word_lines(text: RealText) -> Iterator[str]:
    for code, splitting in text.splittings.items():
        line = f"  words of {code}: {splitting.splitter.value} ({splitter_version(splitting)})"
        line += ", in lower case" if splitting.lowercase else ""
        by_default = splitting.splitter is language_of(code).splitter and code not in LANGUAGES
        yield line + (f"; {language_of(code).remark}" if by_default else "")
