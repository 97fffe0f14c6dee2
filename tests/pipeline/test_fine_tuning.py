"""Scores of one setting are those of the files of predictions beside them, made with what each language owns."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.evaluation.transfer.fine_tuning import FineTuner
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import Machine
from isoglot.pipeline.stages.examples import ExampleFiles, SyntheticExamples, read_examples
from isoglot.pipeline.stages.fine_tuning import LOG, FineTuning, prediction_files
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.scores import read_scores
from isoglot.store import Amount, Record, Store, Work, plan, run_plan
from isoglot.study.languages import default_splitting
from tests.pipeline.tiny_transfers import tiny_graph

TASKS = ("nli", "ner", "parsing", "pos")
CONDITIONS = ("default", "sep-emb-l1-6")


def stage_of(task: str, *, condition: str = "default") -> FineTuning:
    graph = tiny_graph(condition=condition)
    (stage,) = graph.transfer(task, graph.untrained).runs
    return stage


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Where all tasks have been fine-tuned once under two conditions."""
    store = Store(tmp_path_factory.mktemp("tuned"))
    stages = [stage_of(task, condition=condition) for task in TASKS for condition in CONDITIONS]
    assert run_plan(stages, store).failed == {}
    return store


def scores_of(stage: FineTuning, store: Store) -> dict[tuple[str | None, str], float]:
    return {(score.language, score.metric): score.value for score in read_scores(store.folder(stage))}


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_the_files_of_predictions(task: str, store: Store) -> None:
    stage, reader = stage_of(task), task_named(task)
    scores = scores_of(stage, store)
    for language in ("ela", "oru"):
        gold, said = (reader.read(path) for path in prediction_files(store.folder(stage), reader, language))
        assert gold == read_examples(reader, store.folder(stage.tests[language]))
        assert [reader.segments(each) for each in said] == [reader.segments(each) for each in gold]
        expected = reader.scores(gold, said)
        assert {name: scores[language, name] for name in expected} == pytest.approx(expected, abs=1e-4)
        assert scores[language, "examples"] == 20
    assert {language for language, _ in scores} == {"ela", "oru", None}


@pytest.mark.parametrize("task", TASKS)
def test_the_chosen_epoch_is_the_best_of_the_log(task: str, store: Store) -> None:
    stage = stage_of(task)
    log = [json.loads(line) for line in (store.folder(stage) / LOG).read_text().splitlines()]
    scores = scores_of(stage, store)
    assert [row["epoch"] for row in log] == [1, 2]
    best = max(log, key=lambda row: row["dev"][task_named(task).metric])
    assert (scores[None, "chosen_epoch"], scores[None, "diverged"]) == (best["epoch"], 0.0)
    of_dev = {name: value for (language, name), value in scores.items() if name.startswith("dev_")}
    assert of_dev == pytest.approx({f"dev_{name}": value for name, value in best["dev"].items()}, abs=1e-4)
    assert {language for language, name in scores if name.startswith("dev_")} == {"ela"}


def test_only_results_are_kept(store: Store) -> None:
    names = {path.name for path in store.folder(stage_of("ner")).iterdir()}
    assert names == {
        "record.json",
        "scores.json",
        LOG,
        *(f"{language}.{kind}.bio" for language in ("ela", "oru") for kind in ("gold", "predicted")),
    }


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("task", ["ner", "parsing"])
def test_each_language_is_read_with_its_own_table_and_by_its_own_parts(
    task: str, condition: str, store: Store, tmp_path: Path
) -> None:
    """By hand from the same inputs."""
    stage, reader = stage_of(task, condition=condition), task_named(task)
    vocabulary = Vocabulary.read(store.folder(stage.vocabulary) / "vocabulary.json")
    encodings = {
        language: Encoding(language=language, bpe=Bpe.read(store.folder(bpe) / "merges.txt"), vocabulary=vocabulary)
        for language, bpe in stage.bpe.items()
    }
    machine = Machine(device=torch.device("cpu"))
    tuner = FineTuner(
        stage.run,
        reader,
        encoder=chosen_model(store.folder(stage.encoder)).encoder,
        encoding=encodings["ela"],
        train=read_examples(reader, store.folder(stage.train)),
        dev=read_examples(reader, store.folder(stage.dev)),
        folder=tmp_path,
        machine=machine,
    )
    found = tuner.finish(lambda *_: None)
    said: dict[str, list[Any]] = {}
    for language, tests in stage.tests.items():
        gold = read_examples(reader, store.folder(tests))
        sequences = encoded(reader, gold, encoding=encodings[language], most_tokens=16)
        said[language] = predictions(
            reader, gold, sequences, model=found.model, labels=found.labels, language=language, machine=machine
        )
        assert reader.read(prediction_files(store.folder(stage), reader, language)[1]) == said[language]
    log = [json.loads(line) for line in (store.folder(stage) / LOG).read_text().splitlines()]
    assert log == found.log


