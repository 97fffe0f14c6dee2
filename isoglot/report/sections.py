"""A report section by section: one metric of one language pair, in the terminal and on the page alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import Agreement, agreements
from isoglot.report.rows import Row, rows, single_value

RETRIEVAL = "retrieval_p1"
METRIC_TITLES = {
    RETRIEVAL: "Parallel sentences: precision at 1 (%) by layer, no mapping",
    "word_translation_p1": "Word translation: precision at 1 (%) by layer, no mapping",
}


@dataclass(frozen=True, kw_only=True)
class Section:
    """What one metric says of all conditions of a language pair."""

    title: str
    rows: list[Row]
    chance: float | None
    coverage: float | None
    """Of the pairs of the dictionary, in percent."""
    agreements: list[Agreement]
    """Of the metric that stands in for the paper's transfer scores; of others none."""


def sections(measurements: Sequence[Measurement]) -> Iterator[Section]:
    """In the order of METRIC_TITLES, and of the pairs as they came."""
    for metric, title in METRIC_TITLES.items():
        gathered = rows(measurements, metric=metric)
        for languages in dict.fromkeys(row.languages for row in gathered):
            of_pair = [row for row in gathered if row.languages == languages]
            yield Section(
                title=f"{title} ({'-'.join(languages)})",
                rows=of_pair,
                chance=single_value(measurements, metric=f"{metric}_chance", languages=languages),
                coverage=single_value(
                    measurements, metric=f"{metric.removesuffix('_p1')}_coverage", languages=languages
                ),
                agreements=agreements(of_pair) if metric == RETRIEVAL else [],
            )
