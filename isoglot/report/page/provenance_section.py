"""Where the numbers come from: files, words, vocabularies, budget, machines, versions, departures, logs."""

from collections.abc import Iterator, Mapping, Sequence

from isoglot.hardware import Hardware
from isoglot.report.page.explanations import PROVENANCE
from isoglot.report.page.markup import Html, folded, joined, tag
from isoglot.report.page.number_table import number_table, text_table
from isoglot.report.page.section import Section
from isoglot.report.provenance import Making, Provenance
from isoglot.report.quantities import duration, size_in_bytes
from isoglot.report.settings_difference import plain_text
from isoglot.report.state import Log
from isoglot.store.canonical import Json
from isoglot.study.conditions import label_of

FILES = ("measurements.jsonl", "provenance.json", "curves.jsonl", "state.json")
UNKNOWN = "unknown"


def provenance_section(found: Provenance, *, logs: Sequence[Log], beside: Sequence[str]) -> Section:
    """`beside`: files that the page comes with, besides those that every page has."""
    return Section(
        anchor="provenance",
        title="Where the numbers come from",
        short_title="Provenance",
        explanation=PROVENANCE,
        body=joined([_summary(found, beside=beside), *_folded(found), *_logs(logs)]),
    )


def _summary(found: Provenance, *, beside: Sequence[str]) -> Html:
    entries: dict[str, str] = {
        "Study": found.origin,
        "Written by": f"isoglot {found.versions.get('isoglot', UNKNOWN)}, commit {found.commit or UNKNOWN}",
        "Artifacts": f"{found.artifacts_done:,} of {found.artifacts:,}, {duration(found.seconds)} of work",
    }
    if found.budget is not None:
        budget = found.budget
        entries["Budget"] = (
            f"{budget.models_done} of {budget.models} models, each {budget.updates:,} updates of {budget.batch} "
            f"windows of {budget.window} tokens: {budget.tokens_per_model:,} tokens a model, {budget.tokens:,} in all"
        )
    for place, making in enumerate(found.makings, start=1):
        entries["Made on" if len(found.makings) == 1 else f"Made on ({place})"] = _making(making)
    entries["Beside this page"] = joined((tag("a", name, href=name) for name in (*FILES, *beside)), ", ")
    return _definitions(entries)


def _definitions(entries: Mapping[str, str]) -> Html:
    return tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in entries.items()))


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


def _folded(found: Provenance) -> Iterator[Html]:
    if found.data_files:
        lines = [
            (
                file.name,
                "unknown" if file.num_bytes is None else size_in_bytes(file.num_bytes),
                file.digest,
                ", ".join(file.used_for),
            )
            for file in found.data_files
        ]
        yield folded(
            f"Data files ({len(lines)})", text_table(("File", "Size", "Digest", "Used for"), lines), class_="on-paper"
        )
    elif found.is_made_up:
        yield tag("p", "The text is made up from the study's own settings and seeds; no data file was read.")
    words = [(each.language, each.splitter, each.version, "yes" if each.is_lowercase else "no") for each in found.words]
    yield folded(
        "How words are found", text_table(("Language", "Splitter", "Version", "Lower-cased"), words), class_="on-paper"
    )
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
    yield _on_paper("Sizes of vocabularies", number_table(headings, sizes, num_names=2))
    spent = [(each.kind, f"{each.artifacts:,}", duration(each.seconds)) for each in found.spent]
    yield folded(
        "Where the time went", number_table(("Kind of artifact", "How many", "Work"), spent), class_="on-paper"
    )
    yield folded("Every setting of the study", _settings(found.settings))
    left = [(each.sentence, each.file) for each in found.departures]
    yield folded(f"Every departure from the paper ({len(left)})", text_table(("Departure", "File"), left))


def _on_paper(title: str, content: Html) -> Html:
    return folded(title, content, class_="on-paper")


def _logs(logs: Sequence[Log]) -> Iterator[Html]:
    """Whoever has something to remark first, as it may put the numbers in doubt."""
    remarked = [log for log in logs if log.remark]
    if remarked:
        yield tag("h3", "Remarked in training")
        yield tag("ul", *map(_log, remarked))
    if reached := [log for log in logs if log.address]:
        yield folded(f"Logs ({len(reached)})", tag("ul", *map(_log, reached)))


def _log(log: Log) -> Html:
    title = tag("a", log.title, href=log.address) if log.address else log.title
    return tag("li", title, f": {log.remark}" if log.remark else "")


def _settings(settings: Mapping[str, Json]) -> Html:
    return _definitions({".".join(path): value for path, value in _leaves(settings, ())})


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(member, (*path, key))
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        for place, member in enumerate(value):
            yield from _leaves(member, (*path, str(place)))
    else:
        yield path, plain_text(value)
