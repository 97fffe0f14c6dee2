"""One cell of Table 1 label by label: which relations, entities or inferences a model gets right."""

import shlex
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from isoglot.errors import IsoglotError, suggestion
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import TABLE_1
from isoglot.pipeline.exhibits import cells, gaps
from isoglot.pipeline.stages.fine_tuning import PLACES, FineTuning, ZeroShotTransfer, prediction_files
from isoglot.pipeline.stages.scores import read_scores
from isoglot.report.tables.grid import Grid, terminal_table
from isoglot.store import Store
from isoglot.store.store import BRING_WHOLE
from isoglot.study.conditions import DEFAULT
from isoglot.study.study import Study


def cell_breakdown(
    study: Study,
    task_name: str,
    *,
    condition: str = DEFAULT.name,
    language: str | None = None,
    seed: int | None = None,
    store: Store,
    study_words: Sequence[str],
) -> Iterator[RenderableType]:
    """Scores of the cell's best setting, then by label, then where its files are.

    `study_words` are the words of the command line that name the study and its folders.
    """
    shown = study.of_exhibit(TABLE_1)
    source, *targets = shown.languages
    language = targets[0] if language is None else language
    seed = shown.seeds[0] if seed is None else seed
    for what, name, known in (
        ("task", task_name, shown.tasks),
        ("condition", condition, [each.name for each in shown.conditions]),
        ("language", language, shown.languages),
        ("seed", str(seed), [str(each) for each in shown.seeds]),
    ):
        if name not in known:
            raise IsoglotError(f"{name!r} is no {what} of {study.name} ({', '.join(known)}){suggestion(name, known)}")
    # The source has a score with each target, as a pair of languages is a model of its own.
    pair = (source, targets[0] if language == source else language)
    narrow = study.replace(tasks=[task_name], exhibits=[TABLE_1], conditions=[condition], seeds=[seed])
    stage = _stage(narrow, pair=pair)
    choices = ["--exhibits", TABLE_1, "--tasks", task_name, "--conditions", condition, "--seeds", str(seed)]
    run = _best_run(stage, store=store, again=shlex.join(["isoglot", "run", *study_words, *choices]))
    task = task_named(task_name)
    paths = prediction_files(store.verified_folder(run), task, language)
    gold, predicted = (task.read(path) for path in paths)
    yield Text(f"{task.title}, tested on {language}: {run.title.partition(', ')[2]}", style="bold")
    if len(stage.runs) > 1 and any(score.metric == PLACES[1] for score in read_scores(store.verified_folder(stage))):
        yield Text(
            f"The best of {len(stage.runs)} settings on {source}'s dev set; Table 1 has the mean of the best two."
        )
    scores = task.scores(gold, predicted)
    # What guesses the most frequent label has no title of its own.
    titles = {metric: task.metric_titles.get(metric, "most frequent label") for metric in scores}
    yield Text("; ".join(f"{titles[metric]} {value:.1f}" for metric, value in scores.items()))
    headings, *lines = task.breakdown(gold, predicted)
    yield terminal_table(Grid("", headings, lines))
    for title, path in zip(("Gold", "Predicted"), paths, strict=True):
        yield Text(f"{title + ':':<11}{path}")
    yield Text(f"Score them yourself with {task.scorer}")


def _stage(study: Study, *, pair: tuple[str, str]) -> ZeroShotTransfer:
    for cell in cells(study):
        if cell.languages == pair and isinstance(cell.stage, ZeroShotTransfer):
            return cell.stage
    lacking = {gap.reason for gap in gaps(study) if gap.languages == pair}
    raise IsoglotError(f"no data for {'-'.join(pair)} in {study.name}: {'; '.join(sorted(lacking))}")


def _best_run(stage: ZeroShotTransfer, *, store: Store, again: str) -> FineTuning:
    if not store.has(stage):
        raise IsoglotError(f"{stage.title}: not in {store.root} yet; make it with: {again}")
    chosen = next(score.value for score in read_scores(store.verified_folder(stage)) if score.metric == PLACES[0])
    run = stage.runs[int(chosen)]
    if not store.has(run):
        # A pack leaves large files out, and is unpacked as a summary.
        if store.find_folder(run) is not None:
            raise IsoglotError(
                f"{run.title}: {store.root} has only a summary of it, without its predictions; {BRING_WHOLE}"
            )
        raise IsoglotError(
            f"{run.title}: its predictions are not in {store.root}; they were deleted. To make them again, delete "
            f"{store.folder(stage)} as well and run: {again}"
        )
    return run
