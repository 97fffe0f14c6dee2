"""Figures 4 to 8 as cells: what models of one language each, and of both, have in common at every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
Series = tuple[Condition, tuple[str, str], Callable[[], Stage], str | None, str | None]
"""One series of a figure, or a point of it: condition, languages, what gives its stage, task and variant."""


def figure_cells(study: Study) -> Iterator[Cell | Gap]:
    """The cells of every figure that the study asks for."""
    series_of = {
        FIGURE_4: _figure_4,
        FIGURE_5: _figure_5,
        FIGURE_6: _figure_6,
        FIGURE_7: _figure_7,
        FIGURE_8: _figure_8,
    }
    for exhibit in (exhibit for exhibit in series_of if exhibit in study.shown_exhibits):
        part = study.of_exhibit(exhibit)
        if exhibit in (FIGURE_5, FIGURE_8) and not _word_tasks(part.tasks):
            reason = f"tasks has none that labels words; add one of {', '.join(_word_tasks(task_names()))}"
            for languages in part.pairs:
                yield Gap(exhibit=exhibit, condition=DEFAULT.name, languages=languages, reason=reason)
        for seed in part.seeds:
            for condition, languages, make_stage, task, variant in series_of[exhibit](part, seed):
                # Files are looked up here and not before: a pair of models is lazy, so that one series without its
                # files leaves a gap and the other series stay.
                try:
                    stage = make_stage()
                except MissingDataError as error:
                    yield Gap(exhibit=exhibit, condition=condition.name, languages=languages, reason=str(error))
                    continue
                yield Cell(
                    exhibit=exhibit,
                    condition=condition.name,
                    languages=languages,
                    stage=stage,
                    seed=seed,
                    task=task,
                    variant=variant,
                )


def _word_tasks(tasks: Iterable[str]) -> list[str]:
    """NLI has no words that could be mapped one by one."""
    return [task for task in tasks if task_named(task).recipe is Recipe.WORDS]


def _figure_4(study: Study, seed: int) -> Iterator[Series]:
    for languages in study.pairs:
        pair = ModelPair.monolingual(study, languages, seed=seed)
        yield MONOLINGUAL, languages, pair.word_level_alignment, None, None


def _figure_5(study: Study, seed: int) -> Iterator[Series]:
    """Models of one language each, mapped, and the model of both as it is."""
    for languages in study.pairs:
        of_one_each = ModelPair.monolingual(study, languages, seed=seed)
        yield from _layers(study, MONOLINGUAL, of_one_each, is_mapped=True)
        yield from _layers(study, DEFAULT, ModelPair.bilingual(study, DEFAULT, languages, seed=seed), is_mapped=False)


def _figure_8(study: Study, seed: int) -> Iterator[Series]:
    """The model of both, as it is and mapped."""
    for languages in study.pairs:
        for is_mapped in (False, True):
            of_both = ModelPair.bilingual(study, DEFAULT, languages, seed=seed)
            yield from _layers(study, DEFAULT, of_both, is_mapped=is_mapped)


def _layers(study: Study, condition: Condition, pair: ModelPair, *, is_mapped: bool) -> Iterator[Series]:
    """Every task that labels words, from every layer."""
    for task in _word_tasks(study.tasks):
        for layer in range(study.scale.shape.layers + 1):
            make_stage = partial(pair.layer_transfer, task, layer=layer, is_mapped=is_mapped)
            yield condition, pair.languages, make_stage, task, MAPPED if is_mapped else None


def _figure_6(study: Study, seed: int) -> Iterator[Series]:
    for languages in study.pairs:
        for condition, pair, variant in _model_pairs(study, languages, study.conditions, seed=seed):
            yield condition, languages, pair.sentence_alignment, None, variant


def _figure_7(study: Study, seed: int) -> Iterator[Series]:
    """The source with its own second model as well, whose bilingual model has separate embeddings (section 5.2)."""
    source = study.languages[0]
    prime = (source, source + PRIME)
    for languages in (prime, *study.pairs):
        conditions = (OF_PRIME,) if languages == prime else study.conditions
        for condition, pair, variant in _model_pairs(study, languages, conditions, seed=seed):
            yield condition, languages, pair.similarity, None, variant


def _model_pairs(
    study: Study, languages: tuple[str, str], conditions: tuple[Condition, ...], *, seed: int
) -> Iterator[tuple[Condition, ModelPair, str | None]]:
    """Models of both languages, of one each, and the source's with an untrained one of the target."""
    for condition in conditions:
        yield condition, ModelPair.bilingual(study, condition, languages, seed=seed), None
    yield MONOLINGUAL, ModelPair.monolingual(study, languages, seed=seed), None
    yield MONOLINGUAL, ModelPair.monolingual(study, languages, seed=seed, is_target_trained=False), UNTRAINED
