"""Measurements gathered by layer: series over seeds, and figures of several series."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import fmean

from isoglot.languages import PRIME
from isoglot.measurements import Measurement


@dataclass(frozen=True, kw_only=True)
class Series:
    """What one kind of model scored at every layer."""

    label: str
    by_seed: tuple[tuple[float, ...], ...]
    """For each seed, from layer 0 up."""

    @property
    def layers(self) -> tuple[float, ...]:
        """Means over seeds."""
        return tuple(fmean(values) for values in zip(*self.by_seed, strict=True))

    @property
    def best(self) -> tuple[float, ...]:
        """Of each seed."""
        return tuple(max(values) for values in self.by_seed)

    @property
    def means(self) -> tuple[float, ...]:
        """Over the layers, of each seed."""
        return tuple(fmean(values) for values in self.by_seed)


@dataclass(frozen=True, kw_only=True)
class LayerFigure:
    """A figure of one pair of languages."""

    name: str
    """Of its files."""
    title: str
    unit: str
    decimals: int
    rows: tuple[Series, ...]
    summary_title: str
    summary: Callable[[Series], tuple[float, ...]]
    """Of each seed."""
    references: tuple[tuple[str, float], ...] = ()
    """Levels to hold the series against."""
    notes: tuple[str, ...] = ()

    def summary_text(self, row: Series) -> str:
        """ "0.81", or over several seeds "0.81 (0.79-0.83)"."""
        values, digits = self.summary(row), self.decimals
        mean = f"{fmean(values):.{digits}f}"
        return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def pair_title(languages: tuple[str, str]) -> str:
    """ "en-fr", or "en-en'" for a language and its second model."""
    source, target = languages
    return f"{source}-{target.removesuffix(PRIME)}'" if target.endswith(PRIME) else f"{source}-{target}"


def series(
    measurements: Iterable[Measurement],
    *,
    label: str,
    exhibit: str,
    metric: str,
    condition: str,
    languages: tuple[str, str],
    task: str | None = None,
    language: str | None = None,
) -> Series | None:
    """None if it is not measured yet. Of seeds with unequal numbers of layers, those with the most are taken."""
    found: dict[int, dict[int, float]] = {}
    for each in measurements:
        if (
            (each.exhibit, each.metric, each.condition, each.languages) == (exhibit, metric, condition, languages)
            and each.task == task
            and each.layer is not None
            and each.seed is not None
            and language in (None, each.language)
        ):
            found.setdefault(each.seed, {})[each.layer] = each.value
    if not found:
        return None
    most = max(len(values) for values in found.values())
    whole = [values for values in found.values() if len(values) == most]
    return Series(label=label, by_seed=tuple(tuple(values[layer] for layer in sorted(values)) for values in whole))


def pairs_of(measurements: Iterable[Measurement], exhibit: str) -> list[tuple[str, str]]:
    """The pairs of languages that an exhibit has, in the order they came."""
    return list(dict.fromkeys(each.languages for each in measurements if each.exhibit == exhibit))


def mean_value(measurements: Iterable[Measurement], *, exhibit: str, metric: str, languages: tuple[str, str]) -> float:
    """Over seeds, of a metric that has no layer; not a number where it was not measured."""
    found = [
        each.value
        for each in measurements
        if (each.exhibit, each.metric, each.languages) == (exhibit, metric, languages)
    ]
    return fmean(found) if found else nan


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The correlation of two series; None where one of them does not vary."""
    if min(x) == max(x) or min(y) == max(y):
        return None
    x_mean, y_mean = fmean(x), fmean(y)
    x_spread = sum((value - x_mean) ** 2 for value in x)
    y_spread = sum((value - y_mean) ** 2 for value in y)
    together = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    return together / sqrt(x_spread * y_spread)
