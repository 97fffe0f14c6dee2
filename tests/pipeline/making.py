"""Stages made for tests: in a store with all their inputs, or alone from given folders."""

from collections.abc import Mapping
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.scores import read_scores
from isoglot.store import Progress, Stage, Store, Work, run_plan


def made(*stages: Stage, folder: Path) -> Store:
    store = Store(folder)
    assert run_plan(stages, store).failed == {}
    return store


def failure(stage: Stage, folder: Path) -> str:
    """The message of a stage that must fail, and leaves no artifact."""
    store = Store(folder)
    (error,) = run_plan([stage], store).failed.values()
    assert isinstance(error, IsoglotError)
    assert not store.has(stage)
    return str(error)


def input_folders(stage: Stage, store: Store) -> dict[str, Path]:
    return {each.digest: store.folder(each) for each in stage.inputs.values()}


def made_alone(stage: Stage, folder: Path, inputs: Mapping[str, Path], *, progress: Progress = lambda *_: None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    logs = folder.with_name(f"{folder.name}.logs")
    stage.make(Work(folder=folder, input_folders=inputs, progress=progress, log_folder=logs))
    return folder


def values(folder: Path) -> dict[tuple[str | None, str], float]:
    """Scores by language and metric."""
    return {(score.language, score.metric): score.value for score in read_scores(folder)}
