"""Measurements gathered by layer: series over seeds, and figures of several series."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import correlation, fmean

from isoglot.pipeline.measurements import Measurement
from isoglot.study.languages import PRIME, original

MISSING = "-"
SeriesKind = tuple[str, str, str, str | None]
"""The label of a series, and the condition, metric and variant of the model that it is of."""
FEWEST_POINTS = 3
"""Fewest points for which a correlation means anything."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """Scores of one kind of model at every layer; layers may be missing while a study runs."""

    label: str
    by_seed: tuple[Mapping[int, float], ...]
    """For each seed, by layer."""
    is_published: bool = False
    """Whether these are the paper's own numbers."""

    @property
    def num_states(self) -> int:
        """Layers from 0 to the last that is there."""
        return 1 + max(layer for values in self.by_seed for layer in values)

    @property
    def layers(self) -> tuple[float | None, ...]:
        """Means over the seeds that have the layer; None where none has."""
        by_layer = ([values[layer] for values in self.by_seed if layer in values] for layer in range(self.num_states))
        return tuple(fmean(values) if values else None for values in by_layer)

    @property
    def ranges(self) -> tuple[tuple[float, float] | None, ...]:
        """Lowest and highest over the seeds that have the layer; None where fewer than two have."""
        by_layer = ([values[layer] for values in self.by_seed if layer in values] for layer in range(self.num_states))
        return tuple((min(values), max(values)) if len(values) > 1 else None for values in by_layer)

    @property
    def best(self) -> tuple[float, ...]:
        """The best layer's score for each seed."""
        return tuple(max(values.values()) for values in self.by_seed)

    @property
    def means(self) -> tuple[float, ...]:
        """The mean over layers for each seed."""
        return tuple(fmean(values.values()) for values in self.by_seed)


@dataclass(frozen=True, kw_only=True)
class LayerFigure:
    """A figure of one pair of languages."""

    name: str
    """The stem of its files."""
    title: str
    unit: str
    decimals: int
    rows: tuple[Series, ...]
    summary_title: str
    summary: Callable[[Series], tuple[float, ...]]
    """One number for each seed."""
    references: tuple[tuple[str, float], ...] = ()
    """Levels to hold the series against."""
    notes: tuple[str, ...] = ()

    @property
    def num_states(self) -> int:
        return max(row.num_states for row in self.rows)

    @property
    def highest(self) -> float:
        """The highest value that is drawn."""
        values = [value for row in self.rows for of_seed in row.by_seed for value in of_seed.values()]
        return max([*values, *(value for _, value in self.references)])

    def texts(self, row: Series) -> list[str]:
        """Its number at every layer of the figure."""
        shown = (*row.layers, *[None] * (self.num_states - row.num_states))
        return [MISSING if value is None else f"{value:.{self.decimals}f}" for value in shown]

    def summary_notes(self) -> Iterator[str]:
        if any(len(row.by_seed) > 1 for row in self.rows):
            yield f"Means over seeds; {self.summary_title} is each seed's own, its mean and (lowest-highest)."

    def summary_text(self, row: Series) -> str:
        """ "0.81", or over several seeds "0.81 (0.79-0.83)"."""
        values, digits = self.summary(row), self.decimals
        mean = f"{fmean(values):.{digits}f}"
        return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def pair_title(languages: tuple[str, str]) -> str:
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
    languages: tuple[str, str],
    task: str | None = None,
    language: str | None = None,
) -> tuple[Series, ...]:
    """A series for each label, condition, metric and variant of the model of which anything is measured."""
    here = [each for each in measurements if (each.exhibit, each.languages) == (exhibit, languages)]
    found = []
    for label, condition, metric, variant in kinds:
        by_seed = by_seed_and_layer(
            here,
            exhibit=exhibit,
            metric=metric,
            condition=condition,
            languages=languages,
            task=task,
            language=language,
            variant=variant,
        )
        if by_seed:
            found.append(Series(label=label, by_seed=tuple(by_seed.values())))
    return tuple(found)


def by_seed_and_layer(
    measurements: Iterable[Measurement],
    *,
    exhibit: str,
    metric: str,
    condition: str,
    languages: tuple[str, str],
    task: str | None = None,
    language: str | None = None,
    variant: str | None = None,
) -> dict[int, dict[int, float]]:
    """One metric of one kind of model."""
    found: dict[int, dict[int, float]] = {}
    for each in measurements:
        if (
            (each.exhibit, each.metric, each.condition, each.languages) == (exhibit, metric, condition, languages)
            and (each.variant, each.task) == (variant, task)
            and each.layer is not None
            and each.seed is not None
            and language in (None, each.language)
        ):
            found.setdefault(each.seed, {})[each.layer] = each.value
    return found


def pairs_of(measurements: Iterable[Measurement], exhibit: str) -> list[tuple[str, str]]:
    """The pairs of languages that an exhibit has, in the order they came."""
    return list(dict.fromkeys(each.languages for each in measurements if each.exhibit == exhibit))


def mean_value(measurements: Iterable[Measurement], *, exhibit: str, metric: str, languages: tuple[str, str]) -> float:
    """Over seeds, of a metric that has no layer; not a number where it was not measured."""
    found = [
        each.value
        for each in measurements
        if (each.exhibit, each.metric, each.variant, each.languages) == (exhibit, metric, None, languages)
    ]
    return fmean(found) if found else nan


def few_pairs(pairs: float, dimensions: float) -> Iterator[str]:
    """A warning about a map that was fitted on fewer pairs than it has dimensions."""
    if pairs < dimensions:
        yield (
            f"The map has {dimensions:,.0f} dimensions and was fitted on {pairs:,.0f} pairs: where no pair points it "
            "is not determined, and other sentences or words are mapped by chance there. Give more pairs."
        )


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> float | None:
    """The correlation of two series where both have a value; None where it is not defined, or says nothing."""
    both = [(a, b) for a, b in zip(x, y, strict=False) if a is not None and b is not None]
    if len(both) < FEWEST_POINTS:
        return None
    xs, ys = zip(*both, strict=True)
    is_constant = min(xs) == max(xs) or min(ys) == max(ys)
    return None if is_constant else correlation(xs, ys)


def seed_notes(has_several: Mapping[str, bool]) -> Iterator[str]:
    """Names lines of one seed among means over seeds; `has_several` says of each label whether it is such a mean."""
    if any(has_several.values()):
        alone = [label for label, several in has_several.items() if not several]
        of_one = f" Of one seed: {', '.join(alone)}." if alone else ""
        yield f"Means over seeds; thin lines go from the lowest seed to the highest.{of_one}"
