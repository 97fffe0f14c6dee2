"""Sections of words and tables: claims, conditions, vocabularies, differences, missing numbers and provenance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isoglot.hardware import Hardware
from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.condition_words import DESCRIPTION, described, in_words, shown_conditions
from isoglot.report.difference import (
    ABSENT,
    NO_NUMBER,
    NO_SETTING,
    Changed,
    Kind,
    by_exhibit,
    circumstances_title,
    of_kind,
    plain_text,
)
from isoglot.report.page.section import Block, Custom, Folded, Heading, Listing, Section, Table, Text, words_table
from isoglot.report.provenance import Making, Provenance
from isoglot.report.quantities import duration, size_in_bytes
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import Log, State
from isoglot.report.verdicts import Claim, Verdict, seed_remarks
from isoglot.report.vocabulary import CAPTION, HEADINGS, vocabulary_tables
from isoglot.study.conditions import label_of
from isoglot.study.study import Study, Synthetic

MARKS = {Verdict.AGREES: "✓", Verdict.DISAGREES: "✕", Verdict.TOO_CLOSE: "≈", Verdict.NOT_TESTED: "○"}
OF_PAPER = {
    Verdict.AGREES: "The same test on the paper's numbers agrees",
    Verdict.DISAGREES: "The same test on the paper's numbers disagrees",
    Verdict.TOO_CLOSE: "The same test on the paper's numbers is too close to call",
    Verdict.NOT_TESTED: "The same test on the paper's numbers",
}
CONTRADICTED = "The numbers that the paper itself prints disagree with this."
MOST_LINES = 12
"""Lines of a list that are shown unfolded."""
FILES = ("measurements.jsonl", "provenance.json", "curves.jsonl", "state.json")
UNKNOWN = "unknown"


def page_head(study: Study, state: State) -> dict[str, Any]:
    """The top of the page: the study, the size of its models, and how far it is."""
    done = state.cells - state.cells_lacking
    failed = f" {len(state.failures)} failed." if state.failures else ""
    is_whole = not state.cells_lacking and not state.failures
    return {
        "name": study.name,
        "languages": " and ".join([", ".join(study.languages[:-1]), study.languages[-1]]),
        "models": _models(study),
        "status": "" if is_whole else f"{done:,} of {state.cells:,} results are there; the rest is pending.{failed}",
        "failed": bool(failed),
        "done": done,
        "cells": state.cells,
    }


def _models(study: Study) -> str:
    if not {*study.exhibits} - {VOCABULARY}:
        return "Vocabularies alone: no model was asked for."
    scale = study.scale
    seeds = ("seed " if len(study.seeds) == 1 else "seeds ") + ", ".join(map(str, study.seeds))
    if fewer := [
        exhibit for exhibit, only in study.only.items() if not all(only.keeps("seeds", seed) for seed in study.seeds)
    ]:
        seeds += f" (not all of them for {', '.join(fewer)})"
    return (
        f"Scale {scale.name}: {scale.shape.layers} layers of width {scale.shape.width}, {scale.tokens:,} tokens a "
        f"model; {seeds}{'; the languages are made up' if isinstance(study.text, Synthetic) else ''}."
    )


def claims_section(scores: ReportScores) -> Section:
    """The paper's claims, and this study's verdict on each."""
    judged = scores.claims
    tested = [claim for claim in judged if claim.verdict is not Verdict.NOT_TESTED]
    untested = [claim for claim in judged if claim.verdict is Verdict.NOT_TESTED]
    of_all, of_each = seed_remarks(tested)
    counts = [(verdict, sum(claim.verdict is verdict for claim in judged)) for verdict in Verdict]
    blocks: list[Block] = [
        Custom("claims.html", {"tally": [(verdict, count) for verdict, count in counts if count], "marks": MARKS}),
        *(Text(sentence) for sentence in (scores.transfer_evidence.noise.sentence(), of_all) if sentence),
        *([_claim_lines(tested, seeds=of_each)] if tested else []),
    ]
    if untested:
        title = f"{len(untested)} claims that this study does not test"
        blocks.append(Folded(title, [_claim_lines(untested, seeds={})]))
    return Section(anchor="claims", blocks=blocks, has_published=True)


def _claim_lines(judged: Sequence[Claim], *, seeds: Mapping[str, str]) -> Block:
    words = {"marks": MARKS, "of_paper": OF_PAPER, "contradicted": CONTRADICTED}
    return Custom("claims.html", {"claims": judged, "seeds": seeds, **words})


def conditions_section(study: Study) -> Section:
    """The settings of each model, where Table 1, whose left half has them, is not on the page."""
    lines = [
        (condition.label, in_words(condition, scale=study.scale), *described(condition, scale=study.scale))
        for condition in shown_conditions(study)
    ]
    return Section(anchor="conditions", blocks=[words_table((DESCRIPTION[0], "In words", *DESCRIPTION[1:]), lines)])


def vocabulary_section(measurements: Sequence[Measurement]) -> Section | None:
    """The subwords that two languages have in common in each vocabulary."""
    tables = list(vocabulary_tables(measurements))
    if not tables:
        return None
    order = "Where two numbers stand together, the source language's is the first."
    blocks: list[Block] = [Text(f"{_sentence(CAPTION)} {order}", "remark")]
    for table in tables:
        blocks.append(Table(headings=HEADINGS, lines=table.lines, caption=table.title))
        if table.notes:
            blocks.append(Text(_sentence("; ".join(table.notes)), "remark"))
    return Section(anchor="vocabulary", blocks=blocks)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def difference_section(changed: Sequence[Changed], *, other: str) -> Section:
    """Settings that differ from another report, which the reader calls `other`, and numbers beyond noise."""
    return Section(
        anchor="difference",
        title=f"Compared with {other}",
        blocks=list(_differences(changed)),
    )


def _differences(changed: Sequence[Changed]) -> Iterator[Block]:
    settings, circumstances = (of_kind(changed, kind) for kind in (Kind.SETTING, Kind.CIRCUMSTANCE))
    if settings:
        yield Heading(f"Settings that differ ({len(settings)})")
        yield _changes("Setting", settings)
    else:
        yield Text(NO_SETTING)
    if circumstances:
        yield Folded(circumstances_title(len(circumstances)), [_changes("Circumstance", circumstances)])
    exhibits = by_exhibit(changed)
    if not exhibits:
        yield Text(NO_NUMBER)
    for each in exhibits:
        yield Folded(each.title(), [_changes("Number", each.clear)]) if each.clear else Text(f"{each.title()}.")


def _changes(heading: str, changed: Sequence[Changed]) -> Table:
    lines = [
        (each.name, each.a or ABSENT, each.b or ABSENT, "" if each.change is None else f"{each.change:+.3g}")
        for each in changed
    ]
    return words_table((heading, "There", "Here", "Change"), lines)


def missing_section(state: State) -> Section | None:
    """Failed results, results without data, and those still to come."""
    blocks: list[Block] = []
    for title, lines in (("Failed", state.failures), ("No data", state.no_data), ("Pending", state.pending)):
        if lines:
            blocks.append(Heading(f"{title} ({len(lines)})"))
            listing = Listing(lines)
            blocks.append(listing if len(lines) <= MOST_LINES else Folded("Show all", [listing]))
    if not blocks:
        return None
    return Section(anchor="missing", blocks=blocks)


def provenance_section(found: Provenance, *, logs: Sequence[Log], beside: Sequence[str]) -> Section:
    """`beside`: files that the page comes with, besides those that every page has."""
    summary = Custom("provenance.html", {"entries": dict(_origins(found)), "files": (*FILES, *beside)})
    return Section(anchor="provenance", blocks=[summary, *_details(found), *_logs(logs)])


def _origins(found: Provenance) -> Iterator[tuple[str, str]]:
    yield "Study", found.origin
    yield "Written by", f"isoglot {found.versions.get('isoglot', UNKNOWN)}, commit {found.commit or UNKNOWN}"
    yield "Artifacts", f"{found.artifacts_done:,} of {found.artifacts:,}, {duration(found.seconds)} of work"
    if (budget := found.budget) is not None:
        yield (
            "Budget",
            f"{budget.models_done} of {budget.models} models, each {budget.updates:,} updates of {budget.batch} "
            f"windows of {budget.window} tokens: {budget.tokens_per_model:,} tokens a model, {budget.tokens:,} in all",
        )
    for place, making in enumerate(found.makings, start=1):
        yield "Made on" if len(found.makings) == 1 else f"Made on ({place})", _making(making)


def _making(making: Making) -> str:
    hardware = "" if making.hardware is None else f" ({_hardware(making.hardware)})"
    versions = ", ".join(f"{name} {version}" for name, version in making.versions.items())
    return (
        f"{making.host}{hardware}: {making.artifacts:,} artifacts in {duration(making.seconds)} of work, "
        f"{making.first_finished[:16].replace('T', ' ')} to {making.last_finished[:16].replace('T', ' ')} UTC; commit "
        f"{(making.commit or UNKNOWN)[:12]}; {versions}"
    )


def _hardware(hardware: Hardware) -> str:
    gpus = f", {', '.join(hardware.gpus)}" if hardware.gpus else ", no GPU"
    return f"{hardware.processor}, {hardware.cores} cores, {size_in_bytes(hardware.memory_bytes)} of memory{gpus}"


def _details(found: Provenance) -> Iterator[Block]:
    if found.data_files:
        files = [
            (
                file.name,
                UNKNOWN if file.num_bytes is None else size_in_bytes(file.num_bytes),
                file.digest,
                ", ".join(file.used_for),
            )
            for file in found.data_files
        ]
        table = words_table(("File", "Size", "Digest", "Used for"), files)
        yield Folded(f"Data files ({len(files)})", [table], "on-paper")
    elif found.is_made_up:
        yield Text("The text is made up from the study's own settings and seeds; no data file was read.")
    words = [(each.language, each.splitter, each.version, "yes" if each.is_lowercase else "no") for each in found.words]
    splitters = words_table(("Language", "Splitter", "Version", "Lower-cased"), words)
    yield Folded("How words are found", [splitters], "on-paper")
    sizes = [
        (
            label_of(each.condition),
            "-".join(each.languages),
            " / ".join(f"{each.merges[language]:,}" for language in each.languages if language in each.merges),
            " / ".join(f"{each.types[language]:,}" for language in each.languages if language in each.types),
        )
        for each in found.vocabularies
    ]
    headings = ("Model", "Languages", "BPE merges", "Subwords in the table")
    yield Folded("Sizes of vocabularies", [Table(headings=headings, lines=sizes, num_names=2)], "on-paper")
    spent = [(each.kind, f"{each.artifacts:,}", duration(each.seconds)) for each in found.spent]
    times = Table(headings=("Kind of artifact", "How many", "Work"), lines=spent)
    yield Folded("Where the time went", [times], "on-paper")
    settings = {".".join(path): value for path, value in _leaves(found.settings, ())}
    yield Folded("Every setting of the study", [Custom("provenance.html", {"entries": settings, "files": ()})])
    left = [(each.sentence, each.file) for each in found.departures]
    yield Folded(f"Every departure from the paper ({len(left)})", [words_table(("Departure", "File"), left)])


def _logs(logs: Sequence[Log]) -> Iterator[Block]:
    """Logs with remarks first, as these may put the numbers in doubt."""
    if remarked := [log for log in logs if log.remark]:
        yield Heading("Remarked in training")
        yield Listing([*map(_log, remarked)])
    if reached := [log for log in logs if log.address]:
        yield Folded(f"Logs ({len(reached)})", [Listing([*map(_log, reached)])])


def _log(log: Log) -> str | tuple[str, str, str]:
    remark = f": {log.remark}" if log.remark else ""
    return (log.address, log.title, remark) if log.address else log.title + remark


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(member, (*path, key))
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        for place, member in enumerate(value):
            yield from _leaves(member, (*path, str(place)))
    else:
        yield path, plain_text(value)
