"""What a task learned is kept without the encoder, and stands on another one as on its own."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.fine_tuning import FineTuned
from isoglot.evaluation.transfer.model import NewLayers, TaskModel, drawn_layers, read_task_layers, write_task_layers
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from tests.evaluation.transfer.made_up_trees import chain_trees
from tests.evaluation.transfer.tiny_transfer import (
    CPU,
    letter_encoding,
    silent,
    tagged_sentences,
    tiny_encoder,
    tuner_of,
)
from tests.model.tiny_models import tiny_model

CASES: dict[str, tuple[Task[Any], list[Any]]] = {
    "ner": (NER, tagged_sentences(20)),
    "parsing": (PARSING, chain_trees()),
}


def tuned(folder: Path, task: Task[Any], examples: list[Any], *, count: int = 2) -> FineTuned:
    layers = drawn_layers(tiny_encoder(), layer=1, count=count, seed=0)
    return tuner_of(folder, task=task, train=examples, dev=examples, encoder=layers).finish(silent)


def said(model: TaskModel, task: Task[Any], examples: list[Any], labels: tuple[str, ...]) -> list[Any]:
    sequences = encoded(task, examples, encoding=letter_encoding(), most_tokens=40)
    return predictions(task, examples, sequences, model=model, labels=labels, language="en", machine=CPU)


@pytest.mark.parametrize("name", CASES)
def test_layers_read_again_say_the_same_and_on_another_model_something_else(name: str, tmp_path: Path) -> None:
    task, examples = CASES[name]
    found = tuned(tmp_path, task, examples)
    write_task_layers(found.model, tmp_path / "layers", labels=found.labels)
    model, labels = read_task_layers(tmp_path / "layers", task, encoder=NewLayers(tiny_encoder(), layer=1, count=2))
    assert labels == found.labels
    assert not model.training
    expected = said(found.model, task, examples, labels)
    assert said(model, task, examples, labels) == expected
    for tensor_name, tensor in found.model.state_dict().items():
        assert model.state_dict()[tensor_name].equal(tensor), tensor_name
    foreign = NewLayers(tiny_encoder(seed=1, noise=1.0), layer=1, count=2)
    other, _ = read_task_layers(tmp_path / "layers", task, encoder=foreign)
    assert said(other, task, examples, labels) != expected
    for tensor_name, tensor in tiny_encoder(seed=1, noise=1.0).state_dict().items():
        assert other.encoder.below.state_dict()[tensor_name].equal(tensor), tensor_name


def test_the_file_holds_what_was_learned_in_full_precision(tmp_path: Path) -> None:
    found = tuned(tmp_path, *CASES["ner"])
    write_task_layers(found.model, tmp_path / "layers", labels=found.labels)
    weights = load_file(tmp_path / "layers")
    learned = {name for name, each in found.model.named_parameters() if each.requires_grad}
    assert weights.keys() == learned
    assert {each.dtype for each in weights.values()} == {torch.float32}


def test_layers_that_do_not_fit_or_cannot_be_read_are_refused(tmp_path: Path) -> None:
    found = tuned(tmp_path, *CASES["ner"])
    path = tmp_path / "layers"
    write_task_layers(found.model, path, labels=found.labels)
    with pytest.raises(IsoglotError, match=r"layers: its layers do not fit 1 new ones of width 16; give .* one shape"):
        read_task_layers(path, NER, encoder=NewLayers(tiny_encoder(), layer=1, count=1))
    with pytest.raises(IsoglotError, match="do not fit 2 new ones of width 24"):
        read_task_layers(path, NER, encoder=NewLayers(tiny_model().encoder, layer=1, count=2))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IsoglotError, match=r"layers: holds no readable layers \(.*\); delete its folder"):
        read_task_layers(path, NER, encoder=NewLayers(tiny_encoder(), layer=1, count=2))
