"""What a study will do, told before it does it."""

from collections.abc import Container, Iterator, Sequence

from rich.table import Table

from isoglot.corpora.words import splitter_version
from isoglot.pipeline.exhibits import gap_sentences, left_out_sentences
from isoglot.report.quantities import duration, short_number
from isoglot.store import PlannedStage, State, Store
from isoglot.study.languages import LANGUAGES, language_of
from isoglot.study.real_text import RealText
from isoglot.study.study import Study

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
