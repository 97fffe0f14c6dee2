"""The target's model is read, through the map, by the layers that the source learned best."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vector_maps import read_maps, write_maps
from isoglot.evaluation.transfer.model import NewLayers, read_task_layers
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import Machine
from isoglot.pipeline.stages.contextual_maps import MAPS
from isoglot.pipeline.stages.examples import SyntheticExamples, read_examples
from isoglot.pipeline.stages.layer_heads import LAYERS
from isoglot.pipeline.stages.layer_transfer import LayerTransfer
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.scores import Score, read_scores, write_scores
from isoglot.store import Store, Work, inputs_first, run_plan
from isoglot.study.searches import NewVectors
from tests.pipeline.tiny_layers import bilingual, layer_head, layer_transfer, made, monolingual, planted

CPU = Machine(device=torch.device("cpu"))
RATES = (1e-3, 5e-3)


def of_rates(task: str = "pos", *, layer: int = 1) -> LayerTransfer:
    pair = monolingual()
    return layer_transfer(pair, *(layer_head(pair, task=task, layer=layer, rate=rate) for rate in RATES))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("transfer"))
    stages = [
        of_rates("ner", layer=0),
        of_rates("pos"),
        of_rates("parsing", layer=3),
        layer_transfer(
            bilingual(condition="sep-emb-l1-6"), layer_head(bilingual(condition="sep-emb-l1-6")), is_mapped=False
        ),
    ]
    assert run_plan(stages, store).failed == {}
    return store


def scores_of(folder: Path) -> dict[tuple[str | None, str], float]:
    return {(score.language, score.metric): score.value for score in read_scores(folder)}


def by_hand(stage: LayerTransfer, store: Store, *, chosen: int) -> dict[str, float]:
    """Scores of the target, from the artifacts beneath."""
    task = task_named(stage.task)
    mapped = None
    if stage.maps is not None:
        found = read_maps(store.folder(stage.maps) / MAPS)[stage.layer]
        mapped = partial(found.mapped, new_vectors=NewVectors.CENTRED)
    encoder = NewLayers(chosen_model(store.folder(stage.encoder)).encoder, layer=stage.layer, count=1, mapped=mapped)
    model, labels = read_task_layers(store.folder(stage.heads[chosen]) / LAYERS, task, encoder=encoder)
    encoding = Encoding(
        language="oru",
        bpe=Bpe.read(store.folder(stage.bpe) / "merges.txt"),
        vocabulary=Vocabulary.read(store.folder(stage.vocabulary) / "vocabulary.json"),
    )
    gold = read_examples(task, store.folder(stage.test))
    return evaluate(task, gold, model=model, labels=labels, encoding=encoding, most_tokens=16, machine=CPU).scores | {
        "examples": 20
    }


@pytest.mark.parametrize(("task", "layer"), [("ner", 0), ("pos", 1), ("parsing", 3)])
def test_the_target_is_read_through_the_map_by_the_best_head_of_the_source(task: str, layer: int, store: Store) -> None:
    stage = of_rates(task, layer=layer)
    of_heads = [scores_of(store.folder(head)) for head in stage.heads]
    dev = [scores["ela", f"dev_{task_named(task).metric}"] for scores in of_heads]
    chosen = dev.index(max(dev))
    scores = scores_of(store.folder(stage))
    expected = by_hand(stage, store, chosen=chosen)
    assert {metric: scores["oru", metric] for metric in expected} == pytest.approx(expected, abs=1e-4)
    source = {key: value for key, value in of_heads[chosen].items() if key[0] == "ela"}
    assert {key: value for key, value in scores.items() if key[0] == "ela"} == source
    assert ("ela", task_named(task).metric) in source
    rest = {metric: value for (language, metric), value in scores.items() if language is None}
    assert rest == {
        "best_setting": chosen,
        "settings_tried": 2,
        "settings_diverged": 0,
        "chosen_epoch": of_heads[chosen][None, "chosen_epoch"],
    }
    assert {score.layer for score in read_scores(store.folder(stage))} == {layer}


def test_a_model_of_both_languages_is_read_unmapped_with_what_the_target_owns(store: Store) -> None:
    pair = bilingual(condition="sep-emb-l1-6")
    stage = layer_transfer(pair, layer_head(pair), is_mapped=False)
    scores, expected = scores_of(store.folder(stage)), by_hand(stage, store, chosen=0)
    assert {metric: scores["oru", metric] for metric in expected} == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_a_planted_rotation_costs_nothing_with_the_map_and_much_without(layer: int, tmp_path: Path) -> None:
    """The target's model is the source's in another order, and its test sentences are the source's."""
    pair, folders = planted(tmp_path)
    head = layer_head(pair, task="pos", layer=layer, rate=2e-2, epochs=8)
    of_source = scores_of(made(head, folders, tmp_path / "head"))
    assert of_source["ela", "accuracy"] > 40

    mapped = layer_transfer(pair, head)
    assert mapped.maps is not None
    made(mapped.maps, folders, tmp_path / "maps")
    found = scores_of(made(mapped, folders, tmp_path / "mapped"))
    assert found["oru", "accuracy"] == pytest.approx(of_source["ela", "accuracy"], abs=1e-3)
    unmapped = scores_of(made(layer_transfer(pair, head, is_mapped=False), folders, tmp_path / "unmapped"))
    assert unmapped["oru", "accuracy"] < of_source["ela", "accuracy"] - 15

    back = [replace(each, rotation_DD=each.rotation_DD.T) for each in read_maps(tmp_path / "maps" / MAPS)]
    write_maps(back, tmp_path / "maps" / MAPS)
    wrong = scores_of(made(replace(mapped, label="back"), folders, tmp_path / "back"))
    assert wrong["oru", "accuracy"] < of_source["ela", "accuracy"] - 15


