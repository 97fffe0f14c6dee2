"""Stages of Figures 5 and 8 for tiny models: heads on a layer, maps, and transfer through both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from isoglot.model.cloze import write_model
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.layer_transfer import ContextualMaps, LayerHead, LayerTransfer
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.text import write_lines
from isoglot.pipeline.stages.translations import parallel_lines
from isoglot.pretraining.run import BEST
from isoglot.study.conditions import MONOLINGUAL
from isoglot.study.searches import Subwords
from tests.evaluation.transfer.planted_models import order_of_features, reordered
from tests.pipeline.making import made
from tests.pipeline.tiny_transfers import tiny_graph, tiny_study

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
