"""The differences between two reports: settings of their studies, the code and machines, and numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.fine_tuning import DEV
from isoglot.report.findings.layer_scores import pair_title, shown
from isoglot.report.findings.samples import CLOSE_CKA, CLOSE_POINTS, ENOUGH_SEEDS, Sample
from isoglot.report.findings.verdicts import Verdict, order_verdict
from isoglot.report.quantities import mean_and_range
from isoglot.report.report_files import ReportContent
from isoglot.store.canonical import Json
from isoglot.study.conditions import label_of
from isoglot.study.scales import LEFT_OUT

ABSENT, NO_SETTING, NO_NUMBER = "nothing", "No setting differs.", "No number differs."
MOST_LINES = 12
LONGEST_VALUE = 100
LONG_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}")
# The entry that holds a study's own file; its names are given as they stand there: "scale.updates".
STUDY = "settings"
# Entries of a provenance that somebody chose; all others are code, machines and what followed.
SETTINGS = (STUDY, "is_made_up", "data_files", "words")
# Entries that repeat the settings or the makings.
DERIVED = ("budget", "commit")
# How far a study is, how long it took, and what isoglot knew of its files: no difference.
PROGRESS = ("verified", "seconds", "spent", "artifacts", "artifacts_done", "first_finished", "last_finished")
# The title of an entry of a list, and the fields that name it; entries of other lists have a `name`.
LISTS = {
    "data_files": ("data file", ("name",)),
    "words": ("words of", ("language",)),
    "vocabularies": ("vocabulary of", ("condition", "languages")),
    "makings": ("made on", ("host",)),
    "departures": ("departure in", ("file", "sentence")),
}
SIMILARITIES = ("cka", "svcca", "neuron_correlation")
PERPLEXITY = "dev_perplexity"
PRECISIONS = ("_p1", "_p5", "_p10")
# Prefixes of metrics that say how a score came about: a change of them is no finding.
NO_SCORES = (
    *("chosen_epoch", "chosen_update", "best_setting", "second_best_setting", "settings_tried", "settings_diverged"),
    *("map_dimensions", "fitted_pairs", "pairs_left_out", "sentences", "examples", "in_parts", "unseen_labels"),
)
Table = Mapping[str, Json]
Path = tuple[str, ...]
BySeed = dict[int | None, float]


class Kind(StrEnum):
    SETTING = "setting"
    CIRCUMSTANCE = "circumstance"
    """Code, machines and what followed from the settings."""
    NUMBER = "number"


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One difference between the reports."""

    kind: Kind
    exhibit: str = ""
    """The exhibit of a number."""
    name: str
    a: str | None
    b: str | None
    """Texts for people; None where a report has no such thing."""
    change: float | None = None
    """b less a, for a number that both have."""
    is_clear: bool = True
    """Whether numbers differ by more than noise; always so for settings and for scores that only one has."""

    def sentence(self) -> str:
        """ "Default, en-fr, NLI accuracy of fr: 70.1 -> 73.6 (+3.5)"."""
        size = "" if self.change is None else f" ({self.change:{'+.1f' if abs(self.change) >= 1 else '+.3f'}})"
        return f"{self.name}: {self.a or ABSENT} -> {self.b or ABSENT}{size}"


@dataclass(frozen=True, kw_only=True)
class ExhibitDifference:
    """The numbers of one exhibit that differ."""

    exhibit: str
    numbers: Sequence[Changed]

    @property
    def clear(self) -> list[Changed]:
        """Numbers of both reports that differ by more than noise, the largest change first."""
        of_both = [each for each in self.numbers if each.is_clear and each.change is not None]
        return sorted(of_both, key=lambda each: -abs(each.change or 0.0))

    def title(self) -> str:
        """ "table-1: 12 numbers of both differ, 3 by more than noise; 238 are in one report alone"."""
        in_one = sum(each.change is None for each in self.numbers)
        in_both = len(self.numbers) - in_one
        both = "1 number of both differs" if in_both == 1 else f"{in_both} numbers of both differ"
        one = f"; {in_one} {'is' if in_one == 1 else 'are'} in one report alone" if in_one else ""
        return f"{self.exhibit}: {both}, {len(self.clear)} by more than noise{one}"


