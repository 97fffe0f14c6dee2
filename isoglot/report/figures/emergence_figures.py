"""Retrieval without a map, by layer: sentences that find their translations, and words."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_figures import layer_figure
from isoglot.report.figures.line_charts import LineFigure
from isoglot.report.findings.layer_scores import CENTRED, CENTRED_RETRIEVAL, Panel, Row, rows
from isoglot.report.quantities import mean_and_range
from isoglot.study.conditions import label_of

TITLES = {
    CENTRED_RETRIEVAL: "Parallel sentences: precision at 1 (%) by layer, centred",
    "word_translation_p1": "Word translation: precision at 1 (%) by layer, centred",
}

FEW = 100  # of so many, one more or less is a point


def emergence_figures(measurements: Sequence[Measurement]) -> Iterator[tuple[str, LineFigure]]:
    """Each with its metric, in the order of the titles and then of the pairs as they came."""
    for metric in TITLES:
        for panel, found in rows(measurements, metric=metric):
            yield metric, _figure(panel, found, metric=metric)


def _chance(chance: float) -> str:
    number = round(100 / chance)
    few = " So few say little of a model." if number < FEW else ""
    return f"Chance is {chance:.1f}%, one of {number:,}.{few}"


def _coverage(percent: float) -> str:
    return f"{percent:.{0 if percent >= 1 else 2}f}% of the dictionary's pairs are met in the held-out text."


def _figure(panel: Panel, found: Sequence[Row], *, metric: str) -> LineFigure:
    name, values = metric.removesuffix("_p1"), panel.values()
    lines = panel.lines((label_of(row.condition), (metric, row.condition, None)) for row in found)
    chance, coverage = values.get(f"{metric}_chance"), values.get(f"{name}_coverage")
    raw = {"raw best": [mean_and_range(row.raw_best) for row in found]} if all(row.raw_best for row in found) else {}
    unlearned = [f"{label_of(row.condition)} of {', '.join(row.unlearned)}" for row in found if row.unlearned]
    notes = [
        CENTRED,
        *([_chance(chance)] if chance else []),
        *([] if coverage is None else [_coverage(coverage)]),
        *([f"Models that know no more than how frequent words are: {'; '.join(unlearned)}."] if unlearned else []),
    ]
    figure = layer_figure(
        name.replace("_", "-"),
        TITLES[metric],
        panel.languages,
        lines,
        levels={} if chance is None else {"chance": chance},
        notes=notes,
    )
    (chart,) = figure.charts
    before = {"before training": [f"{row.mean_untrained_best:.1f}" for row in found]}
    return replace(figure, charts=[replace(chart, columns={**chart.columns, **raw, **before})])