def test_examples_in_parts_and_labels_that_training_lacks_are_scores(store: Store, tmp_path: Path) -> None:
    """Parts of four words for sentences of four to sixteen; PER is in no training example."""
    stage = stage_of("ner")
    stage = replace(stage, run=replace(stage.run, most_tokens=6))
    folders = {each.digest: store.folder(each) for each in stage.inputs.values()}
    train = tmp_path / "train"
    train.mkdir()
    text = (store.folder(stage.train) / "examples.bio").read_text()
    (train / "examples.bio").write_text(text.replace("B-PER", "O").replace("I-PER", "O"))
    folders[stage.train.digest] = train
    (tmp_path / "made").mkdir()
    told: list[tuple[float, float, str]] = []
    work = Work(folder=tmp_path / "made", input_folders=folders, progress=lambda *progress: told.append(progress))
    stage.make(work)
    scores = {(score.language, score.metric): score.value for score in read_scores(tmp_path / "made")}
    for language in ("ela", "oru"):
        gold = read_examples(task_named("ner"), store.folder(stage.tests[language]))
        tags = [tag for each in gold for tag in each.tags]
        unseen = 100 * sum(tag.endswith("PER") for tag in tags) / sum(tag != "O" for tag in tags)
        assert scores[language, "unseen_labels"] == pytest.approx(unseen, abs=1e-4)
        assert unseen > 0
        assert 50 < scores[language, "in_parts"] <= 100
    assert {unit for _, _, unit in told} == {"examples"}
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert all(done <= total for done, total, _ in told)
    assert scores_of(stage_of("ner"), store)["ela", "unseen_labels"] == 0.0


def test_the_job_is_as_large_as_its_examples_where_these_are_counted_beforehand() -> None:
    assert stage_of("nli").amount() == Amount(units=2 * 24, of="examples")
    ner = stage_of("ner")
    assert isinstance(ner.train, SyntheticExamples)
    assert ner.amount() == Amount(units=ner.run.epochs * ner.train.count, of="examples")
    longer = replace(ner, run=replace(ner.run, epochs=2 * ner.run.epochs))
    guess, twice = ner.guessed_seconds(), longer.guessed_seconds()
    assert guess is not None
    assert twice == pytest.approx(2 * guess)
    unread = files_stage(ner)
    assert (unread.amount(), unread.guessed_seconds()) == (None, None)


def test_the_time_of_a_run_is_told_by_runs_of_its_own_task(tmp_path: Path) -> None:
    seconds = {"nli": 2.0, "ner": 2.0, "parsing": 9.0}
    for task, taken in seconds.items():
        done = replace(stage_of(task), label="done")
        record = Record.of(replace(done, run=replace(done.run, seed=7)), files={}, seconds=taken)
        (tmp_path / record.folder_name).mkdir()
        record.write(tmp_path / record.folder_name)
    for task, taken in seconds.items():
        assert plan([stage_of(task)], Store(tmp_path))[-1].seconds_estimate == pytest.approx(taken)


def files_stage(ner: FineTuning) -> FineTuning:
    """The same with training examples in a file, which nobody has counted yet."""
    splitting = default_splitting("en")
    train = ExampleFiles(task="ner", task_version=1, split="train", files=(), splitting=splitting, splitter_version="1")
    return replace(ner, train=train)


def test_what_a_setting_is() -> None:
    stage = stage_of("ner")
    assert replace(stage, label="by another name").digest == stage.digest
    others = [
        replace(stage, run=replace(stage.run, **change))
        for change in ({"batch": 9}, {"learning_rate": 1.0}, {"seed": 7}, {"freeze_encoder": True}, {"most_tokens": 9})
    ]
    others += [replace(stage, task="pos"), replace(stage, train=stage.dev), stage_of("ner", condition="no-anchors")]
    assert len({each.digest for each in (stage, *others)}) == 9


def test_titles_tell_settings_apart() -> None:
    stage = stage_of("ner")
    assert stage.title == "NER, untrained default, ela-oru, seed 0, batch 8, rate 0.005"
    other = replace(stage, run=replace(stage.run, head_learning_rate=2.5e-5))
    assert other.title.endswith("batch 8, rate 0.005/2.5e-05")
