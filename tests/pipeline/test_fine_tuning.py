"""Scores of a setting are those of its prediction files; settings are chosen by the source language alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import ExampleFiles, SyntheticExamples, read_examples
from isoglot.pipeline.stages.fine_tuning import (
    LOG,
    PLACES,
    FineTuning,
    ZeroShotTransfer,
    best_settings,
    prediction_files,
)
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.scores import Score, read_scores, scores_of, write_scores
from isoglot.store import Amount, Record, Store, inputs_first, plan
from isoglot.study.languages import default_splitting
from isoglot.study.searches import Schedule, Search
from tests.pipeline.making import input_folders, made, made_alone, values
from tests.pipeline.tiny_transfers import CPU, SEARCH, tiny_graph, tuned_by_hand

TASKS = ("nli", "ner", "parsing", "pos")
OWN_PARTS = "sep-emb-l1-6"
GRID = Search(
    batches=(8, 4), learning_rates=(1e-3, 5e-3), epochs=1, schedule=Schedule.LINEAR, warmup_share=0.2, beta2=0.97
)


def stage_of(task: str, *, condition: str = "default") -> FineTuning:
    graph = tiny_graph(condition=condition)
    (stage,) = graph.transfer(task, graph.untrained).runs
    return stage


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All tasks fine-tuned once, one of them under a second condition."""
    stages = [*map(stage_of, TASKS), stage_of("parsing", condition=OWN_PARTS)]
    return made(*stages, folder=tmp_path_factory.mktemp("tuned"))


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_the_prediction_files_after_the_best_epoch_of_the_log(task: str, store: Store) -> None:
    stage, reader = stage_of(task), task_named(task)
    folder = store.folder(stage)
    scores, files = values(folder), {"record.json", "scores.json", LOG}
    for language in ("ela", "oru"):
        paths = prediction_files(folder, reader, language)
        files |= {path.name for path in paths}
        gold, predicted = map(reader.read, paths)
        assert gold == read_examples(reader, store.folder(stage.tests[language]))
        assert [reader.segments(each) for each in predicted] == [reader.segments(each) for each in gold]
        expected = reader.scores(gold, predicted) | {"examples": 20}
        assert {name: scores[language, name] for name in expected} == pytest.approx(expected, abs=1e-4)
    assert {path.name for path in folder.iterdir()} == files
    log = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    assert [row["epoch"] for row in log] == [1, 2]
    best = max(log, key=lambda row: row["dev"][reader.metric])
    assert {metric: value for (language, metric), value in scores.items() if language is None} == {
        "chosen_epoch": best["epoch"],
        "diverged": 0.0,
    }
    dev = {key: value for key, value in scores.items() if key[1].startswith("dev_")}
    assert dev == pytest.approx({("ela", f"dev_{name}"): value for name, value in best["dev"].items()}, abs=1e-4)


@pytest.mark.parametrize("condition", ["default", OWN_PARTS])
def test_each_language_is_read_with_its_own_table_and_by_its_own_parts(
    condition: str, store: Store, tmp_path: Path
) -> None:
    """The same fine-tuning by hand from the same inputs."""
    stage, reader = stage_of("parsing", condition=condition), task_named("parsing")
    encodings = {language: stream.encoding(store.folder) for language, stream in stage.encoder.streams.items()}
    encoder = chosen_model(store.folder(stage.encoder)).encoder
    tuned = tuned_by_hand(stage, store, encoder=encoder, encoding=encodings["ela"], folder=tmp_path)
    for language, encoding in encodings.items():
        gold = read_examples(reader, store.folder(stage.tests[language]))
        model, labels = tuned.model, tuned.labels
        expected = evaluate(reader, gold, model=model, labels=labels, encoding=encoding, most_tokens=16, machine=CPU)
        assert reader.read(prediction_files(store.folder(stage), reader, language)[1]) == expected.predicted
    assert [json.loads(line) for line in (store.folder(stage) / LOG).read_text().splitlines()] == tuned.log


