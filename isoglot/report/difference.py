"""The differences between two reports: settings of their studies, and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.fine_tuning import DEV
from isoglot.report.figures.layer_series import pair_title, shown
from isoglot.report.quantities import mean_and_range
from isoglot.report.report_files import ReportContent
from isoglot.report.settings_difference import STUDY, differing, settings_and_rest
from isoglot.report.verdicts import CLOSE_CKA, CLOSE_POINTS, Sample, Verdict, order_verdict
from isoglot.study.conditions import label_of

ABSENT = "nothing"
NO_SETTING = "No setting differs."
NO_NUMBER = "No number differs."
MOST_LINES = 12
SIMILARITIES = ("cka", "svcca", "neuron_correlation")
PRECISIONS = ("_p1", "_p5", "_p10")
NO_SCORES = (
    *("chosen_epoch", "chosen_update", "best_setting", "second_best_setting", "settings_tried", "settings_diverged"),
    *("map_dimensions", "fitted_pairs", "pairs_left_out", "sentences", "examples", "in_parts", "unseen_labels"),
)
"""Prefixes of metrics that say how a score came about: a change of them is no finding."""
Key = tuple[str, str, tuple[str, str], str, str | None, str, str | None, int | None, int | None]
"""The name of a number: exhibit, condition, pair, language, task, metric, variant, layer and update."""


class Kind(StrEnum):
    SETTING = "setting"
    CIRCUMSTANCE = "circumstance"
    """Code, machines and what followed from the settings."""
    NUMBER = "number"


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One difference between the reports."""

    kind: Kind
    group: str
    """An exhibit, or the settings."""
    name: str
    a: str | None
    b: str | None
    """Texts for people; None where a report has no such thing."""
    change: float | None
    """b less a, for a number that both have."""
    is_clear: bool
    """Whether numbers differ by more than noise; always so for settings and for scores that only one has."""

    def sentence(self) -> str:
        """ "Default, en-fr, NLI accuracy of fr: 70.1 -> 73.6 (+3.5)"."""
        size = "" if self.change is None else f" ({_signed(self.change)})"
        return f"{self.name}: {self.a or ABSENT} -> {self.b or ABSENT}{size}"


@dataclass(frozen=True, kw_only=True)
class ExhibitDifference:
    """The numbers of one exhibit that differ."""

    exhibit: str
    of_both: Sequence[Changed]
    clear: Sequence[Changed]
    """Numbers of both that differ by more than noise, the largest change first."""
    num_in_one: int

    def title(self) -> str:
        """ "table-1: 12 numbers of both differ, 3 by more than noise; 238 are in one report alone"."""
        count = len(self.of_both)
        both = "1 number of both differs" if count == 1 else f"{count} numbers of both differ"
        one = f"; {self.num_in_one} {'is' if self.num_in_one == 1 else 'are'} in one report alone"
        return f"{self.exhibit}: {both}, {len(self.clear)} by more than noise{one if self.num_in_one else ''}"


def difference(a: ReportContent, b: ReportContent) -> list[Changed]:
    """Settings first, then numbers in the order in which they are shown."""
    ours, theirs = _by_key(a.measurements), _by_key(b.measurements)
    keys = dict.fromkeys((*ours, *theirs))
    numbers = (_changed(key, ours.get(key), theirs.get(key)) for key in keys if ours.get(key) != theirs.get(key))
    return [*_settings(a, b), *numbers]


def of_kind(changed: Sequence[Changed], kind: Kind) -> list[Changed]:
    return [each for each in changed if each.kind is kind]


def by_exhibit(changed: Sequence[Changed]) -> list[ExhibitDifference]:
    """The numbers among them."""
    found = []
    for exhibit in dict.fromkeys(each.group for each in of_kind(changed, Kind.NUMBER)):
        numbers = [each for each in of_kind(changed, Kind.NUMBER) if each.group == exhibit]
        of_both = [each for each in numbers if each.change is not None]
        clear = sorted((each for each in of_both if each.is_clear), key=lambda each: -abs(each.change or 0.0))
        num_in_one = len(numbers) - len(of_both)
        found.append(ExhibitDifference(exhibit=exhibit, of_both=of_both, clear=clear, num_in_one=num_in_one))
    return found


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


def _settings(a: ReportContent, b: ReportContent) -> Iterator[Changed]:
    parts = zip(Kind, settings_and_rest(a.provenance), settings_and_rest(b.provenance), strict=False)
    for kind, ours, theirs in parts:
        for name, there, here in differing(ours, theirs):
            yield Changed(kind=kind, group=STUDY, name=name, a=there, b=here, change=None, is_clear=True)


def _by_key(measurements: Sequence[Measurement]) -> dict[Key, dict[int | None, float]]:
    found: dict[Key, dict[int | None, float]] = {}
    for each in measurements:
        key = (
            *(each.exhibit, each.condition, each.languages, each.language),
            *(each.task, each.metric, each.variant, each.layer, each.update),
        )
        found.setdefault(key, {})[each.seed] = each.value
    return found


def _changed(key: Key, ours: Mapping[int | None, float] | None, theirs: Mapping[int | None, float] | None) -> Changed:
    a, b = (None if each is None else Sample.of(each) for each in (ours, theirs))
    close = _close(key)
    return Changed(
        kind=Kind.NUMBER,
        group=key[0],
        name=_name(key),
        a=None if a is None else _text(a, close=close),
        b=None if b is None else _text(b, close=close),
        change=None if a is None or b is None else b.mean - a.mean,
        is_clear=not key[5].startswith(NO_SCORES)
        and (a is None or b is None or order_verdict(a, b, close=close) is not Verdict.TOO_CLOSE),
    )


def _close(key: Key) -> float:
    """How far two models differ in this metric through noise alone; 0 for counts and the like."""
    *_, task, metric, _, _, _ = key
    if metric.startswith(SIMILARITIES):
        return CLOSE_CKA
    is_score = task is not None and metric.removeprefix(DEV).startswith(tuple(task_named(task).metric_titles))
    return CLOSE_POINTS if is_score or any(each in metric for each in PRECISIONS) else 0.0


def _text(sample: Sample, *, close: float) -> str:
    if close == CLOSE_POINTS:
        return mean_and_range(sample.values)
    several = "" if len(sample.values) == 1 else f" ({min(sample.values):.4g}-{max(sample.values):.4g})"
    return f"{sample.mean:.4g}{several}"


def _name(key: Key) -> str:
    _, condition, languages, language, task, metric, variant, layer, update = key
    parts = [label_of(condition), pair_title(languages)]
    parts += [f"{task_named(task).title if task else ''} {metric} of {shown(language)}".strip()]
    parts += [variant.replace("-", ", ")] if variant is not None else []
    parts += [f"layer {layer}"] if layer is not None else []
    parts += [f"after update {update}"] if update is not None else []
    return ", ".join(parts)


def _signed(value: float) -> str:
    return f"{value:+.1f}" if abs(value) >= 1 else f"{value:+.3f}"
