"""Learning curves: the perplexity of each language's dev text as its model was trained, or is being trained."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pipeline.stages.training_log import Evaluation, evaluations
from isoglot.pretraining.run import LOG
from isoglot.store import Store, inputs_first
from isoglot.study.study import Study


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
