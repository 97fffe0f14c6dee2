"""Figures 4 to 8 as cells: what models of one language each, and of both, have in common at every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
"""The condition of the model that reads one language twice (section 5.2)."""
Places = Iterator[Cell | Gap]
PairOfModels = Callable[[], ModelPair]


def figure_cells(study: Study) -> Places:
    """The cells of every figure that the study asks for."""
    cells_of = {
        FIGURE_4: _figure_4,
        FIGURE_5: _figure_5,
        FIGURE_6: _figure_6,
        FIGURE_7: _figure_7,
        FIGURE_8: _figure_8,
    }
    for exhibit, cells in cells_of.items():
        if exhibit in study.shown_exhibits:
            part = study.of_exhibit(exhibit)
            if exhibit in (FIGURE_5, FIGURE_8) and not _word_tasks(part):
                yield from _gaps_without_tasks(part, exhibit)
            for seed in part.seeds:
                yield from cells(part, seed)


def _place(
    exhibit: str,
    condition: Condition,
    languages: tuple[str, str],
    pair: PairOfModels,
    stage: Callable[[ModelPair], Stage],
    *,
    seed: int,
    task: str | None = None,
    variant: str | None = None,
) -> Cell | Gap:
    """One series of a figure, or a gap where making its stage shows that the study lacks a file."""
    try:
        made = stage(pair())
    except MissingDataError as error:
        return Gap(exhibit=exhibit, condition=condition.name, languages=languages, reason=str(error))
    return Cell(
        exhibit=exhibit,
        condition=condition.name,
        languages=languages,
        seed=seed,
        stage=made,
        task=task,
        variant=variant,
    )


def _figure_4(study: Study, seed: int) -> Places:
    for languages in study.pairs:
        pair = partial(ModelPair.monolingual, study, languages, seed=seed)
        yield _place(FIGURE_4, MONOLINGUAL, languages, pair, ModelPair.word_level_alignment, seed=seed)


def _figure_5(study: Study, seed: int) -> Places:
    """Models of one language each, mapped, and the model of both as it is."""
    for languages in study.pairs:
        of_one_each = partial(ModelPair.monolingual, study, languages, seed=seed)
        yield from _layer_places(study, FIGURE_5, MONOLINGUAL, languages, of_one_each, seed=seed, is_mapped=True)
        of_both = partial(ModelPair.bilingual, study, DEFAULT, languages, seed=seed)
        yield from _layer_places(study, FIGURE_5, DEFAULT, languages, of_both, seed=seed, is_mapped=False)


def _figure_8(study: Study, seed: int) -> Places:
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
) -> Places:
    """Every task that labels words, from every layer."""
    for task in _word_tasks(study):
        for layer in range(study.scale.shape.layers + 1):
            stage = partial(ModelPair.layer_transfer, task=task, layer=layer, is_mapped=is_mapped)
            variant = MAPPED if is_mapped else None
            yield _place(exhibit, condition, languages, pair, stage, seed=seed, task=task, variant=variant)


def _word_tasks(study: Study) -> list[str]:
    """NLI has no words that could be mapped one by one."""
    return [task for task in study.tasks if task_named(task).recipe is Recipe.WORDS]


def _gaps_without_tasks(study: Study, exhibit: str) -> Iterator[Gap]:
    known = ", ".join(name for name in task_names() if task_named(name).recipe is Recipe.WORDS)
    reason = f"tasks has none that labels words; add one of {known}"
    for languages in study.pairs:
        yield Gap(exhibit=exhibit, condition=DEFAULT.name, languages=languages, reason=reason)


def _figure_6(study: Study, seed: int) -> Places:
    for languages in study.pairs:
        for condition, pair, variant in _pairs_of_models(study, languages, study.conditions, seed=seed):
            yield _place(FIGURE_6, condition, languages, pair, ModelPair.sentence_alignment, seed=seed, variant=variant)


def _figure_7(study: Study, seed: int) -> Places:
    """The source with its own second model as well, whose bilingual model has separate embeddings (section 5.2)."""
    source = study.languages[0]
    prime = (source, source + PRIME)
    for languages in (prime, *study.pairs):
        conditions = (OF_PRIME,) if languages == prime else study.conditions
        for condition, pair, variant in _pairs_of_models(study, languages, conditions, seed=seed):
            yield _place(FIGURE_7, condition, languages, pair, ModelPair.similarity, seed=seed, variant=variant)


def _pairs_of_models(
    study: Study, languages: tuple[str, str], conditions: tuple[Condition, ...], *, seed: int
) -> Iterator[tuple[Condition, PairOfModels, str | None]]:
    """Models of both languages, of one each, and the source's with an untrained one of the target."""
    for condition in conditions:
        yield condition, partial(ModelPair.bilingual, study, condition, languages, seed=seed), None
    for is_target_trained, variant in ((True, None), (False, UNTRAINED)):
        of_one_each = partial(ModelPair.monolingual, study, languages, seed=seed, is_target_trained=is_target_trained)
        yield MONOLINGUAL, of_one_each, variant