def difference(a: ReportContent, b: ReportContent) -> list[Changed]:
    """Settings first, then numbers in the order in which they are shown."""
    return [*_settings_that_differ(a.provenance, b.provenance), *_numbers_that_differ(a.measurements, b.measurements)]


def of_kind(changed: Sequence[Changed], kind: Kind) -> list[Changed]:
    return [each for each in changed if each.kind is kind]


def by_exhibit(changed: Sequence[Changed]) -> list[ExhibitDifference]:
    """The numbers among them."""
    found: defaultdict[str, list[Changed]] = defaultdict(list)
    for each in of_kind(changed, Kind.NUMBER):
        found[each.exhibit].append(each)
    return [ExhibitDifference(exhibit=exhibit, numbers=numbers) for exhibit, numbers in found.items()]


def difference_sentences(changed: Sequence[Changed]) -> Iterator[str]:
    """As on the page: all settings, then for each exhibit the numbers of both that clearly differ."""
    settings, circumstances = (of_kind(changed, kind) for kind in (Kind.SETTING, Kind.CIRCUMSTANCE))
    yield f"Settings that differ ({len(settings)}):" if settings else NO_SETTING
    yield from (f"  {each.sentence()}" for each in settings)
    if circumstances:
        yield f"{circumstances_title(len(circumstances))}; see the page."
    exhibits = by_exhibit(changed)
    if not exhibits:
        yield NO_NUMBER
    for each in exhibits:
        yield each.title() + (":" if each.clear else ".")
        yield from (f"  {one.sentence()}" for one in each.clear[:MOST_LINES])
        if len(each.clear) > MOST_LINES:
            yield f"  and {len(each.clear) - MOST_LINES} more"


def circumstances_title(count: int) -> str:
    return f"Of the code, the machines and what was made, {count} thing{'s differ' if count > 1 else ' differs'}"


def _settings_that_differ(a: Table, b: Table) -> Iterator[Changed]:
    """Each with a name such as "scale.updates" or "data file wiki.fr.txt, digest"."""
    for entry in [each for each in dict.fromkeys((*a, *b)) if each not in DERIVED]:
        kind = Kind.SETTING if entry in SETTINGS else Kind.CIRCUMSTANCE
        for path, ours, theirs in _differing(a.get(entry), b.get(entry), path=(entry,)):
            # Names of entries are shown as they are, names of fields as words.
            words = (part if " " in part else _words(part) for part in path)
            name = ".".join(path[1:]) if entry == STUDY and len(path) > 1 else ", ".join(words)
            yield Changed(kind=kind, name=name, a=_brief(ours), b=_brief(theirs))


