"""New layers learn on a frozen layer of the source, and the best of them read the target through the map."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import read_maps, write_maps
from isoglot.evaluation.transfer import fine_tuning
from isoglot.evaluation.transfer.model import NewLayers, drawn_layers, read_task_layers
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import SyntheticExamples, read_examples
from isoglot.pipeline.stages.fine_tuning import LOG
from isoglot.pipeline.stages.layer_transfer import LAYERS, LayerHead, LayerTransfer
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.readers import MAPS
from isoglot.pipeline.stages.scores import read_scores, scores_of, write_scores
from isoglot.store import Amount, Store, inputs_first
from isoglot.study.searches import NewVectors
from tests.killed_processes import files_of
from tests.pipeline.making import input_folders, made, made_alone, values
from tests.pipeline.tiny_transfers import (
    CPU,
    bilingual,
    layer_head,
    layer_transfer,
    monolingual,
    planted,
    tuned_by_hand,
)

LAYER_OF = {"ner": 0, "pos": 1, "parsing": 3}


def mapped(task: str) -> LayerTransfer:
    """The transfer of two learning rates."""
    pair = monolingual()
    heads = [layer_head(pair, task=task, layer=LAYER_OF[task], rate=rate) for rate in (1e-3, 5e-3)]
    return layer_transfer(pair, *heads)


def unmapped() -> LayerTransfer:
    """The transfer within one model whose languages own parts."""
    pair = bilingual(condition="sep-emb-l1-6")
    return layer_transfer(pair, layer_head(pair), is_mapped=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(*map(mapped, LAYER_OF), unmapped(), folder=tmp_path_factory.mktemp("transfer"))


@pytest.mark.parametrize("task", LAYER_OF)
def test_a_head_is_fine_tuning_of_new_layers_on_the_source(task: str, store: Store, tmp_path: Path) -> None:
    """By hand from the same inputs; and the file is that model."""
    stage, reader, layer = mapped(task).heads[1], task_named(task), LAYER_OF[task]
    encoding = stage.encoder.streams["ela"].encoding(store.folder)
    layers = drawn_layers(chosen_model(store.folder(stage.encoder)).encoder, layer=layer, count=1, seed=0)
    tuned = tuned_by_hand(stage, store, encoder=layers, encoding=encoding, folder=tmp_path)
    folder = store.folder(stage)
    assert {path.name for path in folder.iterdir()} == {"record.json", "scores.json", LOG, LAYERS}
    assert [json.loads(line) for line in (folder / LOG).read_text().splitlines()] == tuned.log
    on_disk = NewLayers(chosen_model(store.folder(stage.encoder)).encoder, layer=layer, count=1)
    model, labels = read_task_layers(folder / LAYERS, reader, encoder=on_disk, normed=True)
    assert labels == tuned.labels
    for name, tensor in tuned.model.state_dict().items():
        assert model.state_dict()[name].equal(tensor), name
    gold = read_examples(reader, store.folder(stage.test))
    tested = evaluate(reader, gold, model=model, labels=labels, encoding=encoding, most_tokens=16, machine=CPU)
    best = max(tuned.log, key=lambda row: row["dev"][reader.metric])
    expected = {("ela", metric): value for metric, value in tested.scores.items()}
    expected |= {("ela", f"dev_{metric}"): value for metric, value in best["dev"].items()}
    expected |= {(None, "diverged"): 0.0, (None, "chosen_epoch"): best["epoch"]}
    assert values(folder) == pytest.approx(expected, abs=1e-4)
    assert {score.layer for score in read_scores(folder)} == {layer}


def test_a_head_that_was_interrupted_ends_with_the_same_bytes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch is forty updates."""
    stage = layer_head(monolingual(), batch=1, epochs=3)
    inputs = input_folders(stage, store)
    whole = files_of(made_alone(stage, tmp_path / "whole", inputs))
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each epoch
    for updates, share in ((60, 1 / 3), (100, 2 / 3)):

        def interrupt(done: float, *_: object, after: int = updates) -> None:
            if done >= after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            made_alone(stage, tmp_path / "parts", inputs, progress=interrupt)
        assert stage.share_done(tmp_path / "parts") == pytest.approx(share)
    reports: list[float] = []
    made_alone(stage, tmp_path / "parts", inputs, progress=lambda done, *_: reports.append(done))
    assert min(reports) > 80
    assert files_of(tmp_path / "parts") == whole
    assert whole.keys() == {"scores.json", LOG, LAYERS}


def test_a_setting_that_diverges_at_once_has_nothing_to_keep(store: Store, tmp_path: Path) -> None:
    stage = layer_head(monolingual(), learning_rate=1e20, head_learning_rate=1e20)
    made_alone(stage, tmp_path, input_folders(stage, store))
    assert files_of(tmp_path).keys() == {"scores.json", LOG}
    assert values(tmp_path) == {(None, "diverged"): 1.0}


