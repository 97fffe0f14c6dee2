"""What a reader sees of a study: every exhibit as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isoglot.artifacts import Record, Stage, Store, inputs_first
from isoglot.conditions import Condition
from isoglot.errors import IsoglotError, MissingDataError
from isoglot.stages.emergence import Emergence
from isoglot.stages.model_graph import ModelGraph
from isoglot.stages.vocabulary_statistics import VocabularyStatistics
from isoglot.study import Study

EMERGENCE = "emergence"
VOCABULARY = "vocabulary"
UNTRAINED = "_untrained"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A place in an exhibit; its stage holds several scores, an untrained model's with a suffix."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    stage: Emergence | VocabularyStatistics
    seed: int | None = None
    metric_suffix: str = ""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Cells that stay empty, as the study lacks a file they need."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    reason: str

    def sentence(self) -> str:
        return f"no data for {self.exhibit}, {self.condition}, {'-'.join(self.languages)}: {self.reason}"


def cells(study: Study) -> list[Cell]:
    """All cells of all exhibits of a study that can be filled, in the order they are shown."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Cell)]


def gaps(study: Study) -> list[Gap]:
    """What of a study cannot be shown, and why."""
    return [each for each in _cells_and_gaps(study) if isinstance(each, Gap)]


def _cells_and_gaps(study: Study) -> Iterator[Cell | Gap]:
    # What languages have in common is told of every model, whatever else is asked.
    exhibits = {VOCABULARY: _vocabulary_cells} | ({EMERGENCE: _emergence_cells} if EMERGENCE in study.exhibits else {})
    for languages in study.pairs:
        for condition in study.conditions:
            for exhibit, cells_of in exhibits.items():
                try:
                    yield from list(cells_of(study, condition, languages))
                except MissingDataError as error:
                    yield Gap(exhibit=exhibit, condition=condition.name, languages=languages, reason=str(error))


def _vocabulary_cells(study: Study, condition: Condition, languages: tuple[str, str]) -> Iterator[Cell]:
    graph = ModelGraph(study=study, condition=condition, languages=languages, seed=study.seeds[0])
    stage = graph.vocabulary_statistics
    yield Cell(exhibit=VOCABULARY, condition=condition.name, languages=languages, stage=stage)


def _emergence_cells(study: Study, condition: Condition, languages: tuple[str, str]) -> Iterator[Cell]:
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


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """What a person means by a condition ("sep-emb", or "sep-emb:en-fr:1" with pair or seed), or an artifact's name."""
    condition, *choices = name.split(":")
    of_condition = [cell for cell in cells(study) if cell.condition == condition and not cell.metric_suffix]
    trained = [cell for cell in of_condition if cell.exhibit == EMERGENCE] or of_condition
    if trained:
        chosen = [cell for cell in trained if set(choices) <= {"-".join(cell.languages), str(cell.seed)}]
        if not chosen:
            known = ", ".join(f"{condition}:{'-'.join(cell.languages)}:{cell.seed}" for cell in trained)
            raise IsoglotError(f"{name!r} is none of {study.name}'s {known}")
        return chosen[0].stage
    try:
        return store.find(name)
    except IsoglotError as error:
        conditions = ", ".join(each.name for each in study.conditions)
        raise IsoglotError(f"{name!r} is no condition of {study.name} ({conditions}), and {error}") from None


def known_artifacts(study: Study, store: Store) -> Iterator[Stage | Record]:
    """Everything the study names, made or not, and everything the store holds."""
    yield from store.records()
    yield from inputs_first(cell.stage for cell in cells(study)).values()