def test_examples_in_parts_and_labels_that_training_lacks_are_scores(store: Store, tmp_path: Path) -> None:
    """Parts of four words for sentences of four to sixteen; PER is in no training example."""
    stage = stage_of("ner")
    stage = replace(stage, run=replace(stage.run, most_tokens=6))
    text = (store.folder(stage.train) / "examples.bio").read_text()
    (tmp_path / "examples.bio").write_text(text.replace("B-PER", "O").replace("I-PER", "O"))
    inputs = input_folders(stage, store) | {stage.train.digest: tmp_path}
    reports: list[tuple[float, float, str]] = []
    scores = values(made_alone(stage, tmp_path / "made", inputs, progress=lambda *report: reports.append(report)))
    for language in ("ela", "oru"):
        gold = read_examples(task_named("ner"), store.folder(stage.tests[language]))
        tags = [tag for each in gold for tag in each.tags]
        unseen = 100 * sum(tag.endswith("PER") for tag in tags) / sum(tag != "O" for tag in tags)
        assert scores[language, "unseen_labels"] == pytest.approx(unseen, abs=1e-4)
        assert unseen > 0
        assert 50 < scores[language, "in_parts"] <= 100
    assert {unit for _, _, unit in reports} == {"examples"}
    assert reports == sorted(reports)
    assert all(done <= total for done, total, _ in reports)
    assert values(store.folder(stage_of("ner")))["ela", "unseen_labels"] == 0.0


def test_the_job_is_as_large_as_its_examples_where_these_are_counted_beforehand() -> None:
    assert stage_of("nli").amount() == Amount(units=2 * 24, of="examples")
    ner = stage_of("ner")
    assert isinstance(ner.train, SyntheticExamples)
    assert ner.amount() == Amount(units=ner.run.epochs * ner.train.count, of="examples")
    longer, guess = replace(ner, run=replace(ner.run, epochs=2 * ner.run.epochs)), ner.guessed_seconds()
    assert guess is not None
    assert longer.guessed_seconds() == pytest.approx(2 * guess)
    splitting = default_splitting("en")
    train = ExampleFiles(task="ner", task_version=1, split="train", files=(), splitting=splitting, splitter_version="1")
    unread = replace(ner, train=train)
    assert (unread.amount(), unread.guessed_seconds()) == (None, None)


def test_the_time_of_a_run_is_estimated_from_runs_of_its_own_task(tmp_path: Path) -> None:
    seconds = {"nli": 2.0, "ner": 2.0, "parsing": 9.0}
    for task, taken in seconds.items():
        stage = stage_of(task)
        record = Record.of(
            replace(stage, run=replace(stage.run, seed=7)), files={}, seconds=taken, maker=Store(tmp_path).maker
        )
        (tmp_path / record.folder_name).mkdir()
        record.write(tmp_path / record.folder_name)
    for task, taken in seconds.items():
        assert plan([stage_of(task)], Store(tmp_path))[-1].seconds_estimate == pytest.approx(taken)


def chosen_from(by_run: Sequence[Sequence[Score]], folder: Path) -> list[Score]:
    """The scores of a transfer whose runs have these scores."""
    graph = tiny_graph(search=replace(SEARCH, learning_rates=tuple(float(n + 1) for n in range(len(by_run)))))
    stage = graph.transfer("ner", graph.untrained)
    inputs = {run.digest: folder / str(number) for number, run in enumerate(stage.runs)}
    for path, scores in zip(inputs.values(), by_run, strict=True):
        path.mkdir(parents=True)
        write_scores(path, scores)
    return read_scores(made_alone(stage, folder, inputs))


def run_scores(*, dev: float, source: float, target: float) -> list[Score]:
    return [
        *scores_of({"f1": source}, language="ela"),
        *scores_of({"f1": target, "precision": target + 1}, language="oru"),
        *scores_of({"dev_f1": dev, "dev_precision": 100 - dev}, language="ela"),
        *scores_of({"chosen_epoch": dev / 10}),
    ]


def test_the_best_two_by_the_dev_set_of_the_source_are_averaged(tmp_path: Path) -> None:
    """The test sets and precision all have another order."""
    rows = [(50, 99, 90), (70, 10, 10), (40, 98, 95), (60, 20, 25)]
    found = chosen_from([run_scores(dev=dev, source=source, target=target) for dev, source, target in rows], tmp_path)
    assert [(score.language, score.metric, score.value) for score in found] == [
        ("ela", "f1", 15.0),
        ("oru", "f1", 17.5),
        ("oru", "precision", 18.5),
        ("ela", "dev_f1", 65.0),
        ("ela", "dev_precision", 35.0),
        (None, "chosen_epoch", 6.5),
        (None, "best_setting", 1),
        (None, "second_best_setting", 3),
        (None, "settings_diverged", 0),
        (None, "settings_tried", 4),
    ]


