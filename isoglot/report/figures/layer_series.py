"""Scores by layer or by update: lines over seeds, charts of several lines with their tables, and figures of charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import correlation, fmean

from isoglot.pipeline.measurements import Measurement
from isoglot.report.quantities import short_number
from isoglot.study.languages import PRIME, original

MISSING = "-"
Pair = tuple[str, str]
"""Source and target language."""
SeriesKind = tuple[str, str, str, str | None]
"""The label of a line, and the condition, metric and variant of the model that it is of."""
# With fewer a correlation means nothing: that of two points is always 1 or -1.
FEWEST_POINTS = 3


@dataclass(frozen=True, kw_only=True)
class Line:
    """Scores of one kind of model by layer, or by update; some may be missing while a study runs."""

    label: str
    by_seed: Sequence[Mapping[int, float]]
    is_published: bool = False
    """Whether these are the paper's own numbers."""

    @classmethod
    def of(cls, label: str, values: Sequence[float | None], *, is_published: bool = False) -> Line:
        """One value for each layer, without seeds."""
        known = {layer: value for layer, value in enumerate(values) if value is not None}
        return cls(label=label, by_seed=(known,), is_published=is_published)

    def at(self, place: int) -> list[float]:
        """The values of all seeds that have one there."""
        return [values[place] for values in self.by_seed if place in values]

    def has_range(self, places: Iterable[int]) -> bool:
        """Whether it is a mean over seeds anywhere."""
        return any(len(self.at(place)) > 1 for place in places)

    @property
    def num_states(self) -> int:
        """Layers from 0 to the last that is there."""
        return 1 + max((layer for values in self.by_seed for layer in values), default=-1)

    @property
    def layers(self) -> tuple[float | None, ...]:
        """Means over the seeds that have the layer; None where none has."""
        return tuple(fmean(values) if (values := self.at(layer)) else None for layer in range(self.num_states))

    @property
    def best(self) -> list[float]:
        """The best layer's score for each seed."""
        return [max(values.values()) for values in self.by_seed]

    @property
    def means(self) -> list[float]:
        """The mean over layers for each seed."""
        return [fmean(values.values()) for values in self.by_seed]


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over layers, or over updates; its numbers are a table too."""

    title: str
    series: Sequence[Line]
    y_title: str
    """With the unit."""
    decimals: int = 2
    references: Mapping[str, float] = field(default_factory=dict)
    """Dashed levels, as that of chance."""
    x_title: str = "Layer"
    updates: Sequence[int] = ()
    """Where lines have points, if that is not at layers; lines then bridge updates without a value."""
    shown: tuple[float, ...] = (0.0,)
    """Values that the axis has room for, whether a line comes there or not."""
    is_logarithmic: bool = False
    caption: str = ""
    """Caption of the table, if it is not made of the titles."""
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further columns of the table: a text for each line."""

    @property
    def places(self) -> Sequence[int]:
        return self.updates or range(max((line.num_states for line in self.series), default=0))

    @property
    def headings(self) -> list[str]:
        """Headings of the table, after that of the labels."""
        return [*(short_number(place) if self.updates else f"L{place}" for place in self.places), *self.columns]

    @property
    def texts(self) -> list[list[str]]:
        """Lines of the table, each after its label."""
        found = []
        for row, line in enumerate(self.series):
            means = (f"{fmean(values):.{self.decimals}f}" if (values := line.at(x)) else MISSING for x in self.places)
            found.append([line.label, *means, *(texts[row] for texts in self.columns.values())])
        return found

    @property
    def published(self) -> list[int]:
        """Places of lines that are the paper's own."""
        return [place for place, line in enumerate(self.series) if line.is_published]

    @property
    def highest(self) -> float:
        """The highest value that is drawn."""
        values = (value for line in self.series for by_place in line.by_seed for value in by_place.values())
        return max([*values, *self.references.values()])


