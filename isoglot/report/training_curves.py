"""Learning curves: the perplexity of each language's dev text as its model was trained, or is being trained."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pipeline.stages.training_log import Evaluation, evaluations
from isoglot.pretraining.run import LOG
from isoglot.report.figures.line_charts import LineChart, LineFigure
from isoglot.report.findings.layer_scores import Line, pair_title, second_models, shown
from isoglot.store import Store, inputs_first
from isoglot.study.conditions import label_of
from isoglot.study.study import Study

# Points of a line; the eye cannot separate more.
MOST_POINTS = 16


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One language of one model."""

    condition: str
    languages: tuple[str, ...]
    """The languages of the model: two, or one."""
    language: str
    seed: int
    points: tuple[tuple[int, float], ...]
    """Updates, and dev perplexity after each."""
    is_finished: bool = True
    """Whether the model is; of others the curve goes as far as their last checkpoint."""


def learning_curves(study: Study, store: Store) -> list[Curve]:
    """Curves of every model that the store has something of, in the order of the exhibits."""
    models: dict[tuple[str, tuple[str, ...], int], PretrainedEncoder] = {}
    for cell in cells(study):
        if cell.seed is not None:
            for stage in inputs_first([cell.stage]).values():
                if isinstance(stage, PretrainedEncoder):
                    models.setdefault((cell.condition, stage.run.languages, cell.seed), stage)
    curves = []
    for (condition, languages, seed), model in models.items():
        finished = _finished(model, store)
        found = finished or _so_far(store.partial_folder(model))
        curves += [
            Curve(
                condition=condition,
                languages=languages,
                language=language,
                seed=seed,
                points=tuple((each.update, each.perplexity[language]) for each in found),
                is_finished=bool(finished),
            )
            for language in languages
            if found
        ]
    return curves


def _finished(model: PretrainedEncoder, store: Store) -> Sequence[Evaluation]:
    # A damaged log leaves its curve out; the damage is reported where the model is used.
    with suppress(IsoglotError):
        if (stored := store.lookup(model, read=(LOG,))) is not None:
            return evaluations(stored.folder)
    return []


def _so_far(partial: Path) -> Sequence[Evaluation]:
    """Evaluations of a model in training, from its checkpoint."""
    try:
        from isoglot.model.checkpoints import stored_state

        return [Evaluation.of(row) for row in stored_state(partial).get("log", [])]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


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


def _shown_updates(lines: Sequence[Line]) -> list[int]:
    """Evenly thinned, with the first and the last."""
    updates = sorted({update for line in lines for by_update in line.by_seed for update in by_update})
    if len(updates) <= MOST_POINTS:
        return updates
    last = len(updates) - 1
    return [updates[round(place * last / (MOST_POINTS - 1))] for place in range(MOST_POINTS)]
