"""Tiny models of two made-up languages, and the stages of transfer from their layers, all made in a second."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from isoglot.corpora.sentences import Encoding
from isoglot.evaluation.transfer.fine_tuning import FineTuned, FineTuner
from isoglot.evaluation.transfer.model import NewLayers
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import Machine
from isoglot.model.cloze import write_model
from isoglot.model.encoder import Encoder
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.examples import read_examples
from isoglot.pipeline.stages.fine_tuning import TaskTraining
from isoglot.pipeline.stages.layer_transfer import ContextualMaps, LayerHead, LayerTransfer
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.text import write_lines
from isoglot.pipeline.stages.translations import parallel_lines
from isoglot.pretraining.run import BEST
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL
from isoglot.study.searches import Schedule, Search, Subwords
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study
from isoglot.study.synthetic_languages import Synthetic
from tests.evaluation.transfer.planted_models import order_of_features, reordered
from tests.pipeline.making import made
from tests.study_texts import TINY_STUDY
from tests.tiny_worlds import TINY_WORLD

CPU = Machine(device=torch.device("cpu"))
SEARCH = Search(batches=(8,), learning_rates=(5e-3,), epochs=2, schedule=Schedule.LINEAR, beta2=0.99)


def tiny_study(*, dropout: float = 0.0, search: Search = SEARCH) -> Study:
    study = parse_study(TINY_STUDY, origin="tiny.toml")
    assert isinstance(study.text, Synthetic)
    scale = study.scale
    return replace(
        study,
        scale=replace(
            scale,
            shape=replace(scale.shape, layers=3, dropout=dropout, attention_dropout=dropout),
            word_tasks=search,
            pair_tasks=replace(search, epoch_examples=24, schedule=Schedule.CONSTANT),
            task_norm=True,
            alignment=replace(scale.alignment, layer_tasks=search, new_layers=1),
        ),
        text=replace(
            study.text,
            world=TINY_WORLD,
            sentences=100,
            mapping_sentences=60,
            train_examples=40,
            dev_examples=16,
            test_examples=20,
        ),
    )


def tiny_graph(
    *, condition: str = "default", dropout: float = 0.0, search: Search = SEARCH, seed: int = 0
) -> ModelGraph:
    return ModelGraph(
        study=tiny_study(dropout=dropout, search=search),
        condition=CONDITIONS[condition],
        languages=("ela", "oru"),
        seed=seed,
    )


def tuned_by_hand(
    stage: TaskTraining, store: Store, *, encoder: Encoder | NewLayers, encoding: Encoding, folder: Path
) -> FineTuned:
    """The fine-tuning of a stage from the same inputs, without the stage."""
    task = task_named(stage.task)
    train, dev = (read_examples(task, store.folder(each)) for each in (stage.train, stage.dev))
    return FineTuner(
        stage.run, task, encoder=encoder, encoding=encoding, train=train, dev=dev, folder=folder, machine=CPU
    ).finish(lambda *_: None)


ORDER_D = order_of_features(16)


def monolingual() -> ModelPair:
    return untrained(ModelPair.of(tiny_study(), MONOLINGUAL, ("ela", "oru"), seed=0))


def bilingual(*, condition: str = "default") -> ModelPair:
    graph = tiny_graph(condition=condition)
    return untrained(ModelPair.of(graph.study, graph.condition, graph.pair, seed=0))


def untrained(pair: ModelPair) -> ModelPair:
    source, target = (replace(side, is_trained=False) for side in (pair.source, pair.target))
    return replace(pair, source=source, target=target)


def layer_head(
    pair: ModelPair, *, task: str = "ner", layer: int = 1, new_layers: int = 1, rate: float = 5e-3, **run: Any
) -> LayerHead:
    (head,) = pair.layer_transfer(task, layer=layer, is_mapped=False).heads
    rates = {"learning_rate": rate, "head_learning_rate": rate}
    return replace(head, new_layers=new_layers, run=replace(head.run, **(rates | run)))


def contextual_maps(pair: ModelPair, *, subwords: Subwords = Subwords.FIRST) -> ContextualMaps:
    return replace(pair.contextual_maps(), subwords=subwords)


def layer_transfer(pair: ModelPair, *heads: LayerHead, is_mapped: bool = True) -> LayerTransfer:
    """Through maps of subwords as `contextual_maps` has them."""
    stage = pair.layer_transfer(heads[0].task, layer=heads[0].layer, is_mapped=is_mapped)
    return replace(stage, heads=heads)


def planted(place: Path) -> tuple[ModelPair, dict[str, Path]]:
    """A target with the source's sentences, and a model with the source's features in another order."""
    pair = bilingual()
    pair = replace(pair, target=replace(pair.target, graph=tiny_graph(seed=1)))
    maps, transfer = contextual_maps(pair), layer_transfer(pair, layer_head(pair, task="pos"))
    own = (*transfer.heads, maps, maps.links)
    inputs = [each for stage in (*own, transfer) for each in stage.inputs.values() if each not in own]
    store = made(*inputs, folder=place / "store")
    folders = {each.digest: store.folder(each) for each in inputs}

    model = chosen_model(folders[pair.source.encoder.digest])
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    write_model(model, place / "source" / BEST)
    reordered(model, ORDER_D)
    write_model(model, place / "target" / BEST)
    folders[pair.source.encoder.digest], folders[pair.target.encoder.digest] = place / "source", place / "target"

    lines = parallel_lines(folders[maps.parallel.digest], pair.languages[0])
    diagonals = [" ".join(f"{number}-{number}" for number in range(len(line.split()))) for line in lines]
    folders[maps.parallel.digest] = folders[maps.links.digest] = place / "texts"
    (place / "texts").mkdir()
    for name, content in {**dict.fromkeys(pair.languages, lines), "links": diagonals}.items():
        write_lines(place / "texts" / f"{name}.txt", content)
    folders[transfer.test.digest] = folders[transfer.heads[0].test.digest]
    return pair, folders
