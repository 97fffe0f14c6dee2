"""Is transfer that died only turned away? Tasks asked of the target language after a rotation of its states.

    python bench/rotated_transfer.py STUDY --data DATA --store STORE --target fr [--conditions sep-emb-l1-3]
        [--tasks ner,parsing] [--layers 0,1,2,3] [--model-seed 1] [--untrained]

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
from isoglot.evaluation.transfer.fine_tuning import FineTuned
from isoglot.evaluation.transfer.model import NewLayers, TaskModel
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import this_machine
from isoglot.model.block import Block
from isoglot.model.encoder import Encoder
from isoglot.model.per_language import PerLanguage
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.examples import read_examples
from isoglot.pipeline.stages.fine_tuning import FineTuning
from isoglot.pipeline.stages.layer_transfer import linked, read_links
from isoglot.pipeline.stages.readers import parallel_sentences
from isoglot.store import Store, Work, run_plan
from isoglot.study.conditions import named_in_file
from isoglot.study.searches import NewVectors
from isoglot.study.study import Study
from isoglot.study.study_file import read_study


def rows(
    study: Study,
    store: Store,
    *,
    condition: str,
    target: str,
    task: str,
    layers: list[int],
    seed: int,
    model_seed: int,
    untrained: bool,
) -> Iterator[dict[str, Any]]:
    source, languages = study.languages[0], (study.languages[0], target)
    row = named_in_file(condition)
    graph = ModelGraph(study=study, condition=row, languages=languages, seed=model_seed)
    stage = graph.transfer(task, graph.untrained if untrained else graph.pretrained).runs[0]
    stage = replace(stage, run=replace(stage.run, seed=seed))
    maps = ModelPair.of(study, row, languages, seed=model_seed).contextual_maps()
    for error in run_plan([*stage.inputs.values(), maps.links], store).failed.values():
        raise error
    here = {"condition": condition, "untrained": untrained, "task": task, "model_seed": model_seed, "seed": seed}
    with TemporaryDirectory() as folder:
        inputs = {each.digest: store.folder(each) for each in (*stage.inputs.values(), maps.links, maps.parallel)}
        work = Work(folder=Path(folder), input_folders=inputs, progress=lambda *_: None, log_folder=Path(folder))
        tuned = stage.fine_tuned(work, task_named(task), this_machine())
        yield here | {"layer": None, **{each: score(stage, work, tuned, each) for each in languages}}
        encoder = tuned.model.encoder
        assert isinstance(encoder, Encoder)
        readers = [reader_of(encoder, stage, work, language) for language in languages]
        texts = parallel_sentences(work, maps.parallel, readers)
        links = read_links(work.path(maps.links))
        for layer in layers:
            # From the target's words to the source's, as the fine-tuned encoder reads them.
            both = zip(readers, texts, strict=True)
            goal_KD, origin_KD = linked(
                links, *(word_vectors(*each, layer=layer, subwords=maps.subwords) for each in both)
            )
            turn = VectorMap.fit(origin_KD, goal_KD, rounds=maps.rounds)
            turned = rotated(encoder, layer=layer, turn=turn, source=source)
            model = TaskModel(turned, tuned.model.head, freeze_encoder=True, normed=stage.run.normed).eval()
            yield here | {"layer": layer, target: score(stage, work, replace(tuned, model=model), target)}


def reader_of(encoder: Encoder, stage: FineTuning, work: Work, language: str) -> EncoderReader:
    stream = stage.encoder.streams[language]
    return EncoderReader(
        encoder,
        encoding=stream.encoding(work.path),
        splitting=stream.text.splitting,
        most_tokens=stage.encoder.run.window,
    )


def score(stage: FineTuning, work: Work, tuned: FineTuned, language: str) -> float:
    task = task_named(stage.task)
    gold = read_examples(task, work.path(stage.tests[language]))
    found = stage.tested(work, task, gold, tuned, language=language, machine=this_machine())
    return round(found.scores[task.metric], 2)


def rotated(encoder: Encoder, *, layer: int, turn: VectorMap, source: str) -> NewLayers:
    """The encoder with a rotation of the states at a layer, and above it the layers of the source language."""
    mapped = NewLayers(encoder, layer=layer, count=0, mapped=partial(turn.mapped, new_vectors=NewVectors.CENTRED))
    blocks = [cast(PerLanguage[Block], block).of(source) for block in encoder.blocks]
    mapped.blocks = nn.ModuleList(blocks[layer:])
    if layer < encoder.shape.layers:
        mapped.top_norm = encoder.top_norm
    return mapped


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
    parser.add_argument("--model-seed", type=int, help="of pretraining; by default the study's first")
    parser.add_argument("--untrained", action="store_true", help="models before their first update")
    wanted = parser.parse_args()
    study, layers = read_study(wanted.study, data=wanted.data), [int(layer) for layer in wanted.layers.split(",")]
    model_seed = study.seeds[0] if wanted.model_seed is None else wanted.model_seed
    more = {"seed": wanted.seed, "model_seed": model_seed, "untrained": wanted.untrained}
    for condition in wanted.conditions.split(","):
        for task in wanted.tasks.split(","):
            chosen = {"condition": condition, "target": wanted.target, "task": task, "layers": layers}
            for row in rows(study, Store(wanted.store), **chosen, **more):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
