"""What a reader sees of a study: every exhibit as cells, each filled by the scores of one stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isoglot.artifacts import Record, Stage, Store, inputs_first
from isoglot.errors import IsoglotError
from isoglot.stages.emergence import Emergence
from isoglot.stages.model_graph import ModelGraph
from isoglot.study import Study

EMERGENCE = "emergence"
UNTRAINED = "_untrained"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A place in an exhibit; its stage holds scores at several layers, an untrained model's with a suffix."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    seed: int
    stage: Emergence
    metric_suffix: str = ""


def cells(study: Study) -> list[Cell]:
    """All cells of all exhibits of a study, in the order they are shown."""
    filled: list[Cell] = []
    for languages in study.pairs if EMERGENCE in study.exhibits else ():
        for condition in study.conditions:
            for seed in study.seeds:
                graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
                for encoder, suffix in ((graph.untrained, UNTRAINED), (graph.pretrained, "")):
                    filled.append(
                        Cell(
                            exhibit=EMERGENCE,
                            condition=condition.name,
                            languages=languages,
                            seed=seed,
                            stage=graph.emergence(encoder),
                            metric_suffix=suffix,
                        )
                    )
    return filled


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """What a person means by a condition ("sep-emb", or "sep-emb:en-fr:1" with pair or seed), or an artifact's name."""
    condition, *choices = name.split(":")
    trained = [cell for cell in cells(study) if cell.condition == condition and not cell.metric_suffix]
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
