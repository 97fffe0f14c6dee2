"""Every exhibit of a study as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from isoglot.errors import MissingDataError
from isoglot.pipeline.cells import (
    BASELINES,
    EMERGENCE,
    FROZEN,
    TABLE_1,
    TRAINING,
    UNTRAINED,
    VOCABULARY,
    WORD_TRANSLATION,
    Cell,
    Gap,
)
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_8, figure_cells
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.sources import sources
from isoglot.pipeline.stages.examples import ExampleFiles
from isoglot.store import Stage, inputs_first
from isoglot.study.conditions import DEFAULT, Condition
from isoglot.study.exhibit_names import EVERYTHING
from isoglot.study.study import Study

Model = tuple[tuple[str, str], Condition]
CellsOf = Callable[[Study, Condition, tuple[str, str]], Iterator[Cell | Gap]]


def cells(study: Study) -> list[Cell]:
    """All cells of all exhibits of a study that can be filled, in the order they are shown."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Cell)]


def targets(study: Study) -> list[Stage]:
    """The stages a run must make. Examples come first: an error in them must not show after days of training."""
    stages: list[Stage] = [cell.stage for cell in cells(study)]
    examples = [each for each in inputs_first(stages).values() if isinstance(each, ExampleFiles)]
    return [*examples, *stages]


