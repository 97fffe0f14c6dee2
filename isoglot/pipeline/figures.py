"""Figures 4 to 8 as cells: what models of one language each, and of both, have in common at every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from isoglot.errors import MissingDataError
from isoglot.evaluation.transfer.task import Recipe
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED, Cell, Gap
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.store import Stage
from isoglot.study.conditions import CONDITIONS, DEFAULT, MONOLINGUAL, Condition
from isoglot.study.languages import PRIME
from isoglot.study.study import Study
from isoglot.study.task_files import task_names

FIGURE_4 = "figure-4"
FIGURE_5 = "figure-5"
FIGURE_6 = "figure-6"
FIGURE_7 = "figure-7"
FIGURE_8 = "figure-8"
OF_PRIME = CONDITIONS["sep-emb"]
"""Of the model that reads one language twice (section 5.2)."""
PairOfModels = Callable[[], ModelPair]
"""Called where it is told what the study lacks for it."""


@dataclass(frozen=True, kw_only=True)
class _Place:
    """One series of a figure before it is known whether the study has the files for it."""

    exhibit: str
    condition: Condition
    languages: tuple[str, str]
    pair: PairOfModels
    stage: Callable[[ModelPair], Stage]
    seed: int
    task: str | None = None
    variant: str | None = None


def figure_cells(study: Study) -> Iterator[Cell | Gap]:
    """Of every figure that the study asks for."""
    places_of = {
        FIGURE_4: _figure_4,
        FIGURE_5: _figure_5,
        FIGURE_6: _figure_6,
        FIGURE_7: _figure_7,
        FIGURE_8: _figure_8,
    }
    for exhibit, places in places_of.items():
        if exhibit in study.shown_exhibits:
            part = study.of_exhibit(exhibit)
            if exhibit in (FIGURE_5, FIGURE_8) and not _word_tasks(part):
                yield from _gaps_without_tasks(part, exhibit)
            for seed in part.seeds:
                yield from map(_cell_or_gap, places(part, seed))


def _cell_or_gap(place: _Place) -> Cell | Gap:
    try:
        stage = place.stage(place.pair())
    except MissingDataError as error:
        return Gap(exhibit=place.exhibit, condition=place.condition.name, languages=place.languages, reason=str(error))
    return Cell(
        exhibit=place.exhibit,
        condition=place.condition.name,
        languages=place.languages,
        seed=place.seed,
        stage=stage,
        task=place.task,
        variant=place.variant,
    )


def _figure_4(study: Study, seed: int) -> Iterator[_Place]:
    for languages in study.pairs:
        yield _Place(
            exhibit=FIGURE_4,
            condition=MONOLINGUAL,
            languages=languages,
            pair=partial(ModelPair.monolingual, study, languages, seed=seed),
            stage=ModelPair.word_level_alignment,
            seed=seed,
        )


def _figure_5(study: Study, seed: int) -> Iterator[_Place]:
    """Models of one language each, mapped, and the model of both as it is."""
    for languages in study.pairs:
        of_one_each = partial(ModelPair.monolingual, study, languages, seed=seed)
        yield from _layer_places(study, FIGURE_5, MONOLINGUAL, languages, of_one_each, seed=seed, is_mapped=True)
        of_both = partial(ModelPair.bilingual, study, DEFAULT, languages, seed=seed)
        yield from _layer_places(study, FIGURE_5, DEFAULT, languages, of_both, seed=seed, is_mapped=False)


def _figure_8(study: Study, seed: int) -> Iterator[_Place]:
    """The model of both, as it is and mapped."""
    for languages in study.pairs:
        of_both = partial(ModelPair.bilingual, study, DEFAULT, languages, seed=seed)
        for is_mapped in (False, True):
            yield from _layer_places(study, FIGURE_8, DEFAULT, languages, of_both, seed=seed, is_mapped=is_mapped)


def _layer_places(
    study: Study,
    exhibit: str,
    condition: Condition,
    languages: tuple[str, str],
    pair: PairOfModels,
    *,
    seed: int,
    is_mapped: bool,
) -> Iterator[_Place]:
    """Every task that labels words, from every layer."""
    for task in _word_tasks(study):
        for layer in range(study.scale.shape.layers + 1):
            yield _Place(
                exhibit=exhibit,
                condition=condition,
                languages=languages,
                pair=pair,
                stage=partial(ModelPair.layer_transfer, task=task, layer=layer, is_mapped=is_mapped),
                seed=seed,
                task=task,
                variant=MAPPED if is_mapped else None,
            )


def _word_tasks(study: Study) -> list[str]:
    """NLI has no words that could be mapped one by one."""
    return [task for task in study.tasks if task_named(task).recipe is Recipe.WORDS]


def _gaps_without_tasks(study: Study, exhibit: str) -> Iterator[Gap]:
    known = ", ".join(name for name in task_names() if task_named(name).recipe is Recipe.WORDS)
    reason = f"tasks has none that labels words; add one of {known}"
    for languages in study.pairs:
        yield Gap(exhibit=exhibit, condition=DEFAULT.name, languages=languages, reason=reason)


def _figure_6(study: Study, seed: int) -> Iterator[_Place]:
    for languages in study.pairs:
        for condition, pair, variant in _pairs_of_models(study, languages, study.conditions, seed=seed):
            yield _Place(
                exhibit=FIGURE_6,
                condition=condition,
                languages=languages,
                pair=pair,
                stage=ModelPair.sentence_alignment,
                seed=seed,
                variant=variant,
            )


def _figure_7(study: Study, seed: int) -> Iterator[_Place]:
    """The source with its own second model as well, whose bilingual model has separate embeddings (section 5.2)."""
    source = study.languages[0]
    prime = (source, source + PRIME)
    for languages in (prime, *study.pairs):
        conditions = (OF_PRIME,) if languages == prime else study.conditions
        for condition, pair, variant in _pairs_of_models(study, languages, conditions, seed=seed):
            yield _Place(
                exhibit=FIGURE_7,
                condition=condition,
                languages=languages,
                pair=pair,
                stage=ModelPair.similarity,
                seed=seed,
                variant=variant,
            )


def _pairs_of_models(
    study: Study, languages: tuple[str, str], conditions: tuple[Condition, ...], *, seed: int
) -> Iterator[tuple[Condition, PairOfModels, str | None]]:
    """Models of both languages, of one each, and the source's with an untrained one of the target."""
    for condition in conditions:
        yield condition, partial(ModelPair.bilingual, study, condition, languages, seed=seed), None
    for is_target_trained, variant in ((True, None), (False, UNTRAINED)):
        of_one_each = partial(ModelPair.monolingual, study, languages, seed=seed, is_target_trained=is_target_trained)
        yield MONOLINGUAL, of_one_each, variant
