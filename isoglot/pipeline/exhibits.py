"""Every exhibit of a study as cells, each filled by the scores of one stage."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

from isoglot.errors import option
from isoglot.evaluation.transfer.task import Recipe
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import (
    AT,
    BASELINES,
    EMERGENCE,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FROZEN,
    GROWTH,
    GROWTH_TASKS,
    MAPPED,
    OF_PRIME,
    TABLE_1,
    UNTRAINED,
    VOCABULARY,
    WORD_TRANSLATION,
    Cell,
    Gap,
    Stages,
    filled,
)
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.examples import ExampleFiles
from isoglot.store import Stage, inputs_first
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, Condition
from isoglot.study.exhibit_names import KEYS
from isoglot.study.languages import PRIME
from isoglot.study.real_text import task_names
from isoglot.study.study import Study

Model = tuple[tuple[str, str], Condition]
# The models whose every layer is read. States of the target are mapped to the source's, as are those of an untrained
# model of the target, which are the floor; or they are read as they are.
LAYERS_OF = {
    FIGURE_5: ((MONOLINGUAL, MAPPED), (MONOLINGUAL, UNTRAINED), (DEFAULT, None)),
    FIGURE_8: ((DEFAULT, None), (DEFAULT, MAPPED)),
}


class Part(NamedTuple):
    """An exhibit, or a part of it that may be missing alone."""

    exhibit: str
    name: str
    task: str | None
    stages: Callable[[ModelGraph], Stages]


class Series(NamedTuple):
    """One series of a figure, or a point of it."""

    condition: Condition
    stage: Callable[[], Stage]
    task: str | None = None
    variant: str | None = None


def cells(study: Study) -> list[Cell]:
    """All cells of all exhibits of a study that can be filled, in the order they are shown."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Cell)]


def targets(study: Study) -> list[Stage]:
    """The stages a run must make. Examples come first: an error in them must not show after days of training.

    Every model of the first seed comes before any of the second, so that a run that is stopped leaves whole tables.
    """
    seeds = (None, *study.seeds)
    stages: list[Stage] = [cell.stage for cell in sorted(cells(study), key=lambda cell: seeds.index(cell.seed))]
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
    for exhibit, key in product(study.exhibits, KEYS):
        if not getattr(study.of_exhibit(exhibit), key):
            allowed = ", ".join(map(str, study.only[exhibit][key]))
            left_out.setdefault((key, allowed), []).append(exhibit)
    return [
        f"left out by {option(key, python=key)}: {', '.join(exhibits)} ([only] has {key} {allowed} there)"
        for (key, allowed), exhibits in left_out.items()
    ]


def _cells_and_gaps(study: Study) -> Sequence[Cell | Gap]:
    # Worked out once and kept with the study: a report needs them many times, and digests take a while.
    if "cells" not in study.derived:
        study.derived["cells"] = (*_exhibit_cells(study), *_figure_cells(study))
    return study.derived["cells"]  # type: ignore[no-any-return]


def _exhibit_cells(study: Study) -> Iterator[Cell | Gap]:
    parts = list(_parts(study))
    models = {each: _models_of_two(study, each) for each in study.shown_exhibits}
    models[VOCABULARY] = _with_vocabulary(study)
    # All that one model is for stands together, so that it is made together.
    for languages, condition in product(study.pairs, dict.fromkeys((*study.conditions, DEFAULT))):
        for exhibit, name, task, stages in parts:
            seeds = study.seeds[:1] if exhibit == VOCABULARY else study.of_exhibit(exhibit).seeds
            for seed in seeds if (languages, condition) in models[exhibit] else ():
                graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
                yield from filled(
                    partial(stages, graph),
                    exhibit=exhibit,
                    condition=condition.name,
                    languages=languages,
                    seed=None if exhibit == VOCABULARY else seed,
                    task=task,
                    part=name,
                )


def _parts(study: Study) -> Iterator[Part]:
    def vocabulary(graph: ModelGraph) -> Stages:
        return {None: graph.vocabulary_statistics}

    shown = study.shown_exhibits
    yield Part(VOCABULARY, VOCABULARY, None, vocabulary)
    if EMERGENCE in shown:
        yield Part(EMERGENCE, WORD_TRANSLATION, None, partial(_require_text, text="word_translation"))
        yield Part(EMERGENCE, EMERGENCE, None, _emergence)
    if GROWTH in shown:
        for text, shown_by_it in (("parallel", "retrieval"), ("mapping", "CKA"), ("word_translation", "words")):
            yield Part(GROWTH, f"{GROWTH} {shown_by_it}", None, partial(_require_text, text=text))
        yield Part(GROWTH, GROWTH, None, _at_moments)
    transfers = {TABLE_1: _transfer, BASELINES: _baselines, GROWTH_TASKS: _transfer_at_moments}
    for task, (exhibit, stages) in product(study.tasks, transfers.items()):
        if exhibit in shown and task in study.of_exhibit(exhibit).tasks:
            yield Part(exhibit, f"{exhibit} {task}", task, partial(stages, task=task))


def _models_of_two(study: Study, exhibit: str) -> frozenset[Model]:
    # Pairs and conditions of the models of two languages that an exhibit is about.
    narrowed = study.of_exhibit(exhibit)
    conditions = {FIGURE_4: (), FIGURE_5: (DEFAULT,), FIGURE_8: (DEFAULT,)}.get(exhibit, narrowed.conditions)
    return frozenset(product(narrowed.pairs, conditions))