def gaps(study: Study) -> list[Gap]:
    """The parts of a study that cannot be shown, and why."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Gap)]


def gap_sentences(study: Study) -> list[str]:
    """For people: "no data for wiki-cc, en-fr (vocabulary, emergence): ...", all that lack the same in one."""
    lacking: dict[str, list[Gap]] = {}
    for gap in gaps(study):
        lacking.setdefault(gap.reason, []).append(gap)
    return [
        f"no data for {', '.join(dict.fromkeys(gap.condition for gap in alike))}, "
        f"{', '.join(dict.fromkeys('-'.join(gap.languages) for gap in alike))} "
        f"({', '.join(dict.fromkeys(gap.exhibit for gap in alike))}): {reason}"
        for reason, alike in lacking.items()
    ]


def left_out_sentences(study: Study) -> list[str]:
    """For people: "left out by --seeds: figure-6, figure-7 ([only] has seeds 0 there)"."""
    left_out: dict[tuple[str, str], list[str]] = {}
    for exhibit in study.exhibits:
        narrowed = study.of_exhibit(exhibit)
        for key in ("conditions", "tasks", "seeds"):
            if not getattr(narrowed, key):
                allowed = ", ".join(map(str, getattr(study.only[exhibit], key)))
                left_out.setdefault((key, allowed), []).append(exhibit)
    return [
        f"left out by --{key}: {', '.join(exhibits)} ([only] has {key} {allowed} there)"
        for (key, allowed), exhibits in left_out.items()
    ]


def _cells_and_gaps(study: Study) -> Sequence[Cell | Gap]:
    """Worked out once and kept with the study: a report needs them many times, and digests take a while."""
    if "cells" not in study.derived:
        study.derived["cells"] = tuple(_worked_out(study))
    known: tuple[Cell | Gap, ...] = study.derived["cells"]
    return known


@dataclass(frozen=True, kw_only=True)
class _Part:
    """An exhibit, or one task of it, and the models of two languages that it is about."""

    name: str
    study: Study
    """The study as the exhibit narrows it."""
    cells_of: CellsOf
    models: frozenset[Model]


def _worked_out(study: Study) -> Iterator[Cell | Gap]:
    # All that one model is for stands together, so that it is made together.
    parts = list(_parts(study))
    for model in product(study.pairs, dict.fromkeys((*study.conditions, DEFAULT))):
        for part in parts:
            if model in part.models:
                languages, condition = model
                try:
                    yield from list(part.cells_of(part.study, condition, languages))
                except MissingDataError as error:
                    yield Gap(exhibit=part.name, condition=condition.name, languages=languages, reason=str(error))
    yield from figure_cells(study)


def _parts(study: Study) -> Iterator[_Part]:
    yield _Part(name=VOCABULARY, study=study, cells_of=_vocabulary_cells, models=_with_vocabulary(study))
    for exhibit, cells_of in ((EMERGENCE, _emergence_cells), (TRAINING, _training_cells)):
        if exhibit in study.shown_exhibits:
            yield _part(study, exhibit, cells_of)
    for task in study.tasks:
        for exhibit, of_task in ((TABLE_1, _transfer_cells), (BASELINES, _baseline_cells)):
            if exhibit in study.shown_exhibits and task in study.of_exhibit(exhibit).tasks:
                yield _part(study, exhibit, partial(of_task, task=task), name=f"{exhibit} {task}")


def _part(study: Study, exhibit: str, cells_of: CellsOf, *, name: str | None = None) -> _Part:
    narrowed, models = study.of_exhibit(exhibit), _models_of_two(study, exhibit)
    return _Part(name=name or exhibit, study=narrowed, cells_of=cells_of, models=models)


def _models_of_two(study: Study, exhibit: str) -> frozenset[Model]:
    """Pairs and conditions of the models of two languages that an exhibit is about."""
    narrowed = study.of_exhibit(exhibit)
    conditions = {FIGURE_4: (), FIGURE_5: (DEFAULT,), FIGURE_8: (DEFAULT,)}.get(exhibit, narrowed.conditions)
    return frozenset(product(narrowed.pairs, conditions))


def _with_vocabulary(study: Study) -> frozenset[Model]:
    """Models whose vocabularies are shown: every model of two languages in any other exhibit.

    If the exhibit is named, those are the exhibits of the study's file; if the file names no other, all models count.
    """
    is_named = VOCABULARY in study.exhibits
    asking = {*study.shown_exhibits, *(study.file_exhibits if is_named else ())} - {VOCABULARY, FIGURE_4}
    models = [_models_of_two(study, exhibit) for exhibit in asking or ({VOCABULARY} if is_named else ())]
    only = study.only.get(VOCABULARY, EVERYTHING)
    return frozenset(
        (languages, condition)
        for languages, condition in frozenset().union(*models)
        if only.keeps("targets", languages[1]) and only.keeps("conditions", condition.name)
    )


def _vocabulary_cells(study: Study, condition: Condition, languages: tuple[str, str]) -> Iterator[Cell | Gap]:
    graph = ModelGraph(study=study, condition=condition, languages=languages, seed=study.seeds[0])
    stage = graph.vocabulary_statistics
    yield Cell(exhibit=VOCABULARY, condition=condition.name, languages=languages, stage=stage)


def _emergence_cells(study: Study, condition: Condition, languages: tuple[str, str]) -> Iterator[Cell | Gap]:
    try:
        sources(study).word_translation(languages)
    except MissingDataError as error:
        yield Gap(exhibit=WORD_TRANSLATION, condition=condition.name, languages=languages, reason=str(error))
    for seed in study.seeds:
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        for encoder, variant in ((graph.untrained, UNTRAINED), (graph.pretrained, None)):
            yield Cell(
                exhibit=EMERGENCE,
                condition=condition.name,
                languages=languages,
                seed=seed,
                stage=graph.emergence(encoder),
                variant=variant,
            )


def _training_cells(study: Study, condition: Condition, languages: tuple[str, str]) -> Iterator[Cell | Gap]:
    """By retrieval and by CKA, or by one of them where the sentences of the other are missing."""
    of_study, num_given = sources(study), 0
    for text in (of_study.parallel, of_study.mapping):
        try:
            text(languages)
            num_given += 1
        except MissingDataError as error:
            yield Gap(exhibit=TRAINING, condition=condition.name, languages=languages, reason=str(error))
    for seed in study.seeds if num_given else ():
        stage = ModelPair.bilingual(study, condition, languages, seed=seed).structure_over_training()
        yield Cell(exhibit=TRAINING, condition=condition.name, languages=languages, seed=seed, stage=stage)


def _transfer_cells(
    study: Study, condition: Condition, languages: tuple[str, str], *, task: str
) -> Iterator[Cell | Gap]:
    for seed in study.seeds:
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        yield Cell(
            exhibit=TABLE_1,
            condition=condition.name,
            languages=languages,
            seed=seed,
            task=task,
            stage=graph.transfer(task, graph.pretrained),
        )


def _baseline_cells(
    study: Study, condition: Condition, languages: tuple[str, str], *, task: str
) -> Iterator[Cell | Gap]:
    """Fine-tuning of a model that was never pretrained: all of it, or only the task's own layer."""
    for seed in study.seeds:
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        for frozen, variant in ((False, UNTRAINED), (True, FROZEN)):
            yield Cell(
                exhibit=BASELINES,
                condition=condition.name,
                languages=languages,
                seed=seed,
                task=task,
                stage=graph.transfer(task, graph.untrained, freeze_encoder=frozen),
                variant=variant,
            )
