"""What a reader sees of a study: every exhibit as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from isoglot.artifacts import Stage, inputs_first
from isoglot.cells import (
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
from isoglot.conditions import Condition
from isoglot.errors import MissingDataError
from isoglot.figures import FIGURE_4, figure_cells
from isoglot.stages.examples import ExampleFiles
from isoglot.stages.model_graph import ModelGraph
from isoglot.stages.model_pairs import ModelPair
from isoglot.stages.sources import sources
from isoglot.study import Study

LATEST = "latest"
_latest: dict[str, tuple[Study, tuple[Cell | Gap, ...]]] = {}
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


def _cells_and_gaps(study: Study) -> Sequence[Cell | Gap]:
    """Worked out once for the study that was asked about last: a report asks many times, and digests take a while."""
    latest = _latest.get(LATEST)
    if latest is None or latest[0] is not study:
        latest = _latest[LATEST] = (study, tuple(_worked_out(study)))
    return latest[1]


def _worked_out(study: Study) -> Iterator[Cell | Gap]:
    # What languages have in common is told of every model of two, whatever else is asked.
    exhibits: dict[str, CellsOf] = {} if set(study.exhibits) == {FIGURE_4} else {VOCABULARY: _vocabulary_cells}
    if EMERGENCE in study.exhibits:
        exhibits[EMERGENCE] = _emergence_cells
    if TRAINING in study.exhibits:
        exhibits[TRAINING] = _training_cells
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
