"""What new layers learned on a frozen layer is kept whole, with scores of the source language alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.evaluation.transfer import fine_tuning
from isoglot.evaluation.transfer.fine_tuning import FineTuner
from isoglot.evaluation.transfer.model import NewLayers, drawn_layers, read_task_layers
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import Machine
from isoglot.pipeline.stages.examples import SyntheticExamples, read_examples
from isoglot.pipeline.stages.fine_tuning import LOG
from isoglot.pipeline.stages.layer_heads import LAYERS, LayerHead
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.scores import read_scores
from isoglot.store import Amount, Store, Work, inputs_first, run_plan
from tests.killed_processes import files_of
from tests.pipeline.tiny_layers import bilingual, layer_head, monolingual

CPU = Machine(device=torch.device("cpu"))
TASKS = ("ner", "parsing", "pos")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("heads"))
    assert run_plan([layer_head(monolingual(), task=task) for task in TASKS], store).failed == {}
    return store


def encoding_of(stage: LayerHead, store: Store) -> Encoding:
    return Encoding(
        language="ela",
        bpe=Bpe.read(store.folder(stage.bpe) / "merges.txt"),
        vocabulary=Vocabulary.read(store.folder(stage.vocabulary) / "vocabulary.json"),
    )


@pytest.mark.parametrize("task", TASKS)
def test_it_is_fine_tuning_of_new_layers_on_the_source(task: str, store: Store, tmp_path: Path) -> None:
    """By hand from the same inputs; and what is on disk is that model."""
    stage, reader = layer_head(monolingual(), task=task), task_named(task)
    encoder = chosen_model(store.folder(stage.encoder)).encoder
    found = FineTuner(
        stage.run,
        reader,
        encoder=drawn_layers(encoder, layer=1, count=1, seed=0),
        encoding=encoding_of(stage, store),
        train=read_examples(reader, store.folder(stage.train)),
        dev=read_examples(reader, store.folder(stage.dev)),
        folder=tmp_path,
        machine=CPU,
    ).finish(lambda *_: None)
    folder = store.folder(stage)
    assert [json.loads(line) for line in (folder / LOG).read_text().splitlines()] == found.log
    on_disk = NewLayers(chosen_model(store.folder(stage.encoder)).encoder, layer=1, count=1)
    model, labels = read_task_layers(folder / LAYERS, reader, encoder=on_disk)
    assert labels == found.labels
    for name, tensor in found.model.state_dict().items():
        assert model.state_dict()[name].equal(tensor), name
    gold = read_examples(reader, store.folder(stage.test))
    expected = evaluate(
        reader, gold, model=model, labels=labels, encoding=encoding_of(stage, store), most_tokens=16, machine=CPU
    ).scores
    best = max(found.log, key=lambda row: row["dev"][reader.metric])
    expected |= {f"dev_{metric}": value for metric, value in best["dev"].items()}
    scores = read_scores(folder)
    told = {score.metric: score.value for score in scores if score.language == "ela"}
    assert told == pytest.approx(expected, abs=1e-4)
    rest = {score.metric: score.value for score in scores if score.language is None}
    assert rest == {"diverged": 0.0, "chosen_epoch": best["epoch"]}
    assert {score.layer for score in scores} == {1}


def test_only_results_are_kept(store: Store) -> None:
    names = {path.name for path in store.folder(layer_head(monolingual())).iterdir()}
    assert names == {"record.json", "scores.json", LOG, LAYERS}


def work_of(stage: LayerHead, store: Store, folder: Path, *, updates: int | None = None) -> Work:
    """Which is interrupted after so many updates."""
    folder.mkdir(exist_ok=True)

    def progress(done: float, *_: object) -> None:
        if updates is not None and done >= updates:
            raise KeyboardInterrupt

    folders = {each.digest: store.folder(each) for each in stage.inputs.values()}
    return Work(folder=folder, input_folders=folders, progress=progress)


def test_one_that_was_interrupted_ends_with_the_same_bytes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch is forty updates."""
    stage = layer_head(monolingual(), batch=1, epochs=3)
    stage.make(work_of(stage, store, tmp_path / "whole"))
    whole = files_of(tmp_path / "whole")
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each epoch
    for updates, share in ((60, 1 / 3), (100, 2 / 3)):
        with pytest.raises(KeyboardInterrupt):
            stage.make(work_of(stage, store, tmp_path / "parts", updates=updates))
        assert stage.share_done(tmp_path / "parts") == pytest.approx(share)
    told: list[float] = []
    work = replace(work_of(stage, store, tmp_path / "parts"), progress=lambda done, *_: told.append(done))
    stage.make(work)
    assert min(told) > 80
    assert files_of(tmp_path / "parts") == whole
    assert whole.keys() == {"scores.json", LOG, LAYERS}


def test_a_setting_that_diverges_at_once_has_nothing_to_keep(store: Store, tmp_path: Path) -> None:
    stage = layer_head(monolingual(), learning_rate=1e20, head_learning_rate=1e20)
    stage.make(work_of(stage, store, tmp_path))
    assert files_of(tmp_path).keys() == {"scores.json", LOG}
    (score,) = read_scores(tmp_path)
    assert (score.metric, score.value) == ("diverged", 1.0)


def test_what_a_head_is() -> None:
    stage = layer_head(monolingual())
    assert replace(stage, label="by another name").digest == stage.digest
    others = [
        layer_head(monolingual(), layer=2),
        layer_head(monolingual(), new_layers=2),
        layer_head(monolingual(), task="pos"),
        layer_head(monolingual(), rate=1.0),
        layer_head(bilingual()),
    ]
    assert len({each.digest for each in (stage, *others)}) == 6
    assert stage.title == "NER on layer 1, monolingual ela and oru, seed 0, batch 8, rate 0.005"


def test_nothing_of_the_target_is_needed() -> None:
    stages = inputs_first([layer_head(monolingual())]).values()
    examples = [each for each in stages if isinstance(each, SyntheticExamples)]
    assert sorted((each.language.name, each.split) for each in examples) == [
        ("ela", "dev"),
        ("ela", "test"),
        ("ela", "train"),
    ]


def test_the_job_is_as_large_as_its_examples_and_longer_on_higher_layers() -> None:
    stage = layer_head(monolingual())
    assert stage.amount() == Amount(units=2 * 40, of="examples")
    seconds = [
        layer_head(monolingual(), layer=layer, new_layers=new).guessed_seconds()
        for layer, new in ((0, 1), (3, 1), (3, 4))
    ]
    assert sorted(seconds) == seconds
    assert len(set(seconds)) == 3
