"""What a reader sees of a study: every exhibit as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from isoglot.artifacts import Record, Stage, Store, inputs_first
from isoglot.cells import BASELINES, EMERGENCE, FROZEN, TABLE_1, UNTRAINED, VOCABULARY, WORD_TRANSLATION, Cell, Gap
from isoglot.conditions import MONOLINGUAL, Condition
from isoglot.errors import IsoglotError, MissingDataError
from isoglot.figures import FIGURE_4, figure_cells
from isoglot.languages import PRIME
from isoglot.stages.emergence import Emergence
from isoglot.stages.examples import ExampleFiles
from isoglot.stages.layer_transfer import LayerTransfer
from isoglot.stages.model_graph import ModelGraph
from isoglot.stages.sources import sources
from isoglot.stages.transfer import ZeroShotTransfer
from isoglot.stages.two_models import OfTwoModels
from isoglot.stages.vocabulary_statistics import VocabularyStatistics
from isoglot.study import Study

CellsOf = Callable[[Study, Condition, tuple[str, str]], Iterator[Cell | Gap]]


def cells(study: Study) -> list[Cell]:
    """All cells of all exhibits of a study that can be filled, in the order they are shown."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Cell)]


def targets(study: Study) -> list[Stage]:
    """What a run must make. Examples are read first: a fault in them must not come to light after days of training."""
    stages: list[Stage] = [cell.stage for cell in cells(study)]
    examples = [each for each in inputs_first(stages).values() if isinstance(each, ExampleFiles)]
    return [*examples, *stages]


def gaps(study: Study) -> list[Gap]:
    """What of a study cannot be shown, and why."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Gap)]


def gap_sentences(study: Study) -> list[str]:
    """For people: "no data for wiki-cc, en-fr (vocabulary, emergence): ...", all that lack the same in one."""
    wanting: dict[str, list[Gap]] = {}
    for gap in gaps(study):
        wanting.setdefault(gap.reason, []).append(gap)
    return [
        f"no data for {', '.join(dict.fromkeys(gap.condition for gap in alike))}, "
        f"{', '.join(dict.fromkeys('-'.join(gap.languages) for gap in alike))} "
        f"({', '.join(dict.fromkeys(gap.exhibit for gap in alike))}): {reason}"
        for reason, alike in wanting.items()
    ]


def _cells_and_gaps(study: Study) -> Iterator[Cell | Gap]:
    # What languages have in common is told of every model of two, whatever else is asked.
    exhibits: dict[str, CellsOf] = {} if set(study.exhibits) == {FIGURE_4} else {VOCABULARY: _vocabulary_cells}
    if EMERGENCE in study.exhibits:
        exhibits[EMERGENCE] = _emergence_cells
    for task in study.tasks:
        if TABLE_1 in study.exhibits:
            exhibits[f"{TABLE_1} {task}"] = partial(_transfer_cells, task=task)
        if BASELINES in study.exhibits:
            exhibits[f"{BASELINES} {task}"] = partial(_baseline_cells, task=task)
    for languages in study.pairs:
        for condition in study.conditions:
            for exhibit, cells_of in exhibits.items():
                try:
                    yield from list(cells_of(study, condition, languages))
                except MissingDataError as error:
                    yield Gap(exhibit=exhibit, condition=condition.name, languages=languages, reason=str(error))
    yield from figure_cells(study)


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
        for encoder, suffix in ((graph.untrained, UNTRAINED), (graph.pretrained, "")):
            yield Cell(
                exhibit=EMERGENCE,
                condition=condition.name,
                languages=languages,
                seed=seed,
                stage=graph.emergence(encoder),
                metric_suffix=suffix,
            )


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
    """What fine-tuning makes of a model that was never pretrained: all of it, or only the task's own layer."""
    for seed in study.seeds:
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        for frozen, suffix in ((False, UNTRAINED), (True, UNTRAINED + FROZEN)):
            yield Cell(
                exhibit=BASELINES,
                condition=condition.name,
                languages=languages,
                seed=seed,
                task=task,
                stage=graph.transfer(task, graph.untrained, freeze_encoder=frozen),
                metric_suffix=suffix,
            )


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """What a person means by a condition ("sep-emb", or "sep-emb:en-fr:1" with pair or seed), or an artifact's name."""
    condition, *choices = name.split(":")
    models = _models(study, condition)
    if models:
        for chosen, model in models.items():
            if set(choices) <= set(chosen):
                return model
        known = ", ".join(":".join([condition, *chosen]) for chosen in models)
        raise IsoglotError(f"{name!r} is none of {study.name}'s {known}")
    try:
        return store.find(name)
    except IsoglotError as error:
        conditions = ", ".join(each.name for each in (*study.conditions, MONOLINGUAL))
        raise IsoglotError(f"{name!r} is no condition of {study.name} ({conditions}), and {error}") from None


def _models(study: Study, condition: str) -> dict[tuple[str, ...], Stage]:
    """The models of a condition by pair and seed; where none are asked for, what stands for their vocabulary."""
    if condition == MONOLINGUAL.name:
        return {
            (language, str(seed)): ModelGraph(
                study=study, condition=MONOLINGUAL, languages=(language,), seed=seed
            ).pretrained
            for language in (*study.languages, study.languages[0] + PRIME)
            for seed in study.seeds
        }
    found: dict[tuple[str, ...], Stage] = {}
    for cell in cells(study):
        if cell.condition == condition and not cell.metric_suffix:
            match cell.stage:
                case VocabularyStatistics():
                    found.setdefault(_choices(cell), cell.stage)
                case Emergence() | ZeroShotTransfer():
                    found[_choices(cell)] = cell.stage.encoder
                case LayerTransfer():
                    found[_choices(cell)] = cell.stage.heads[0].encoder
                case OfTwoModels():
                    found[_choices(cell)] = cell.stage.encoders[cell.languages[0]]
    with_seeds = {choices: model for choices, model in found.items() if len(choices) > 1}
    return with_seeds or found


def _choices(cell: Cell) -> tuple[str, ...]:
    """What may follow a condition's name."""
    return ("-".join(cell.languages), *(() if cell.seed is None else (str(cell.seed),)))


def known_artifacts(study: Study, store: Store) -> Iterator[Stage | Record]:
    """Everything the study names, made or not, and everything the store holds."""
    yield from store.records()
    yield from inputs_first(cell.stage for cell in cells(study)).values()