def test_the_job_is_as_large_as_its_examples_and_longer_on_higher_layers() -> None:
    assert layer_head(monolingual()).amount() == Amount(units=2 * 40, of="examples")
    heads = [layer_head(monolingual(), layer=layer, new_layers=new) for layer, new in ((0, 1), (3, 1), (3, 4))]
    low, high, more = (head.guessed_seconds() or 0.0 for head in heads)
    assert 0 < low < high < more


def by_hand(stage: LayerTransfer, head: LayerHead, store: Store) -> dict[str, float]:
    """Scores of the target, from the artifacts beneath."""
    task, map_states = task_named(stage.task), None
    if stage.maps is not None:
        fitted = read_maps(store.folder(stage.maps) / MAPS)[stage.layer]
        map_states = partial(fitted.mapped, new_vectors=NewVectors.CENTRED)
    encoder = chosen_model(store.folder(stage.encoder)).encoder
    layers = NewLayers(encoder, layer=stage.layer, count=1, mapped=map_states)
    model, labels = read_task_layers(store.folder(head) / LAYERS, task, encoder=layers, normed=True)
    encoding = stage.encoder.streams["oru"].encoding(store.folder)
    gold = read_examples(task, store.folder(stage.test))
    tested = evaluate(task, gold, model=model, labels=labels, encoding=encoding, most_tokens=16, machine=CPU)
    return tested.scores | {"examples": 20}


@pytest.mark.parametrize("task", [*LAYER_OF, "unmapped"])
def test_the_target_is_read_through_the_map_by_the_best_head_of_the_source(task: str, store: Store) -> None:
    stage = unmapped() if task == "unmapped" else mapped(task)
    by_head = [values(store.folder(head)) for head in stage.heads]
    dev = [scores["ela", f"dev_{task_named(stage.task).metric}"] for scores in by_head]
    chosen = dev.index(max(dev))
    expected = {("oru", metric): value for metric, value in by_hand(stage, stage.heads[chosen], store).items()}
    expected |= by_head[chosen]
    del expected[None, "diverged"]
    search = {"best_setting": chosen, "settings_tried": len(dev), "settings_diverged": 0}
    expected |= {(None, metric): value for metric, value in search.items()}
    assert values(store.folder(stage)) == pytest.approx(expected, abs=1e-4)
    assert {score.layer for score in read_scores(store.folder(stage))} == {stage.layer}


@pytest.mark.parametrize("layer", [0, 3])
def test_a_planted_rotation_costs_nothing_with_the_map_and_much_without(layer: int, tmp_path: Path) -> None:
    """The target's model is the source's in another order, and its test sentences are the source's."""
    pair, folders = planted(tmp_path)

    def accuracies(stage: LayerTransfer | LayerHead, name: str) -> dict[tuple[str | None, str], float]:
        folders[stage.digest] = made_alone(stage, tmp_path / name, folders)
        return values(folders[stage.digest])

    head = layer_head(pair, task="pos", layer=layer, rate=2e-2, epochs=8)
    accuracy = accuracies(head, "head")["ela", "accuracy"]
    assert accuracy > 40
    stage = layer_transfer(pair, head)
    assert stage.maps is not None
    folders[stage.maps.digest] = made_alone(stage.maps, tmp_path / "maps", folders)
    assert accuracies(stage, "mapped")["oru", "accuracy"] == pytest.approx(accuracy, abs=1e-3)
    assert accuracies(layer_transfer(pair, head, is_mapped=False), "raw")["oru", "accuracy"] < accuracy - 15
    back = [replace(each, rotation_DD=each.rotation_DD.T) for each in read_maps(tmp_path / "maps" / MAPS)]
    write_maps(back, tmp_path / "maps" / MAPS)
    assert accuracies(replace(stage, label="back"), "back")["oru", "accuracy"] < accuracy - 15


def test_heads_that_all_diverged_are_named_by_task_and_layer(store: Store, tmp_path: Path) -> None:
    """How the best of others is chosen is tested with that of fine-tuning, which shares it."""
    stage = mapped("pos")
    write_scores(tmp_path, scores_of({"diverged": 1.0}))
    inputs = input_folders(stage, store) | {head.digest: tmp_path for head in stage.heads}
    with pytest.raises(IsoglotError, match="every setting of POS on layer 1 diverged in its first epoch; lower"):
        made_alone(stage, tmp_path / "made", inputs)


def test_no_labelled_example_of_the_target_is_learned_from_or_chosen_by() -> None:
    def needed(stage: LayerTransfer | LayerHead) -> set[tuple[str, str]]:
        inputs = inputs_first([stage]).values()
        return {(each.language.name, each.split) for each in inputs if isinstance(each, SyntheticExamples)}

    source = {("ela", "train"), ("ela", "dev"), ("ela", "test")}
    assert needed(mapped("pos").heads[0]) == source
    assert needed(mapped("pos")) == source | {("oru", "test")}


def test_unreadable_states_are_refused_before_anything_is_made() -> None:
    pair = monolingual()
    stage = layer_transfer(pair, layer_head(pair))
    with pytest.raises(IsoglotError, match=r'cannot read normalised ones; take "centred" or "rotated"'):
        replace(stage, new_vectors=NewVectors.NORMALIZED)