def _differing(a: Json, b: Json, *, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    if a == b or path[-1] in PROGRESS:
        return
    ours, theirs = (_as_table(value, path[-1]) for value in (a, b))
    if ours is None or theirs is None:
        # A vocabulary's size is known once it is built, which is no difference.
        if not ("types" in path and None in (a, b)):
            yield path, a, b
        return
    # An entry of a list is named in full, so that it needs no name of the list before it.
    above = path[:-1] if path[-1] in LISTS else path
    for key in dict.fromkeys((*ours, *theirs)):
        of_both = (table.get(key, LEFT_OUT.get(key)) for table in (ours, theirs))
        yield from _differing(*of_both, path=(*above, key))


def _as_table(value: Json, name: str) -> Table | None:
    """A table as it is, and a list of tables by the names of its entries, so that one more moves no other."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not (value or name in LISTS):
        return None
    title, keys = LISTS.get(name, ("", ("name",)))
    table: dict[str, Json] = {}
    for each in value:
        if not isinstance(each, dict) or keys[0] not in each:
            return None
        entry = f"{title} {', '.join(_brief(each[key]) or '' for key in keys if key in each)}".strip()
        # Two machines may have one name.
        entry = f"{entry} ({len(table) + 1})" if entry in table else entry
        table[entry] = {key: member for key, member in each.items() if key not in (*keys, *PROGRESS)}
    return table


def plain_text(value: object) -> str:
    """ "yes", "0.1, 0.2", or for a table "order svo, script latin"."""
    match value:
        case dict():
            entries = {_words(str(key)): member for key, member in value.items() if member not in (None, [], {})}
            return ", ".join(
                f"{key} ({plain_text(member)})" if isinstance(member, dict) else f"{key} {plain_text(member)}"
                for key, member in entries.items()
            )
        case list() | tuple():
            return ", ".join(map(plain_text, value))
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _words(name: str) -> str:
    return name.removeprefix("is_").replace("_", " ")


def _brief(value: Json) -> str | None:
    """Where a line cannot hold all entries of a value, how many they are: the provenance has them."""
    if value is None:
        return None
    text = LONG_DIGEST.sub(r"\1", plain_text(value))
    if isinstance(value, dict | list) and len(text) > LONGEST_VALUE:
        return f"{len(value)} entries"
    return text or "there"


def _numbers_that_differ(a: Sequence[Measurement], b: Sequence[Measurement]) -> Iterator[Changed]:
    by_number: defaultdict[Measurement, tuple[BySeed, BySeed]] = defaultdict(lambda: ({}, {}))
    for side, measurements in enumerate((a, b)):
        for each in measurements:
            # What is left names the number, whichever study and seed it comes from.
            number = replace(each, study="", seed=None, value=0.0, stage="")
            by_number[number][side][each.seed] = each.value
    for number, samples in by_number.items():
        if samples[0] != samples[1]:
            close = _close(number)
            yield _changed(number, *(Sample.of(by_seed, close=close) if by_seed else None for by_seed in samples))


def _changed(number: Measurement, a: Sample | None, b: Sample | None) -> Changed:
    is_clear = a is None or b is None or order_verdict(a, b) is not Verdict.TOO_CLOSE
    # Nothing but seeds says how far perplexities differ by chance; counts do not.
    num_seeds = min(len(each.values) for each in (a, b) if each)
    is_known = number.metric != PERPLEXITY or num_seeds >= ENOUGH_SEEDS
    return Changed(
        kind=Kind.NUMBER,
        exhibit=number.exhibit,
        name=_name(number),
        a=None if a is None else _text(a),
        b=None if b is None else _text(b),
        change=None if a is None or b is None else b.mean - a.mean,
        is_clear=is_clear and is_known and not number.metric.startswith(NO_SCORES),
    )


def _close(number: Measurement) -> float:
    """How far two models differ in this metric through noise alone; 0 for counts and the like."""
    metric = number.metric
    if metric.startswith(SIMILARITIES):
        return CLOSE_CKA
    titles = task_named(number.task).metric_titles if number.task else {}
    is_score = metric.removeprefix(DEV).startswith(tuple(titles))
    return CLOSE_POINTS if is_score or any(each in metric for each in PRECISIONS) else 0.0


def _text(sample: Sample) -> str:
    if sample.close == CLOSE_POINTS:
        return mean_and_range(sample.values)
    several = "" if len(sample.values) == 1 else f" ({min(sample.values):.4g}-{max(sample.values):.4g})"
    return f"{sample.mean:.4g}{several}"


def _name(number: Measurement) -> str:
    parts = [
        label_of(number.condition),
        pair_title(number.languages),
        f"{task_named(number.task).title if number.task else ''} {number.metric} of {shown(number.language)}".strip(),
        "" if number.variant is None else number.variant.replace("-", ", "),
        "" if number.layer is None else f"layer {number.layer}",
        "" if number.update is None else f"after update {number.update}",
    ]
    return ", ".join(filter(None, parts))
