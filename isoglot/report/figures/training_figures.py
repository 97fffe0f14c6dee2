"""Training as it went: perplexity of each language, and when cross-lingual structure came up, by update."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from isoglot.pipeline.cells import TRAINING
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import (
    Line,
    LineChart,
    LineFigure,
    mean_values,
    pair_title,
    pairs_of,
    second_models,
    shown,
)
from isoglot.report.training_curves import Curve
from isoglot.study.conditions import label_of

# Points of a line; the eye cannot separate more.
MOST_POINTS = 16
CKA_BEFORE_TRAINING = (
    "CKA can be high before any training, of two models as well as of one of both languages: what tells is its course, "
    "and the retrieval beside it."
)


def learning_curve_figures(curves: Sequence[Curve]) -> Iterator[LineFigure]:
    """One for each pair of languages; models of one language each stand beside those of both."""
    # Models of both first, so that the lines of all charts have one order.
    ordered = sorted(curves, key=lambda curve: len(curve.languages) == 1)
    for pair in dict.fromkeys(curve.languages for curve in curves if len(curve.languages) == 2):
        charts = []
        for language in pair:
            by_label: dict[str, list[dict[int, float]]] = {}
            for curve in ordered:
                if curve.language == language and curve.languages in (pair, (language,)):
                    by_label.setdefault(label_of(curve.condition), []).append(dict(curve.points))
            lines = [Line(label=label, by_seed=by_seed) for label, by_seed in by_label.items()]
            charts.append(
                LineChart(
                    title=f"Text of {shown(language)}",
                    series=lines,
                    y_title="dev perplexity (log scale)",
                    decimals=1,
                    x_title="updates",
                    updates=_shown_updates(lines),
                    is_logarithmic=True,
                )
            )
        yield LineFigure(
            name=f"learning-curves.{'-'.join(pair)}",
            title=f"Learning curves ({pair_title((pair[0], pair[1]))})",
            charts=charts,
            notes=list(second_models([pair])),
        )


def structure_figures(measurements: Sequence[Measurement]) -> Iterator[LineFigure]:
    """One for each pair of languages: retrieval at the best layer, and CKA as the mean over layers."""
    for pair in pairs_of(measurements, TRAINING):
        here = [each for each in measurements if (each.exhibit, each.languages) == (TRAINING, pair)]
        chance = mean_values(here, exhibit=TRAINING, languages=pair).get("retrieval_p1_chance")
        retrieved = _lines(here, metric="retrieval_p1", summary=max)
        similar = _lines(here, metric="cka", summary=fmean)
        charts = [
            LineChart(
                title=title,
                series=lines,
                y_title=y_title,
                decimals=decimals,
                references={} if level is None else {"chance": level},
                # Models are kept after 1/2, 1/4, 1/8 and so on of the updates, which a log scale spaces evenly.
                x_title="updates (log scale)",
                updates=_shown_updates(lines),
                has_log_x=True,
            )
            for title, lines, y_title, decimals, level in (
                (
                    "Sentences that find their translation, best layer, centred",
                    retrieved,
                    "precision at 1 (%)",
                    1,
                    chance,
                ),
                ("Likeness of the languages, mean over layers", similar, "linear CKA", 2, None),
            )
            if lines
        ]
        if charts:
            yield LineFigure(
                name=f"{TRAINING}.{'-'.join(pair)}",
                title=f"Structure over training ({pair_title(pair)})",
                charts=charts,
                notes=[CKA_BEFORE_TRAINING] if similar else [],
            )


def _lines(
    measurements: Iterable[Measurement], *, metric: str, summary: Callable[[Iterable[float]], float]
) -> list[Line]:
    """For each condition, the layers of each moment in one number."""
    layers: dict[str, dict[int | None, dict[int, list[float]]]] = {}
    for each in measurements:
        if each.metric == metric and each.update is not None and each.layer is not None:
            of_seed = layers.setdefault(label_of(each.condition), {}).setdefault(each.seed, {})
            of_seed.setdefault(each.update, []).append(each.value)
    return [
        Line(
            label=label,
            by_seed=[{update: summary(values) for update, values in of_seed.items()} for of_seed in by_seed.values()],
        )
        for label, by_seed in layers.items()
    ]


def _shown_updates(lines: Sequence[Line]) -> list[int]:
    """Evenly thinned, with the first and the last."""
    updates = sorted({update for line in lines for by_update in line.by_seed for update in by_update})
    if len(updates) <= MOST_POINTS:
        return updates
    last = len(updates) - 1
    return [updates[round(place * last / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]
