"""Is transfer that died only turned away? Tasks asked of the target language after a rotation of its states.

    python bench/rotated_transfer.py STUDY --data DATA --store STORE --target fr [--conditions sep-emb-l1-3]
        [--tasks ner,parsing] [--layers 0,1,2,3] [--untrained]

The store has the models. Each is fine-tuned in the source language as for Table 1, with a seed of its own. Then it is
tested in the target language as it is, and once for each layer with a rotation there: the target's states up to that
layer are turned to the source's, and the source's own layers read on. The rotation is fitted on linked words of
parallel sentences, those of Figure 5. One JSON line for each model, task and layer.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from torch import nn

from isoglot.evaluation.geometry.hidden_states import word_vectors
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.evaluation.geometry.vectors import VectorMap
from isoglot.evaluation.transfer.fine_tuning import FineTuned, FineTuner
from isoglot.evaluation.transfer.model import NewLayers, TaskModel
from isoglot.evaluation.transfer.predictions import evaluate
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import this_machine
from isoglot.model.block import Block
from isoglot.model.encoder import Encoder
from isoglot.model.per_language import PerLanguage
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.examples import read_examples
from isoglot.pipeline.stages.fine_tuning import FineTuning
from isoglot.pipeline.stages.layer_transfer import ContextualMaps, linked, read_links
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.translations import parallel_lines
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.searches import NewVectors
from isoglot.study.study import Study, read_study


def rows(
    study: Study, store: Store, *, condition: str, target: str, task: str, layers: list[int], seed: int, untrained: bool
) -> Iterator[dict[str, Any]]:
    languages = (study.languages[0], target)
    graph = ModelGraph(study=study, condition=CONDITIONS[condition], languages=languages, seed=study.seeds[0])
    stage = graph.transfer(task, graph.untrained if untrained else graph.pretrained).runs[0]
    maps = ModelPair.of(study, CONDITIONS[condition], languages, seed=study.seeds[0]).contextual_maps()
    outcome = run_plan([stage.train, stage.dev, *stage.tests.values(), stage.encoder, maps.links], store)
    for error in outcome.failed.values():
        raise error
    tuned = fine_tuned(stage, store, seed=seed)
    here = {"condition": condition, "untrained": untrained, "task": task, "seed": seed}
    yield here | {"layer": None, **{each: tested(stage, store, tuned, tuned.model, each) for each in languages}}
    encoder = tuned.model.encoder
    assert isinstance(encoder, Encoder)
    for layer in layers:
        turned = rotated(encoder, layer=layer, turn=rotation(maps, stage, store, encoder, layer), source=languages[0])
        model = TaskModel(turned, tuned.model.head, freeze_encoder=True, normed=stage.run.normed)
        yield here | {"layer": layer, target: tested(stage, store, tuned, model, target)}


def fine_tuned(stage: FineTuning, store: Store, *, seed: int) -> FineTuned:
    task = task_named(stage.task)
    with TemporaryDirectory() as folder:
        tuner = FineTuner(
            replace(stage.run, seed=seed),
            task,
            encoder=chosen_model(store.folder(stage.encoder)).encoder,
            encoding=stage.encoder.streams[stage.run.language].encoding(store.folder),
            train=read_examples(task, store.folder(stage.train)),
            dev=read_examples(task, store.folder(stage.dev)),
            folder=Path(folder),
            machine=this_machine(),
        )
        return tuner.finish(lambda *_: None)


def rotation(maps: ContextualMaps, stage: FineTuning, store: Store, encoder: Encoder, layer: int) -> VectorMap:
    """From the target's words to the source's, as the fine-tuned encoder reads them."""
    vectors = []
    for language in maps.languages:
        stream = stage.encoder.streams[language]
        reader = EncoderReader(
            encoder,
            encoding=stream.encoding(store.folder),
            splitting=stream.text.splitting,
            most_tokens=stage.encoder.run.window,
        )
        sentences = reader.sentences(parallel_lines(store.folder(maps.parallel), language))
        vectors.append(word_vectors(reader, sentences, layer=layer, subwords=maps.subwords))
    goal_KD, origin_KD = linked(read_links(store.folder(maps.links)), *vectors)
    return VectorMap.fit(origin_KD, goal_KD, rounds=maps.rounds)


def rotated(encoder: Encoder, *, layer: int, turn: VectorMap, source: str) -> NewLayers:
    """The encoder with a rotation of the states at a layer, and above it the layers of the source language."""
    mapped = NewLayers(encoder, layer=layer, count=0, mapped=partial(turn.mapped, new_vectors=NewVectors.CENTRED))
    blocks = [cast(PerLanguage[Block], block).of(source) for block in encoder.blocks]
    mapped.blocks = nn.ModuleList(blocks[layer:])
    if layer < encoder.shape.layers:
        mapped.top_norm = encoder.top_norm
    return mapped


def tested(stage: FineTuning, store: Store, tuned: FineTuned, model: TaskModel, language: str) -> float:
    task = task_named(stage.task)
    found = evaluate(
        task,
        read_examples(task, store.folder(stage.tests[language])),
        model=model.eval(),
        labels=tuned.labels,
        encoding=stage.encoder.streams[language].encoding(store.folder),
        most_tokens=stage.run.most_tokens,
        machine=this_machine(),
    )
    return round(found.scores[task.metric], 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--target", required=True)
    parser.add_argument("--conditions", default="sep-emb-l1-3")
    parser.add_argument("--tasks", default="ner,parsing")
    parser.add_argument("--layers", default="0,1,2,3")
    parser.add_argument("--seed", type=int, default=1, help="of fine-tuning")
    parser.add_argument("--untrained", action="store_true", help="models before their first update")
    wanted = parser.parse_args()
    study, layers = read_study(wanted.study, data=wanted.data), [int(layer) for layer in wanted.layers.split(",")]
    for condition in wanted.conditions.split(","):
        for task in wanted.tasks.split(","):
            chosen = {"condition": condition, "target": wanted.target, "task": task, "layers": layers}
            for row in rows(study, Store(wanted.store), **chosen, seed=wanted.seed, untrained=wanted.untrained):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
