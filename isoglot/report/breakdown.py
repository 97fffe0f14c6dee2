"""One cell of Table 1 label by label: which relations, entities or inferences a model gets right."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from isoglot.errors import IsoglotError, suggestion
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import TABLE_1
from isoglot.pipeline.exhibits import cells, gaps
from isoglot.pipeline.stages.fine_tuning import PLACES, FineTuning, ZeroShotTransfer, prediction_files
from isoglot.pipeline.stages.scores import read_scores
from isoglot.store import Store
from isoglot.study.study import Study, with_conditions, with_exhibits, with_seeds, with_tasks


@dataclass(frozen=True, kw_only=True)
class CellName:
    """Which cell is meant, in the words of the command."""

    task: str
    condition: str
    language: str | None
    """None: the first target."""
    seed: int | None
    """None: the study's first."""


def cell_breakdown(
    study: Study, name: CellName, *, store: Store, study_words: Sequence[str]
) -> Iterator[RenderableType]:
    """Scores of the cell's best setting, then by label, then where its files are.

    `study_words` are the words of the command line that name the study and its folders.
    """
    pair, language, seed = _checked(study.of_exhibit(TABLE_1), name)
    narrow = with_exhibits(with_tasks(study, [name.task]), [TABLE_1])
    stage = _stage(with_seeds(with_conditions(narrow, [name.condition]), [seed]), pair=pair)
    choices = ["--exhibits", TABLE_1, "--tasks", name.task, "--conditions", name.condition, "--seeds", str(seed)]
    run = _best_run(stage, store=store, again=shlex.join(["isoglot", "run", *study_words, *choices]))
    task = task_named(name.task)
    paths = prediction_files(store.folder(run), task, language)
    gold, predicted = (task.read(path) for path in paths)
    yield Text(f"{task.title}, tested on {language}: {run.title.partition(', ')[2]}", style="bold")
    if len(stage.runs) > 1 and any(score.metric == PLACES[1] for score in read_scores(store.folder(stage))):
        yield Text(
            f"The best of {len(stage.runs)} settings on {pair[0]}'s dev set; Table 1 has the mean of the best two."
        )
    scores = task.scores(gold, predicted)
    yield Text("; ".join(f"{task.metric_titles[metric]} {value:.1f}" for metric, value in scores.items()))
    yield _table(task.breakdown(gold, predicted))
    for title, path in zip(("Gold", "Predicted"), paths, strict=True):
        yield Text(f"{title + ':':<11}{path}")
    yield Text(f"Score them yourself with {task.scorer}")


def _checked(study: Study, name: CellName) -> tuple[tuple[str, str], str, int]:
    """The pair, language and seed that are meant."""
    _refuse_unknown(name.task, study.tasks, what="task", study=study)
    _refuse_unknown(name.condition, [each.name for each in study.conditions], what="condition", study=study)
    source, *targets = study.languages
    language = targets[0] if name.language is None else name.language
    _refuse_unknown(language, study.languages, what="language", study=study)
    seed = study.seeds[0] if name.seed is None else name.seed
    _refuse_unknown(str(seed), [str(each) for each in study.seeds], what="seed", study=study)
    return (source, targets[0] if language == source else language), language, seed


def _refuse_unknown(name: str, known: Sequence[str], *, what: str, study: Study) -> None:
    if name not in known:
        raise IsoglotError(f"{name!r} is no {what} of {study.name} ({', '.join(known)}){suggestion(name, known)}")


def _stage(study: Study, *, pair: tuple[str, str]) -> ZeroShotTransfer:
    for cell in cells(study):
        if cell.languages == pair and isinstance(cell.stage, ZeroShotTransfer):
            return cell.stage
    lacking = {gap.reason for gap in gaps(study) if gap.languages == pair}
    raise IsoglotError(f"no data for {'-'.join(pair)} in {study.name}: {'; '.join(sorted(lacking))}")


def _best_run(stage: ZeroShotTransfer, *, store: Store, again: str) -> FineTuning:
    if not store.has(stage):
        raise IsoglotError(f"{stage.title}: not in {store.root} yet; make it with: {again}")
    store.verify(stage)
    chosen = next(score.value for score in read_scores(store.folder(stage)) if score.metric == PLACES[0])
    run = stage.runs[int(chosen)]
    if not store.has(run):
        if store.find_folder(run) is not None:
            raise IsoglotError(
                f"{run.title}: {store.root} has only a summary of it, without its predictions; where it was made, pack "
                "it with isoglot pack --largest-file 1GB, and unpack that here"
            )
        raise IsoglotError(
            f"{run.title}: its predictions are not in {store.root}; they were deleted. To make them again, delete "
            f"{store.folder(stage)} as well and run: {again}"
        )
    store.verify(run)
    return run


def _table(lines: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, *column in zip(*lines, strict=True):
        is_number = all(cell.replace(".", "", 1).isdigit() for cell in column)
        table.add_column(Text(heading), justify="right" if is_number else "left", no_wrap=True)
    for row in lines[1:]:
        table.add_row(*map(Text, row))
    return table