def _with_vocabulary(study: Study) -> frozenset[Model]:
    # Models whose vocabularies are shown: every model of two languages in any other exhibit. If the exhibit is named,
    # those are the exhibits of the study's file; if the file names no other, all models count.
    is_named = VOCABULARY in study.exhibits
    showing = {*study.shown_exhibits, *(study.file_exhibits if is_named else ())} - {VOCABULARY, FIGURE_4}
    models = [_models_of_two(study, exhibit) for exhibit in showing or ([VOCABULARY] if is_named else [])]
    keeps = partial(study.keeps, VOCABULARY)
    return frozenset(
        (languages, condition)
        for languages, condition in frozenset().union(*models)
        if keeps("targets", languages[1]) and keeps("conditions", condition.name)
    )


def _require_text(graph: ModelGraph, *, text: str) -> Stages:
    """A part with no cells: it leaves a gap where an exhibit has to be shown without this text."""
    getattr(graph.sources, text)(graph.pair)
    return {}


def _emergence(graph: ModelGraph) -> Stages:
    return {UNTRAINED: graph.emergence(graph.untrained), None: graph.emergence(graph.pretrained)}


def _at_moments(graph: ModelGraph) -> Stages:
    # By retrieval, CKA and words, or by those of them whose sentences or dictionary are there.
    stage = ModelPair.of(graph.study, graph.condition, graph.pair, seed=graph.seed).structure_over_training()
    texts = (stage.retrieval, stage.similarity, stage.dictionary)
    return {} if texts == (None, None, None) else {None: stage}


def _transfer_at_moments(graph: ModelGraph, *, task: str) -> Stages:
    # The untrained model's scores are the floor that growth starts from.
    moments: Stages = {f"{AT}{each.update}": graph.transfer(task, each) for each in graph.at_moments}
    return {UNTRAINED: graph.transfer(task, graph.untrained), **moments, **_transfer(graph, task=task)}


def _transfer(graph: ModelGraph, *, task: str) -> Stages:
    return {None: graph.transfer(task, graph.pretrained)}


def _baselines(graph: ModelGraph, *, task: str) -> Stages:
    # Fine-tuning of a model that was never pretrained: all of it, or only the task's own layer.
    frozen = graph.transfer(task, graph.untrained, freeze_encoder=True)
    return {UNTRAINED: graph.transfer(task, graph.untrained), FROZEN: frozen}


def _figure_cells(study: Study) -> Iterator[Cell | Gap]:
    # Figures 4 to 8: what models of one language each, and of both, have in common at every layer.
    for exhibit in (FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8):
        if exhibit not in study.shown_exhibits:
            continue
        part = study.of_exhibit(exhibit)
        if exhibit in LAYERS_OF and not _word_tasks(part.tasks):
            reason = f"tasks has none that labels words; add one of {', '.join(_word_tasks(task_names()))}"
            for languages in part.pairs:
                yield Gap(exhibit=exhibit, condition=DEFAULT.name, languages=languages, reason=reason)
        source = part.languages[0]
        # Figure 7 also holds the source against its own second model (section 5.2).
        second = [(source, source + PRIME)] if exhibit == FIGURE_7 else []
        for seed, languages in product(part.seeds, (*second, *part.pairs)):
            for condition, make_stage, task, variant in _series(part, exhibit, languages, seed):
                yield from filled(
                    partial(lambda variant, make: {variant: make()}, variant, make_stage),
                    exhibit=exhibit,
                    condition=condition.name,
                    languages=languages,
                    seed=seed,
                    task=task,
                )


def _word_tasks(tasks: Iterable[str]) -> list[str]:
    # NLI has no words that could be mapped one by one.
    return [task for task in tasks if task_named(task).recipe is Recipe.WORDS]


def _series(study: Study, exhibit: str, languages: tuple[str, str], seed: int) -> Iterator[Series]:
    if exhibit == FIGURE_4:
        yield Series(MONOLINGUAL, ModelPair.of(study, MONOLINGUAL, languages, seed=seed).word_level_alignment)
    elif exhibit in LAYERS_OF:
        for condition, variant in LAYERS_OF[exhibit]:
            pair = ModelPair.of(study, condition, languages, seed=seed, is_trained=variant != UNTRAINED)
            for task, layer in product(_word_tasks(study.tasks), range(study.scale.shape.layers + 1)):
                make_stage = partial(pair.layer_transfer, task, layer=layer, is_mapped=variant is not None)
                yield Series(condition, make_stage, task, variant)
    else:
        # Models of both languages, and of one each. Untrained: Default, as random layers that are shared make languages
        # alike, and the target's model of one language.
        conditions = (OF_PRIME,) if languages[1].endswith(PRIME) else study.conditions
        trained = (*conditions, MONOLINGUAL)
        untrained = [each for each in trained if each in (DEFAULT, MONOLINGUAL)]
        for condition, variant in (*product(trained, (None,)), *product(untrained, (UNTRAINED,))):
            pair = ModelPair.of(study, condition, languages, seed=seed, is_trained=variant is None)
            stage = pair.sentence_alignment if exhibit == FIGURE_6 else pair.similarity
            yield Series(condition, stage, variant=variant)
