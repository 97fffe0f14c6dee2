"""Every exhibit of a study as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

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
    Stages,
    filled,
)
from isoglot.pipeline.figures import FIGURE_4, FIGURE_5, FIGURE_8, figure_cells
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.examples import ExampleFiles
from isoglot.store import Stage, inputs_first
from isoglot.study.conditions import DEFAULT, Condition
from isoglot.study.exhibit_names import EVERYTHING
from isoglot.study.study import Study

Model = tuple[tuple[str, str], Condition]
StagesOf = Callable[[ModelGraph], Stages]


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
    return list(dict.fromkeys(each for each in _cells_and_gaps(study) if isinstance(each, Gap)))


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
        study.derived["cells"] = (*_exhibit_cells(study), *figure_cells(study))
    known: tuple[Cell | Gap, ...] = study.derived["cells"]
    return known


class _Part(NamedTuple):
    """An exhibit, or one task of it, with the models of two languages that it is about."""

    name: str
    exhibit: str
    task: str | None
    seeds: tuple[int, ...]
    models: frozenset[Model]
    stages: StagesOf


def _exhibit_cells(study: Study) -> Iterator[Cell | Gap]:
    # All that one model is for stands together, so that it is made together.
    parts = list(_parts(study))
    for languages, condition in product(study.pairs, dict.fromkeys((*study.conditions, DEFAULT))):
        for part in (part for part in parts if (languages, condition) in part.models):
            for seed in part.seeds:
                graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
                yield from filled(
                    partial(part.stages, graph),
                    exhibit=part.exhibit,
                    condition=condition.name,
                    languages=languages,
                    seed=None if part.exhibit == VOCABULARY else seed,
                    task=part.task,
                    part=part.name,
                )


def _parts(study: Study) -> Iterator[_Part]:
    def part(exhibit: str, stages: StagesOf, *, name: str = "", task: str | None = None) -> _Part:
        seeds = study.of_exhibit(exhibit).seeds
        return _Part(name or exhibit, exhibit, task, seeds, _models_of_two(study, exhibit), stages)

    def vocabulary(graph: ModelGraph) -> Stages:
        return {None: graph.vocabulary_statistics}

    yield _Part(VOCABULARY, VOCABULARY, None, study.seeds[:1], _with_vocabulary(study), vocabulary)
    if EMERGENCE in study.shown_exhibits:
        yield part(EMERGENCE, partial(_nothing_if_given, text="word_translation"), name=WORD_TRANSLATION)
        yield part(EMERGENCE, _emergence)
    if TRAINING in study.shown_exhibits:
        yield part(TRAINING, partial(_nothing_if_given, text="parallel"))
        yield part(TRAINING, partial(_nothing_if_given, text="mapping"))
        yield part(TRAINING, _training)
    for task in study.tasks:
        for exhibit, stages in ((TABLE_1, _transfer), (BASELINES, _baselines)):
            if exhibit in study.shown_exhibits and task in study.of_exhibit(exhibit).tasks:
                yield part(exhibit, partial(stages, task=task), name=f"{exhibit} {task}", task=task)


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
    showing = {*study.shown_exhibits, *(study.file_exhibits if is_named else ())} - {VOCABULARY, FIGURE_4}
    models = [_models_of_two(study, exhibit) for exhibit in showing or ({VOCABULARY} if is_named else ())]
    only = study.only.get(VOCABULARY, EVERYTHING)
    return frozenset(
        (languages, condition)
        for languages, condition in frozenset().union(*models)
        if only.keeps("targets", languages[1]) and only.keeps("conditions", condition.name)
    )


def _nothing_if_given(graph: ModelGraph, *, text: str) -> Stages:
    """A part with no cells of its own: it leaves a gap where an exhibit has to be shown without this text."""
    getattr(graph.sources, text)(graph.pair)
    return {}


def _emergence(graph: ModelGraph) -> Stages:
    return {UNTRAINED: graph.emergence(graph.untrained), None: graph.emergence(graph.pretrained)}


def _training(graph: ModelGraph) -> Stages:
    """By retrieval and by CKA, or by one of them where the sentences of the other are missing."""
    stage = ModelPair.of(graph.study, graph.condition, graph.pair, seed=graph.seed).structure_over_training()
    return {} if stage.retrieval is None and stage.similarity is None else {None: stage}


def _transfer(graph: ModelGraph, *, task: str) -> Stages:
    return {None: graph.transfer(task, graph.pretrained)}


def _baselines(graph: ModelGraph, *, task: str) -> Stages:
    """Fine-tuning of a model that was never pretrained: all of it, or only the task's own layer."""
    return {
        UNTRAINED: graph.transfer(task, graph.untrained),
        FROZEN: graph.transfer(task, graph.untrained, freeze_encoder=True),
    }
