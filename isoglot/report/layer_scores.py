"""Precision at every layer without a map: a row for each condition, a section for each metric and language pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import Agreement, agreements

RETRIEVAL = "retrieval_p1"
METRIC_TITLES = {
    RETRIEVAL: "Parallel sentences: precision at 1 (%) by layer, no mapping",
    "word_translation_p1": "Word translation: precision at 1 (%) by layer, no mapping",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """The scores of one condition; tuples run over seeds, but for `layers`."""

    condition: str
    languages: tuple[str, str]
    layers: tuple[float, ...]
    """Mean over seeds at each layer."""
    best: tuple[float, ...]
    """Score at the best layer, for each seed."""
    untrained_best: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """The points that training added, for each seed: shared words alone give an untrained model something."""
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
        if each.layer is None or each.seed is None or each.metric != metric or each.variant not in (None, UNTRAINED):
            continue
        by_variant = found.setdefault((each.languages, each.condition), {})
        by_variant.setdefault(each.variant, {}).setdefault(each.seed, {})[each.layer] = each.value
    rows_found = []
    for (languages, condition), by_variant in found.items():
        trained, untrained = by_variant.get(None, {}), by_variant.get(UNTRAINED, {})
        seeds = [seed for seed in trained if seed in untrained]
        if not seeds:
            continue
        layers = sorted(trained[seeds[0]])
        # Departure: the best layer is picked by the scores that are shown, of the untrained model as well.
        rows_found.append(
            Row(
                condition=condition,
                languages=languages,
                layers=tuple(fmean(trained[seed][layer] for seed in seeds) for layer in layers),
                best=tuple(max(trained[seed].values()) for seed in seeds),
                untrained_best=tuple(max(untrained[seed].values()) for seed in seeds),
            )
        )
    return rows_found


def single_value(measurements: Iterable[Measurement], *, metric: str, languages: tuple[str, str]) -> float | None:
    """The value of a metric that is the same for all cells of a language pair, such as a chance level."""
    found = (each for each in measurements if (each.metric, each.variant, each.languages) == (metric, None, languages))
    return next((each.value for each in found), None)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One metric of all conditions of a language pair."""

    title: str
    rows: list[Row]
    chance: float | None
    coverage: float | None
    """How many of the dictionary's pairs were met, in percent."""
    agreements: list[Agreement]
    """Only retrieval is compared with the paper, as it stands in for transfer scores."""


def sections(measurements: Sequence[Measurement]) -> Iterator[Section]:
    """In the order of METRIC_TITLES, and of the pairs as they came."""
    for metric, title in METRIC_TITLES.items():
        found = rows(measurements, metric=metric)
        for languages in dict.fromkeys(row.languages for row in found):
            of_pair = [row for row in found if row.languages == languages]
            yield Section(
                title=f"{title} ({'-'.join(languages)})",
                rows=of_pair,
                chance=single_value(measurements, metric=f"{metric}_chance", languages=languages),
                coverage=single_value(
                    measurements, metric=f"{metric.removesuffix('_p1')}_coverage", languages=languages
                ),
                agreements=agreements({row.condition: row.gains for row in of_pair}) if metric == RETRIEVAL else [],
            )
