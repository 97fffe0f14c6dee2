"""Settings are chosen by the source language alone, and what is told is the mean of the best two."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.examples import ExampleFiles, SyntheticExamples
from isoglot.pipeline.stages.scores import Score, read_scores, write_scores
from isoglot.pipeline.stages.transfer import PLACES, ZeroShotTransfer, best_settings
from isoglot.store import Store, Work, inputs_first, run_plan
from isoglot.study.searches import Schedule, Search
from tests.pipeline.tiny_transfers import SEARCH, tiny_graph

GRID = Search(
    batches=(8, 4), learning_rates=(1e-3, 5e-3), epochs=1, schedule=Schedule.LINEAR, warmup_share=0.2, beta2=0.97
)


def transfer(*, settings: int = 3, task: str = "ner") -> ZeroShotTransfer:
    rates = tuple(float(number) for number in range(1, settings + 1))
    graph = tiny_graph(search=replace(SEARCH, learning_rates=rates))
    return graph.transfer(task, graph.untrained)


def made(stage: ZeroShotTransfer, of_runs: Sequence[Sequence[Score]], folder: Path) -> list[Score]:
    """What comes of scores that runs are said to have."""
    folders = {}
    for number, (run, scores) in enumerate(zip(stage.runs, of_runs, strict=True)):
        folders[run.digest] = folder / str(number)
        folders[run.digest].mkdir(parents=True)
        write_scores(folders[run.digest], scores)
    stage.make(Work(folder=folder, input_folders=folders, progress=lambda *_: None))
    return read_scores(folder)


def scores(*, dev: float, source: float, target: float) -> list[Score]:
    return [
        Score(metric="f1", value=source, language="ela"),
        Score(metric="precision", value=source + 1, language="ela"),
        Score(metric="f1", value=target, language="oru"),
        Score(metric="precision", value=target + 1, language="oru"),
        Score(metric="dev_f1", value=dev, language="ela"),
        Score(metric="dev_precision", value=100 - dev, language="ela"),
        Score(metric="chosen_epoch", value=dev / 10),
    ]


def test_the_best_two_by_the_dev_set_of_the_source_are_averaged(tmp_path: Path) -> None:
    """Not by its test set, not by the target's, and not by precision, which all have another order."""
    found = made(
        transfer(settings=4),
        [
            scores(dev=50, source=99, target=90),
            scores(dev=70, source=10, target=10),
            scores(dev=40, source=98, target=95),
            scores(dev=60, source=20, target=25),
        ],
        tmp_path,
    )
    by_name = {(score.language, score.metric): score.value for score in found[:7]}
    assert by_name == {
        ("ela", "f1"): 15.0,
        ("ela", "precision"): 16.0,
        ("oru", "f1"): 17.5,
        ("oru", "precision"): 18.5,
        ("ela", "dev_f1"): 65.0,
        ("ela", "dev_precision"): 35.0,
        (None, "chosen_epoch"): 6.5,
    }
    assert [(score.metric, score.value) for score in found[7:]] == [
        ("best_setting", 1),
        ("second_best_setting", 3),
        ("settings_diverged", 0),
        ("settings_tried", 4),
    ]


def test_a_setting_that_diverged_is_counted_and_left_out(tmp_path: Path) -> None:
    """The first never finished an epoch; the second did, and was best until then."""
    never = [Score(metric="diverged", value=1.0)]
    late = [Score(metric="diverged", value=1.0), *scores(dev=70, source=10, target=10)]
    fine = [Score(metric="diverged", value=0.0), *scores(dev=60, source=20, target=25)]
    found = made(transfer(settings=3), [never, late, fine], tmp_path / "some")
    by_name = {score.metric: score.value for score in found if score.language is None}
    assert by_name["settings_diverged"] == 2
    assert [score.value for score in found if score.metric in PLACES] == [1, 2]
    assert [score.value for score in found if score.metric == "f1"] == [15.0, 17.5]
    assert "diverged" not in by_name
    with pytest.raises(IsoglotError, match="every setting of NER diverged in its first epoch; lower"):
        made(transfer(settings=2), [never, never], tmp_path / "none")


def test_of_equal_settings_the_earlier_are_taken(tmp_path: Path) -> None:
    found = made(transfer(), [scores(dev=60, source=each, target=each) for each in (1, 2, 4)], tmp_path)
    assert [score.value for score in found if score.metric in PLACES] == [0, 1]
    assert found[0].value == 1.5


def test_a_search_of_one_setting_is_that_setting(tmp_path: Path) -> None:
    found = made(transfer(settings=1), [scores(dev=60, source=30, target=20)], tmp_path)
    assert [score.value for score in found if score.metric == "f1"] == [30.0, 20.0]
    assert [score.value for score in found if score.metric in PLACES] == [0]


@pytest.mark.parametrize(
    ("dev", "chosen"),
    [([1.0], [0]), ([1.0, 2.0], [1, 0]), ([5.0, 5.0, 9.0], [2, 0]), ([0.0, 0.0, 0.0], [0, 1]), ([3, 1, 2], [0, 2])],
)
def test_best_settings(dev: list[float], chosen: list[int]) -> None:
    assert best_settings(dev) == chosen