@dataclass(frozen=True, kw_only=True)
class LineFigure:
    """Charts of one pair of languages side by side, and what has to be known to read them."""

    name: str
    """The stem of its files."""
    title: str
    charts: Sequence[LineChart]
    notes: Sequence[str] = ()

    def seed_notes(self) -> Iterator[str]:
        """Names lines of one seed among means over seeds."""
        lines = [(line, chart.places) for chart in self.charts for line in chart.series if not line.is_published]
        several = {line.label for line, places in lines if line.has_range(places)}
        if several:
            alone = [label for label in dict.fromkeys(line.label for line, _ in lines) if label not in several]
            of_one = f" Of one seed: {', '.join(alone)}." if alone else ""
            yield f"Means over seeds; thin lines go from the lowest seed to the highest.{of_one}"


def on_one_axis(figures: Sequence[LineFigure]) -> list[LineFigure]:
    """Figures of pairs of languages, which are compared by eye."""
    room = max((chart.highest for each in figures for chart in each.charts), default=0.0)
    return [replace(each, charts=[replace(chart, shown=(0.0, room)) for chart in each.charts]) for each in figures]


def pair_title(languages: Pair) -> str:
    """ "en-fr", or "en-en'" for a language and its second model."""
    return "-".join(map(shown, languages))


def shown(language: str) -> str:
    """ "en'" for en-prime."""
    return f"{original(language)}'" if language.endswith(PRIME) else language


def second_models(pairs: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A sentence that explains "en'", where it is one of these."""
    for prime in dict.fromkeys(language for pair in pairs for language in pair if language.endswith(PRIME)):
        yield (
            f"{shown(prime)} is {original(prime)} once more, as if it were another language (en' in the paper): the "
            "same text, with a model or embeddings of its own."
        )


def series_of(
    measurements: Iterable[Measurement],
    kinds: Iterable[SeriesKind],
    *,
    exhibit: str,
    languages: Pair,
    task: str | None = None,
    language: str | None = None,
) -> list[Line]:
    """A line for each kind of model of which anything is measured."""
    # One walk over all measurements, however many kinds are asked for: a study has tens of thousands.
    found: dict[tuple[str, str, str | None], dict[int, dict[int, float]]] = {}
    for each in measurements:
        is_here = (each.exhibit, each.languages, each.task) == (exhibit, languages, task)
        if is_here and language in (None, each.language) and each.layer is not None and each.seed is not None:
            by_seed = found.setdefault((each.condition, each.metric, each.variant), {})
            by_seed.setdefault(each.seed, {})[each.layer] = each.value
    return [
        Line(label=label, by_seed=tuple(found[condition, metric, variant].values()))
        for label, condition, metric, variant in kinds
        if (condition, metric, variant) in found
    ]


def pairs_of(measurements: Iterable[Measurement], exhibit: str) -> list[Pair]:
    """The pairs of languages that an exhibit has, in the order they came."""
    return list(dict.fromkeys(each.languages for each in measurements if each.exhibit == exhibit))


def mean_values(
    measurements: Iterable[Measurement], *, exhibit: str, languages: Pair, variant: str | None = None
) -> dict[str, float]:
    """Means over seeds of all metrics that have no layer."""
    found: dict[str, list[float]] = {}
    for each in measurements:
        if (each.exhibit, each.variant, each.languages, each.layer) == (exhibit, variant, languages, None):
            found.setdefault(each.metric, []).append(each.value)
    return {metric: fmean(values) for metric, values in found.items()}


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> float | None:
    """The correlation of two series where both have a value; None where it is not defined, or says nothing."""
    both = [(a, b) for a, b in zip(x, y, strict=False) if a is not None and b is not None]
    if len(both) < FEWEST_POINTS:
        return None
    xs, ys = zip(*both, strict=True)
    # The correlation with a constant is 0 / 0.
    is_constant = min(xs) == max(xs) or min(ys) == max(ys)
    return None if is_constant else correlation(xs, ys)