def chosen_of(stage: LayerTransfer, store: Store, place: Path, dev: Sequence[float | None]) -> dict[str, float]:
    """What is told where heads are said to have these scores on the dev set."""
    folders = {each.digest: store.folder(each) for each in stage.inputs.values()}
    for number, (head, value) in enumerate(zip(stage.heads, dev, strict=True)):
        folder = place / str(number)
        folder.mkdir(parents=True)
        (folder / LAYERS).symlink_to(folders[head.digest] / LAYERS)
        scores = [Score(metric="diverged", value=float(value is None))]
        if value is not None:
            scores += [
                Score(metric="dev_accuracy", value=value, language="ela"),
                Score(metric="accuracy", value=100 - value, language="ela"),
            ]
        write_scores(folder, scores)
        folders[head.digest] = folder
    stage.make(Work(folder=place, input_folders=folders, progress=lambda *_: None))
    return {score.metric: score.value for score in read_scores(place) if score.language != "oru"}


def test_the_best_setting_is_chosen_by_the_dev_set_of_the_source(store: Store, tmp_path: Path) -> None:
    stage = of_rates("pos")
    found = chosen_of(stage, store, tmp_path / "second", [50, 60])
    assert (found["best_setting"], found["accuracy"], found["settings_diverged"]) == (1, 40, 0)
    assert chosen_of(stage, store, tmp_path / "first", [60, 50])["best_setting"] == 0
    assert chosen_of(stage, store, tmp_path / "equal", [60, 60])["best_setting"] == 0
    diverged = chosen_of(stage, store, tmp_path / "diverged", [None, 10])
    assert (diverged["best_setting"], diverged["settings_diverged"]) == (1, 1)
    with pytest.raises(IsoglotError, match="every setting of POS on layer 1 diverged in its first epoch; lower"):
        chosen_of(stage, store, tmp_path / "none", [None, None])


def test_no_labelled_example_of_the_target_is_learned_from_or_chosen_by() -> None:
    stages = inputs_first([of_rates()]).values()
    examples = {(each.language.name, each.split) for each in stages if isinstance(each, SyntheticExamples)}
    assert examples == {("ela", "train"), ("ela", "dev"), ("ela", "test"), ("oru", "test")}


def test_what_a_transfer_is() -> None:
    pair, stage = monolingual(), of_rates()
    head = layer_head(pair)
    assert replace(stage, label="by another name").digest == stage.digest
    stages = [
        layer_transfer(pair, head),
        layer_transfer(pair, head, is_mapped=False),
        layer_transfer(pair, head, new_vectors=NewVectors.ROTATED),
        layer_transfer(pair, layer_head(pair, layer=2)),
        layer_transfer(bilingual(), layer_head(bilingual()), is_mapped=False),
    ]
    assert len({each.digest for each in stages}) == 5
    assert [each.title for each in stages[:2]] == [
        "NER transfer from mapped layer 1, monolingual ela and oru, seed 0",
        "NER transfer from layer 1, monolingual ela and oru, seed 0",
    ]


def test_what_cannot_be_read_is_refused_before_anything_is_made() -> None:
    pair = monolingual()
    head = layer_head(pair)
    with pytest.raises(IsoglotError, match=r'cannot read normalised ones; take "centred" or "rotated"'):
        layer_transfer(pair, head, new_vectors=NewVectors.NORMALIZED)
    with pytest.raises(ValueError, match="maps and new_vectors go together"):
        replace(layer_transfer(pair, head), maps=None)
    run = replace(pair.target.encoder.run, shape=replace(pair.target.encoder.run.shape, heads=1))
    with pytest.raises(IsoglotError, match="must have one shape"):
        replace(layer_transfer(pair, head), encoder=replace(pair.target.encoder, run=run))