@pytest.mark.parametrize("task", ["nli", "parsing"])
def test_made_from_runs_that_were_made(task: str, tmp_path: Path) -> None:
    graph, store = tiny_graph(search=GRID), Store(tmp_path)
    stage = graph.transfer(task, graph.untrained)
    assert run_plan([stage], store).failed == {}
    of_runs = [read_scores(store.folder(run)) for run in stage.runs]
    metric = {"nli": "accuracy", "parsing": "las"}[task]
    dev = [next(score.value for score in each if score.metric == f"dev_{metric}") for each in of_runs]
    first, second = sorted(range(4), key=lambda number: (-dev[number], number))[:2]
    found = read_scores(store.folder(stage))
    assert [score.value for score in found if score.metric in PLACES] == [first, second]
    for language in ("ela", "oru"):
        values = [
            next(score.value for score in of_runs[number] if (score.metric, score.language) == (metric, language))
            for number in (first, second)
        ]
        told = next(score.value for score in found if (score.metric, score.language) == (metric, language))
        assert told == pytest.approx(fmean(values), abs=1e-4)


def test_every_setting_of_the_task_s_own_search_is_tried() -> None:
    graph = tiny_graph(search=GRID, seed=3)
    words, pairs = graph.transfer("ner", graph.pretrained), graph.transfer("nli", graph.pretrained)
    settings = [(8, 1e-3), (8, 5e-3), (4, 1e-3), (4, 5e-3)]
    for stage in (words, pairs):
        assert [(run.run.batch, run.run.learning_rate) for run in stage.runs] == settings
        assert {run.run.head_learning_rate - run.run.learning_rate for run in stage.runs} == {0.0}
        assert {(run.run.seed, run.run.language, run.run.most_tokens) for run in stage.runs} == {(3, "ela", 16)}
        assert {(run.run.epochs, run.run.warmup_share, run.run.beta2) for run in stage.runs} == {(1, 0.2, 0.97)}
    assert {(run.run.schedule, run.run.epoch_examples) for run in words.runs} == {(Schedule.LINEAR, None)}
    assert {(run.run.schedule, run.run.epoch_examples) for run in pairs.runs} == {(Schedule.CONSTANT, 24)}


@pytest.mark.parametrize("task", ["nli", "ner", "parsing", "pos"])
def test_no_labelled_example_of_the_target_is_learned_from_or_chosen_by(task: str) -> None:
    graph = tiny_graph()
    stage = graph.transfer(task, graph.pretrained)
    examples = [each for each in inputs_first([stage]).values() if isinstance(each, SyntheticExamples | ExampleFiles)]
    assert sorted((each.language.name, each.split) for each in examples) == [
        ("ela", "dev"),
        ("ela", "test"),
        ("ela", "train"),
        ("oru", "test"),
    ]
    (run,) = stage.runs
    assert (run.train.language.name, run.train.split) == ("ela", "train")
    assert (run.dev.language.name, run.dev.split) == ("ela", "dev")
    assert {language: (each.language.name, each.split) for language, each in run.tests.items()} == {
        "ela": ("ela", "test"),
        "oru": ("oru", "test"),
    }


def test_conditions_are_tested_on_the_same_examples_and_differ_in_their_encoder() -> None:
    stages = [
        (graph := tiny_graph(condition=condition)).transfer("ner", graph.pretrained)
        for condition in ("default", "wiki-cc", "no-anchors", "sep-emb-l1-6")
    ]
    assert len({run.train.digest for stage in stages for run in stage.runs}) == 1
    assert len({test.digest for stage in stages for run in stage.runs for test in run.tests.values()}) == 2
    assert len({stage.encoder.digest for stage in stages}) == len({stage.digest for stage in stages}) == 4


def test_baselines_differ_in_the_encoder_and_in_what_learns() -> None:
    graph = tiny_graph()
    trained, untrained = graph.transfer("ner", graph.pretrained), graph.transfer("ner", graph.untrained)
    frozen = graph.transfer("ner", graph.untrained, freeze_encoder=True)
    assert [stage.runs[0].run.freeze_encoder for stage in (trained, untrained, frozen)] == [False, False, True]
    assert (trained.encoder, untrained.encoder) == (graph.pretrained, graph.untrained)
    assert [stage.title for stage in (trained, untrained, frozen)] == [
        f"NER transfer, {which}default, ela-oru, seed 0" for which in ("", "untrained ", "frozen untrained ")
    ]
    run = untrained.runs[0]
    assert replace(run, run=replace(run.run, freeze_encoder=True)).digest == frozen.runs[0].digest


def test_labels_are_no_part_of_what_a_score_is() -> None:
    stage = transfer()
    renamed = tuple(replace(run, label="else") for run in stage.runs)
    assert replace(stage, label="by another name", runs=renamed).digest == stage.digest
    assert replace(stage, runs=stage.runs[:2]).digest != stage.digest
    assert replace(stage, runs=stage.runs[::-1]).digest != stage.digest
