"""Training as it went: perplexity of each language, and when cross-lingual structure came up, by update."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from isoglot.pipeline.cells import TRAINING
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.charts import Line, LineChart, Reference, line_picture
from isoglot.report.figures.layer_series import pair_title, pairs_of, second_models, shown
from isoglot.report.figures.picture import Picture
from isoglot.report.layer_scores import single_value
from isoglot.report.quantities import short_number
from isoglot.report.training_curves import Curve
from isoglot.study.conditions import label_of

MOST_POINTS = 16
"""Points of a line; the eye cannot separate more."""
CKA_BEFORE_TRAINING = (
    "CKA can be high before any training, of two models as well as of one of both languages: what tells is its course, "
    "and the retrieval beside it."
)
ByUpdate = Mapping[int, float]


@dataclass(frozen=True, kw_only=True)
class TrainingFigure:
    """Some charts of one pair of languages over updates."""

    name: str
    title: str
    charts: tuple[LineChart, ...]
    notes: tuple[str, ...] = ()

    @property
    def picture(self) -> Picture:
        return line_picture(self.charts, name=self.name, title=self.title)

    @property
    def has_several(self) -> dict[str, bool]:
        """For each kind of model, whether any of its lines is a mean over seeds."""
        lines = [line for chart in self.charts for line in chart.series]
        several = {line.label for line in lines if any(line.ranges)}
        return {line.label: line.label in several for line in lines}


def learning_curve_figures(curves: Sequence[Curve]) -> Iterator[TrainingFigure]:
    """One for each pair of languages; models of one language each stand beside those of both."""
    for pair in dict.fromkeys(curve.languages for curve in curves if len(curve.languages) == 2):
        charts = []
        # Models of both first, so that the lines of all charts have one order.
        ordered = sorted(curves, key=lambda curve: len(curve.languages) == 1)
        for language in pair:
            here = [each for each in ordered if each.language == language and each.languages in (pair, (language,))]
            by_label: dict[str, list[ByUpdate]] = {}
            for curve in here:
                by_label.setdefault(label_of(curve.condition), []).append(dict(curve.points))
            charts.append(
                replace(
                    _over_updates(by_label),
                    title=f"Text of {shown(language)}",
                    y_title="dev perplexity (log scale)",
                    decimals=1,
                    is_logarithmic=True,
                )
            )
        title = f"Learning curves ({pair_title((pair[0], pair[1]))})"
        yield TrainingFigure(
            name=f"learning-curves.{'-'.join(pair)}",
            title=title,
            charts=tuple(charts),
            notes=tuple(second_models([pair])),
        )


def structure_figures(measurements: Sequence[Measurement]) -> Iterator[TrainingFigure]:
    """One for each pair of languages: retrieval at the best layer, and CKA as the mean over layers."""
    moments = [each for each in measurements if each.exhibit == TRAINING]
    for pair in pairs_of(moments, TRAINING):
        here = [each for each in moments if each.languages == pair]
        charts: list[LineChart] = []
        if retrieved := _by_label(here, metric="retrieval_p1", summary=max):
            chance = single_value(here, metric="retrieval_p1_chance", languages=pair)
            charts.append(
                replace(
                    _over_updates(retrieved, has_log_x=True),
                    title="Sentences that find their translation, best layer",
                    y_title="precision at 1 (%)",
                    references=[] if chance is None else [Reference(label="chance", value=chance)],
                    decimals=1,
                )
            )
        if similar := _by_label(here, metric="cka", summary=fmean):
            title = "Likeness of the languages, mean over layers"
            charts.append(replace(_over_updates(similar, has_log_x=True), title=title, y_title="linear CKA"))
        if charts:
            title = f"Structure over training ({pair_title(pair)})"
            yield TrainingFigure(
                name=f"{TRAINING}.{'-'.join(pair)}",
                title=title,
                charts=tuple(charts),
                notes=(CKA_BEFORE_TRAINING,) if similar else (),
            )


def _by_label(
    measurements: Iterable[Measurement], *, metric: str, summary: Callable[[Iterable[float]], float]
) -> dict[str, list[ByUpdate]]:
    """For each condition, a series for each seed; each moment's layers in one number."""
    layers: dict[str, dict[int | None, dict[int, list[float]]]] = {}
    for each in measurements:
        if each.metric == metric and each.update is not None and each.layer is not None:
            of_seed = layers.setdefault(label_of(each.condition), {}).setdefault(each.seed, {})
            of_seed.setdefault(each.update, []).append(each.value)
    return {
        label: [{update: summary(values) for update, values in moments.items()} for moments in by_seed.values()]
        for label, by_seed in layers.items()
    }


def _over_updates(by_label: Mapping[str, Sequence[ByUpdate]], *, has_log_x: bool = False) -> LineChart:
    """Means over seeds, and their ranges."""
    updates = sorted({update for seeds in by_label.values() for values in seeds for update in values})
    kept = _thinned(updates)
    lines = []
    for label, seeds in by_label.items():
        found = [[values[update] for values in seeds if update in values] for update in kept]
        lines.append(
            Line(
                label=label,
                values=[fmean(values) if values else None for values in found],
                ranges=[(min(values), max(values)) if len(values) > 1 else None for values in found],
            )
        )
    return LineChart(
        title="",
        series=lines,
        y_title="",
        # Models are kept after 1/2, 1/4, 1/8 and so on of the updates, which a log scale spaces evenly.
        x_title="updates (log scale)" if has_log_x else "updates",
        has_log_x=has_log_x,
        x_labels=[short_number(update) for update in kept],
        x_values=kept,
    )


def _thinned(updates: Sequence[int]) -> list[int]:
    """Evenly, with the first and the last."""
    if len(updates) <= MOST_POINTS:
        return list(updates)
    last = len(updates) - 1
    return [updates[round(place * last / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]
