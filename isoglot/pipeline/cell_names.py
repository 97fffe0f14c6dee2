"""What a person may call a model of a study, one of its cells, or an artifact of the store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from isoglot.errors import IsoglotError, suggestion
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.fine_tuning import ZeroShotTransfer
from isoglot.pipeline.stages.layer_transfer import LayerTransfer
from isoglot.pipeline.stages.readers import TwoModelStage
from isoglot.pipeline.stages.vocabulary import VocabularyStatistics
from isoglot.store import Record, Stage, Store, inputs_first
from isoglot.study.conditions import DEFAULT, MONOLINGUAL
from isoglot.study.languages import PRIME
from isoglot.study.study import Study

Named = dict[tuple[str, ...], Stage]
"""By the words that may follow a condition's name."""


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """What is meant by a condition or a cell, or by the name of an artifact.

    "sep-emb" and "sep-emb:en-fr:1" are models; "sep-emb nli" and "sep-emb:en-fr:1 figure-7" are cells, of which the
    first is meant where several have all the words.
    """
    condition, *choices = _parts(name)
    models, of_cells = _models(study, condition), _cells(study, condition)
    if models or of_cells:
        for named in (models, of_cells):
            for words, stage in named.items():
                if set(choices) <= set(words):
                    return stage
        measured = {word for words in of_cells for word in _split(words)[1]}
        fitting = models if measured.isdisjoint(choices) else of_cells
        raise IsoglotError(f"{name!r} is none of {study.name}'s {', '.join(_spelled(condition, fitting))}")
    try:
        return store.find(name)
    except IsoglotError as error:
        conditions = [each.name for each in (*study.conditions, MONOLINGUAL)]
        raise IsoglotError(
            f"{name!r} is no condition of {study.name} ({', '.join(conditions)}), and {error}"
            f"{suggestion(condition, conditions)}"
        ) from None


def same_of_default(name: str, *, study: Study) -> str:
    """ "default:ela-oru:1 table-1 nli" for the cell "sep-emb:1 nli"; for a model or an artifact "default"."""
    condition, *choices = _parts(name)
    if any(set(choices) <= set(words) for words in _models(study, condition)):
        return DEFAULT.name
    cell = next((words for words in _cells(study, condition) if set(choices) <= set(words)), None)
    if cell is None:
        return DEFAULT.name
    if cell not in _cells(study, DEFAULT.name):
        raise IsoglotError(f"{name!r} has nothing of its like in Default; say with what to compare it")
    return next(_spelled(DEFAULT.name, [cell]))


def _parts(name: str) -> list[str]:
    return re.split(r"[:\s]+", name.strip())


def _split(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that name a model, which are a pair and perhaps a seed, and those that say what is measured of it."""
    of_model = 2 if len(words) > 1 and words[1].isdecimal() else 1
    return words[:of_model], words[of_model:]


def _spelled(condition: str, named: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """ "default:en-fr:0 table-1 nli" """
    for of_model, measured in map(_split, named):
        yield " ".join([":".join([condition, *of_model]), *measured])


def _models(study: Study, condition: str) -> Named:
    """The models of a condition by pair and seed; where none are asked for, what stands for their vocabulary."""
    if condition == MONOLINGUAL.name:
        return {
            (language, str(seed)): ModelGraph(
                study=study, condition=MONOLINGUAL, languages=(language,), seed=seed
            ).pretrained
            for language in (*study.languages, study.languages[0] + PRIME)
            for seed in study.seeds
        }
    found: Named = {}
    for cell in cells(study):
        if cell.condition == condition and cell.variant is None:
            match cell.stage:
                case VocabularyStatistics():
                    found.setdefault(_model_words(cell), cell.stage)
                case Emergence() | ZeroShotTransfer():
                    found[_model_words(cell)] = cell.stage.encoder
                case LayerTransfer():
                    found[_model_words(cell)] = cell.stage.heads[0].encoder
                case TwoModelStage():
                    found[_model_words(cell)] = cell.stage.encoders[cell.languages[0]]
    with_seeds = {words: model for words, model in found.items() if len(words) > 1}
    return with_seeds or found


def _cells(study: Study, condition: str) -> Named:
    """The cells of a condition, those of trained and unmapped models first, and of these those of two languages."""
    of_condition = [cell for cell in cells(study) if cell.condition == condition]
    found: Named = {}
    for cell in sorted(of_condition, key=lambda cell: (len(cell.variant or ""), _has_double(cell))):
        layer = [f"L{cell.stage.heads[0].layer}"] if isinstance(cell.stage, LayerTransfer) else []
        task = [] if cell.task is None else [cell.task]
        variant = [] if cell.variant is None else cell.variant.split("-")
        found[(*_model_words(cell), cell.exhibit, *task, *layer, *variant)] = cell.stage
    return found


def _model_words(cell: Cell) -> tuple[str, ...]:
    return ("-".join(cell.languages), *(() if cell.seed is None else (str(cell.seed),)))


def _has_double(cell: Cell) -> bool:
    return any(language.endswith(PRIME) for language in cell.languages)


def known_artifacts(study: Study, store: Store) -> Iterator[Stage | Record]:
    """Everything the study names, made or not, and everything the store holds."""
    yield from store.records()
    yield from inputs_first(cell.stage for cell in cells(study)).values()