def test_a_setting_that_diverged_is_counted_and_left_out(tmp_path: Path) -> None:
    """The first never finished an epoch; the second did, and was best until then."""
    never = [Score(metric="diverged", value=1.0)]
    late = [Score(metric="diverged", value=1.0), *run_scores(dev=70, source=10, target=10)]
    fine = [Score(metric="diverged", value=0.0), *run_scores(dev=60, source=20, target=25)]
    found = chosen_from([never, late, fine], tmp_path / "some")
    by_metric = {score.metric: score.value for score in found if score.language is None}
    assert by_metric["settings_diverged"] == 2
    assert [by_metric[place] for place in PLACES] == [1, 2]
    assert [score.value for score in found if score.metric == "f1"] == [15.0, 17.5]
    assert "diverged" not in by_metric
    with pytest.raises(IsoglotError, match="every setting of NER diverged in its first epoch; lower"):
        chosen_from([never, never], tmp_path / "none")


@pytest.mark.parametrize(
    ("dev", "chosen"),
    [([1.0], [0]), ([1.0, 2.0], [1, 0]), ([5.0, 5.0, 9.0], [2, 0]), ([0.0, 0.0, 0.0], [0, 1]), ([None, 1, 2], [2, 1])],
)
def test_the_earlier_of_equal_settings_is_chosen(dev: list[float | None], chosen: list[int]) -> None:
    scores = [[] if value is None else [Score(metric="dev_las", value=value)] for value in dev]
    assert best_settings(scores, task="parsing") == chosen


def test_every_setting_of_the_tasks_own_search_is_tried() -> None:
    graph = tiny_graph(search=GRID, seed=3)
    for task, expected in (("ner", (Schedule.LINEAR, None)), ("nli", (Schedule.CONSTANT, 24))):
        runs = [stage.run for stage in graph.transfer(task, graph.pretrained).runs]
        assert [(run.batch, run.learning_rate) for run in runs] == [(8, 1e-3), (8, 5e-3), (4, 1e-3), (4, 5e-3)]
        assert all(run.head_learning_rate == run.learning_rate for run in runs)
        assert {(run.seed, run.language, run.most_tokens) for run in runs} == {(3, "ela", 16)}
        assert {(run.epochs, run.warmup_share, run.beta2) for run in runs} == {(1, 0.2, 0.97)}
        assert {(run.schedule, run.epoch_examples) for run in runs} == {expected}


def test_a_norm_before_tasks_is_part_of_digests_only_where_a_study_has_it() -> None:
    normed = tiny_graph()
    scale = replace(normed.study.scale, task_norm=False)
    plain = replace(normed, study=replace(normed.study, scale=scale))
    stages = [graph.transfer("ner", graph.untrained).runs[0] for graph in (plain, normed)]
    assert [stage.run.normed for stage in stages] == [False, True]
    assert stages[0].digest != stages[1].digest
    assert "normed" not in json.dumps(stages[0].settings)
    assert "normed" in json.dumps(stages[1].settings)


@pytest.mark.parametrize("task", TASKS)
def test_no_labelled_example_of_the_target_is_learned_from_or_chosen_by(task: str) -> None:
    graph = tiny_graph()
    stage = graph.transfer(task, graph.pretrained)
    examples = [each for each in inputs_first([stage]).values() if isinstance(each, SyntheticExamples)]
    assert {(each.language.name, each.split) for each in examples} == {
        *(("ela", split) for split in ("train", "dev", "test")),
        ("oru", "test"),
    }
    (run,) = stage.runs
    named = {"train": run.train, "dev": run.dev, **run.tests}
    assert {name: (each.language.name, each.split) for name, each in named.items()} == {
        "train": ("ela", "train"),
        "dev": ("ela", "dev"),
        "ela": ("ela", "test"),
        "oru": ("oru", "test"),
    }


def test_conditions_and_baselines_differ_in_their_encoder_alone() -> None:
    stages: list[ZeroShotTransfer] = [
        (graph := tiny_graph(condition=condition)).transfer("ner", graph.pretrained)
        for condition in ("default", "wiki-cc", "no-anchors", OWN_PARTS)
    ]
    assert len({run.train.digest for stage in stages for run in stage.runs}) == 1
    assert len({test.digest for stage in stages for run in stage.runs for test in run.tests.values()}) == 2
    assert len({stage.runs[0].encoder.digest for stage in stages}) == len({stage.digest for stage in stages}) == 4
    graph = tiny_graph()
    untrained, frozen = (graph.transfer("ner", graph.untrained, freeze_encoder=freeze) for freeze in (False, True))
    (run,) = untrained.runs
    assert run.encoder == graph.untrained
    assert replace(run, run=replace(run.run, freeze_encoder=True)).digest == frozen.runs[0].digest != run.digest
