"""What differs between two reports: in the settings of their studies, and in each number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from isoglot.conditions import label_of
from isoglot.measurements import Measurement
from isoglot.report.layer_series import pair_title, shown
from isoglot.report.quantities import mean_and_range
from isoglot.report.report_files import ReportContent
from isoglot.report.samples import Sample
from isoglot.report.settings_difference import STUDY, differing
from isoglot.report.verdicts import CLOSE_CKA, CLOSE_POINTS, Verdict, order_verdict
from isoglot.transfer.tasks import task_named

ABSENT = "nothing"
MOST_LINES = 12
SIMILARITIES = ("cka", "svcca", "neuron_correlation")
PRECISIONS = ("_p1", "_p5", "_p10")
Key = tuple[str, str, tuple[str, str], str, str | None, str, int | None, int | None]
"""Of a number: exhibit, condition, pair, language, task, metric, layer and update."""


class Kind(StrEnum):
    SETTING = "setting"
    NUMBER = "number"


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One thing that the reports do not say alike."""

    kind: Kind
    group: str
    """Where it stands: an exhibit, or the settings."""
    name: str
    a: str | None
    b: str | None
    """As people read it; None where a report has no such thing."""
    change: float | None
    """Of a number that both have: b less a."""
    is_clear: bool
    """Further apart than seeds; of settings, and of numbers that only one has, always."""

    def sentence(self) -> str:
        """ "Default, en-fr, NLI accuracy of fr: 70.1 -> 73.6 (+3.5)"."""
        size = "" if self.change is None else f" ({_signed(self.change)})"
        return f"{self.name}: {self.a or ABSENT} -> {self.b or ABSENT}{size}"


def difference(a: ReportContent, b: ReportContent) -> list[Changed]:
    """Settings first, then numbers in the order in which they are shown; what is alike is left out."""
    return [*_settings(a, b), *_numbers(a.measurements, b.measurements)]


def difference_sentences(changed: Sequence[Changed]) -> Iterator[str]:
    """All settings, and of each exhibit the numbers that clearly differ, the largest first."""
    settings = [each for each in changed if each.kind is Kind.SETTING]
    numbers = [each for each in changed if each.kind is Kind.NUMBER]
    yield _counted(len(settings), "setting") + (":" if settings else ".")
    yield from (f"  {each.sentence()}" for each in settings)
    yield f"{_counted(len(numbers), 'number')}, {sum(each.is_clear for each in numbers)} by more than noise."
    for exhibit in dict.fromkeys(each.group for each in numbers):
        here = [each for each in numbers if each.group == exhibit]
        clear = sorted((each for each in here if each.is_clear), key=lambda each: -abs(each.change or 0.0))
        yield f"{exhibit}: {_counted(len(here), 'number')}, {len(clear)} by more than noise" + (":" if clear else ".")
        yield from (f"  {each.sentence()}" for each in clear[:MOST_LINES])
        if len(clear) > MOST_LINES:
            yield f"  and {len(clear) - MOST_LINES} more"


def _settings(a: ReportContent, b: ReportContent) -> Iterator[Changed]:
    for name, ours, theirs in differing(a.provenance, b.provenance):
        yield Changed(kind=Kind.SETTING, group=STUDY, name=name, a=ours, b=theirs, change=None, is_clear=True)


def _numbers(a: Sequence[Measurement], b: Sequence[Measurement]) -> Iterator[Changed]:
    ours, theirs = _by_key(a), _by_key(b)
    for key in dict.fromkeys((*ours, *theirs)):
        if ours.get(key) != theirs.get(key):
            yield _changed(key, ours.get(key), theirs.get(key))


def _by_key(measurements: Sequence[Measurement]) -> dict[Key, dict[int | None, float]]:
    found: dict[Key, dict[int | None, float]] = {}
    for each in measurements:
        key = (
            *(each.exhibit, each.condition, each.languages, each.language),
            *(each.task, each.metric, each.layer, each.update),
        )
        found.setdefault(key, {})[each.seed] = each.value
    return found


def _changed(key: Key, ours: Mapping[int | None, float] | None, theirs: Mapping[int | None, float] | None) -> Changed:
    samples = [None if each is None else Sample.of(each) for each in (ours, theirs)]
    a, b = samples
    close = _close(key)
    return Changed(
        kind=Kind.NUMBER,
        group=key[0],
        name=_name(key),
        a=None if a is None else _text(a, close=close),
        b=None if b is None else _text(b, close=close),
        change=None if a is None or b is None else b.mean - a.mean,
        is_clear=a is None or b is None or order_verdict(a, b, close=close) is not Verdict.TOO_CLOSE,
    )


def _close(key: Key) -> float:
    """What two models differ by in this metric through noise alone; of counts and the like, nothing."""
    *_, task, metric, _, _ = key
    if metric.startswith(SIMILARITIES):
        return CLOSE_CKA
    is_score = task is not None and metric.startswith(tuple(task_named(task).metric_titles))
    return CLOSE_POINTS if is_score or any(each in metric for each in PRECISIONS) else 0.0


def _text(sample: Sample, *, close: float) -> str:
    if close == CLOSE_POINTS:
        return mean_and_range(sample.values)
    several = "" if len(sample.values) == 1 else f" ({min(sample.values):.4g}-{max(sample.values):.4g})"
    return f"{sample.mean:.4g}{several}"


def _name(key: Key) -> str:
    _, condition, languages, language, task, metric, layer, update = key
    parts = [label_of(condition), pair_title(languages)]
    parts += [f"{task_named(task).title if task else ''} {metric} of {shown(language)}".strip()]
    parts += [f"layer {layer}"] if layer is not None else []
    parts += [f"after update {update}"] if update is not None else []
    return ", ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"1 {noun} differs" if count == 1 else f"{count} {noun}s differ"


def _signed(value: float) -> str:
    return f"{value:+.1f}" if abs(value) >= 1 else f"{value:+.3f}"
