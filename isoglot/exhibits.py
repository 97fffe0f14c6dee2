"""What a reader sees of a study: every exhibit as cells, each filled by the scores of one stage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from isoglot.artifacts import Record, Stage, Store, inputs_first
from isoglot.errors import IsoglotError
from isoglot.stages.emergence import SCORES
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
    stage: Stage
    metric_suffix: str = ""


@dataclass(frozen=True, kw_only=True)
class MissingCell:
    """A place that cannot be filled, and why."""

    exhibit: str
    condition: str
    languages: tuple[str, str]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number of a study, as `isoglot results --json` prints it; null where a field does not apply."""

    study: str
    exhibit: str
    condition: str
    languages: tuple[str, str]
    language: str
    task: str | None
    metric: str
    layer: int | None
    seed: int
    value: float
    stage: str
    """Digest of the artifact that holds it."""


def cells(study: Study) -> tuple[list[Cell], list[MissingCell]]:
    """All cells of all exhibits of a study, in the order they are shown."""
    filled: list[Cell] = []
    missing: list[MissingCell] = []
    for languages in study.pairs:
        for condition in study.conditions:
            for seed in study.seeds:
                try:
                    graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
                except IsoglotError as error:
                    missing.append(
                        MissingCell(exhibit=EMERGENCE, condition=condition.name, languages=languages, reason=str(error))
                    )
                    break
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
    return filled, missing


def measurements(study: Study, store: Store) -> Iterator[Measurement]:
    """Every number the store already holds for the study."""
    for cell in cells(study)[0]:
        if not store.has(cell.stage):
            continue
        for score in json.loads((store.folder(cell.stage) / SCORES).read_text(encoding="utf-8")):
            yield Measurement(
                study=study.name,
                exhibit=cell.exhibit,
                condition=cell.condition,
                languages=cell.languages,
                language=cell.languages[1],
                task=None,
                metric=score["metric"] + cell.metric_suffix,
                layer=score["layer"],
                seed=cell.seed,
                value=score["value"],
                stage=cell.stage.digest,
            )


def as_json_line(measurement: Measurement) -> str:
    """One line of JSON."""
    return json.dumps(asdict(measurement), ensure_ascii=False)


def named_artifact(name: str, *, study: Study, store: Store) -> Stage | Record:
    """What a person means by a condition ("sep-emb"), one of its seeds ("sep-emb:1"), or an artifact's name."""
    condition, _, seed = name.partition(":")
    of_condition = [cell.stage for cell in cells(study)[0] if cell.condition == condition and not cell.metric_suffix]
    by_seed = {str(cell.seed): cell.stage for cell in cells(study)[0] if cell.condition == condition}
    if of_condition:
        if seed and seed not in by_seed:
            raise IsoglotError(f"{name!r}: {study.name} has no seed {seed!r} of it, only {', '.join(by_seed)}")
        return by_seed[seed] if seed else of_condition[0]
    try:
        return store.find(name)
    except IsoglotError as error:
        conditions = ", ".join(each.name for each in study.conditions)
        raise IsoglotError(f"{name!r} is no condition of {study.name} ({conditions}), and {error}") from None


def known_artifacts(study: Study, store: Store) -> Iterator[Stage | Record]:
    """Everything the study names, made or not, and everything the store holds."""
    yield from store.records()
    yield from inputs_first(cell.stage for cell in cells(study)[0]).values()
