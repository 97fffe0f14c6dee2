"""A model of two made-up languages and what its transfer needs, all of it made in a second."""

from dataclasses import replace
from pathlib import Path

import torch

from isoglot.corpora.sentences import Encoding
from isoglot.evaluation.transfer.fine_tuning import FineTuned, FineTuner
from isoglot.evaluation.transfer.model import NewLayers
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.machine import Machine
from isoglot.model.encoder import Encoder
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.examples import read_examples
from isoglot.pipeline.stages.fine_tuning import TaskTraining
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS
from isoglot.study.searches import Schedule, Search
from isoglot.study.study import Study, Synthetic, parse_study
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
