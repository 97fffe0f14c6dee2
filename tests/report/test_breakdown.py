"""A cell of Table 1 label by label, from the files that its best setting left in the store."""

import re
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
from commands import Workplace, answered
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.fine_tuning import ZeroShotTransfer, best_settings
from isoglot.pipeline.stages.scores import read_scores
from isoglot.report.tables.breakdown import cell_breakdown
from isoglot.store import Store
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from isoglot.study.study_file import read_study

STUDY = (
    TINY_STUDY.replace('"no-anchors", "sep-emb-l1-6"]', '"sep-emb"]')
    .replace('tasks = ["parsing"]', 'tasks = ["ner", "parsing"]')
    .replace('"emergence", ', "")
    .replace("updates = 80", "updates = 4")
    .replace("learning_rates = [4e-3]", "learning_rates = [2e-3, 4e-3]")
    .replace("seeds = [0, 1]", "seeds = [3]")
    .replace("_examples = 10\n", "_examples = 20\n")
    .replace("train_examples = 40", "train_examples = 64")
)


@pytest.fixture(scope="module")
def transferred(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Where Default alone was run, on both tasks."""
    folder = tmp_path_factory.mktemp("transferred")
    (folder / "tiny.toml").write_text(STUDY, encoding="utf-8")
    run = answered("run", "tiny.toml", "--conditions", "default", "--workers", "1", folder=folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return Workplace(folder=folder, first_output=run.stdout)


def stage_of(workplace: Workplace, task: str) -> ZeroShotTransfer:
    (stage,) = (cell.stage for cell in cells(workplace.study) if (cell.task, cell.condition) == (task, "default"))
    assert isinstance(stage, ZeroShotTransfer)
    return stage


@pytest.mark.parametrize(
    ("words", "task", "language"),
    [(["ner"], "ner", "oru"), (["parsing", "--language", "ela", "--seed", "3"], "parsing", "ela")],
)
def test_the_best_setting_is_shown_by_label(words: list[str], task: str, language: str, transferred: Workplace) -> None:
    answer = answered("breakdown", "tiny.toml", *words, folder=transferred.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    store, stage = transferred.store, stage_of(transferred, task)
    best = best_settings([read_scores(store.folder(run)) for run in stage.runs], task=task)[0]
    run = stage.runs[best]
    assert (
        f"tested on {language}: default, ela-oru, seed 3, batch 32, rate {run.run.learning_rate:g}\n" in answer.stdout
    )
    suffix = task_named(task).suffix
    for kind in ("gold", "predicted"):
        assert str(store.folder(run) / f"{language}.{kind}{suffix}") in answer.stdout
    scores = {score.metric: score.value for score in read_scores(store.folder(run)) if score.language == language}
    title = {"ner": "F1", "parsing": "LAS"}[task]
    assert f"\n{title} {scores[task_named(task).metric]:.1f};" in answer.stdout
    labels = {"ner": "PER", "parsing": "nsubj"}[task]
    assert re.search(rf"^ {labels} +\d+ +", answer.stdout, flags=re.MULTILINE)
    assert {"ner": "seqeval", "parsing": "udeval"}[task] in answer.stdout


def test_a_task_with_a_most_frequent_label_shows_it(transferred: Workplace) -> None:
    (transferred.folder / "pos.toml").write_text(STUDY.replace('["ner", "parsing"]', '["pos"]'), encoding="utf-8")
    run = answered("run", "pos.toml", "--conditions", "default", "--workers", "1", folder=transferred.folder)
    assert run.returncode == 0, run.stdout + run.stderr
    answer = answered("breakdown", "pos.toml", "pos", folder=transferred.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert re.search(r"\nAcc \d+\.\d; most frequent label \d+\.\d\n", answer.stdout)


RUN = "isoglot run tiny.toml --store 'my store' --exhibits table-1 --tasks ner --conditions sep-emb --seeds 3"


@pytest.mark.parametrize(
    ("task", "choices", "message"),
    [
        ("nre", {}, "'nre' is no task of tiny (ner, parsing); did you mean 'ner'?"),
        ("nli", {}, "'nli' is no task of tiny (ner, parsing)"),
        ("ner", {"condition": "defualt"}, "no condition of tiny (default, sep-emb); did you mean 'default'?"),
        ("ner", {"language": "oro"}, "'oro' is no language of tiny (ela, oru); did you mean 'oru'?"),
        ("ner", {"seed": 0}, "'0' is no seed of tiny (3)"),
        ("ner", {"condition": "sep-emb"}, f"not in .*store yet; make it with: {RUN}"),
    ],
)
def test_what_is_not_there_is_told(task: str, choices: dict[str, Any], message: str, transferred: Workplace) -> None:
    pattern = re.escape(message).replace(re.escape(".*"), ".*") + "$"
    words = ["tiny.toml", "--store", "my store"]
    with pytest.raises(IsoglotError, match=pattern):
        list(cell_breakdown(transferred.study, task, store=transferred.store, study_words=words, **choices))


def test_data_that_is_missing_is_named(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    with pytest.raises(IsoglotError, match=r"no data for en-fr in real: .*nli"):
        list(cell_breakdown(read_study(path), "nli", store=Store(tmp_path / "store"), study_words=[str(path)]))


def test_predictions_that_are_missing_can_be_made_again_or_brought(transferred: Workplace, tmp_path: Path) -> None:
    copytree(transferred.folder, tmp_path / "copy")
    copy = Workplace(folder=tmp_path / "copy", first_output="")
    stage = stage_of(copy, "ner")
    for run in stage.runs:
        rmtree(copy.store.folder(run))
    answer = answered("breakdown", "tiny.toml", "ner", folder=copy.folder)
    assert answer.returncode == 1
    assert f"delete {copy.store.folder(stage)} as well and run: isoglot run tiny.toml --exhibits" in answer.stderr
    # Where only a summary was unpacked, they stayed where they were made.
    pack, store = tmp_path / "small.tar.xz", Store(tmp_path / "store")
    write_pack(pack, [*stage.runs, stage], transferred.store, largest_file=0, always=["scores.json"])
    unpack(pack, store)
    with pytest.raises(IsoglotError, match=r"only a summary of it.* isoglot pack --largest-file 1GB") as error:
        list(cell_breakdown(transferred.study, "ner", store=store, study_words=["tiny.toml"]))
    assert "delete" not in str(error.value)
