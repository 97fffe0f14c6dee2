"""Measurements of one metric gathered into rows: a condition of a language pair, over layers and seeds."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from isoglot.exhibits import UNTRAINED, Measurement


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one condition scored. Lists run over seeds."""

    condition: str
    languages: tuple[str, str]
    layers: tuple[float, ...]
    """Mean over seeds at each layer."""
    best: tuple[float, ...]
    """Score at the best layer, for each seed."""
    untrained_best: tuple[float, ...]

    @property
    def mean_best(self) -> float:
        return fmean(self.best)

    @property
    def mean_untrained_best(self) -> float:
        return fmean(self.untrained_best)


def rows(measurements: Iterable[Measurement], *, metric: str) -> list[Row]:
    """One row for each condition and pair that has both a trained and an untrained score, in the order they came."""
    found: dict[tuple[tuple[str, str], str], dict[str, dict[int, dict[int, float]]]] = {}
    for each in measurements:
        if each.layer is not None and each.metric in (metric, metric + UNTRAINED):
            by_metric = found.setdefault((each.languages, each.condition), {})
            by_metric.setdefault(each.metric, {}).setdefault(each.seed, {})[each.layer] = each.value
    gathered = []
    for (languages, condition), by_metric in found.items():
        trained, untrained = by_metric.get(metric, {}), by_metric.get(metric + UNTRAINED, {})
        if not trained:
            continue
        layers = sorted(next(iter(trained.values())))
        gathered.append(
            Row(
                condition=condition,
                languages=languages,
                layers=tuple(fmean(scores[layer] for scores in trained.values()) for layer in layers),
                best=tuple(max(scores.values()) for scores in trained.values()),
                untrained_best=tuple(max(untrained[seed].values()) for seed in trained),
            )
        )
    return gathered


def single_value(measurements: Iterable[Measurement], *, metric: str) -> float | None:
    """The value of a metric that is the same for all cells, such as a chance level."""
    return next((each.value for each in measurements if each.metric == metric), None)
