"""Measurements of one metric gathered into rows: a condition of a language pair, over layers and seeds."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement


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
    def gains(self) -> tuple[float, ...]:
        """What training added, for each seed: shared words alone give an untrained model something."""
        return tuple(best - start for best, start in zip(self.best, self.untrained_best, strict=True))

    @property
    def mean_best(self) -> float:
        return fmean(self.best)

    @property
    def mean_untrained_best(self) -> float:
        return fmean(self.untrained_best)


def rows(measurements: Iterable[Measurement], *, metric: str) -> list[Row]:
    """One row for each condition and pair, in the order they came, over the seeds with an untrained score as well."""
    found: dict[tuple[tuple[str, str], str], dict[str | None, dict[int, dict[int, float]]]] = {}
    for each in measurements:
        if each.update is not None:  # a moment of training, which is another exhibit's
            continue
        if (
            each.layer is not None
            and each.seed is not None
            and each.metric == metric
            and each.variant in (None, UNTRAINED)
        ):
            by_variant = found.setdefault((each.languages, each.condition), {})
            by_variant.setdefault(each.variant, {}).setdefault(each.seed, {})[each.layer] = each.value
    gathered = []
    for (languages, condition), by_variant in found.items():
        trained, untrained = by_variant.get(None, {}), by_variant.get(UNTRAINED, {})
        seeds = [seed for seed in trained if seed in untrained]
        if not seeds:
            continue
        layers = sorted(trained[seeds[0]])
        # Departure: the best layer is picked by the scores that are shown, of the untrained model as well.
        gathered.append(
            Row(
                condition=condition,
                languages=languages,
                layers=tuple(fmean(trained[seed][layer] for seed in seeds) for layer in layers),
                best=tuple(max(trained[seed].values()) for seed in seeds),
                untrained_best=tuple(max(untrained[seed].values()) for seed in seeds),
            )
        )
    return gathered


def single_value(measurements: Iterable[Measurement], *, metric: str, languages: tuple[str, str]) -> float | None:
    """The value of a metric that is the same for all cells of a language pair, such as a chance level."""
    found = (each for each in measurements if (each.metric, each.variant, each.languages) == (metric, None, languages))
    return next((each.value for each in found), None)
