"""What a task learned on a frozen layer, on disk: its new layers, its own layer and its labels, without the encoder."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from isoglot.errors import IsoglotError
from isoglot.files import write_tensors
from isoglot.transfer.model import TaskModel
from isoglot.transfer.new_layers import NewLayers
from isoglot.transfer.task import Task

FROZEN = "encoder.below."
"""Before the names of weights that stay those of the encoder."""


def write_task_layers(model: TaskModel, path: Path, *, labels: Sequence[str]) -> None:
    """Weights in the precision that they were learned in."""
    learned = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith(FROZEN)}
    write_tensors(learned, path, metadata={"labels": json.dumps(list(labels))})


def read_task_layers(path: Path, task: Task[Any], *, encoder: NewLayers) -> tuple[TaskModel, tuple[str, ...]]:
    """The layers that `write_task_layers` put there, on another encoder or the same, and the task's labels."""
    try:
        with safe_open(path, framework="pt") as tensors:
            labels = tuple(json.loads(tensors.metadata()["labels"]))
            learned = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise IsoglotError(f"{path}: holds no readable layers ({error}); delete its folder to make it anew") from error
    model = TaskModel(encoder, task.head(width=encoder.shape.width, labels=labels), freeze_encoder=True)
    frozen = {name: tensor for name, tensor in model.state_dict().items() if name.startswith(FROZEN)}
    try:
        model.load_state_dict(frozen | learned)
    except RuntimeError as error:
        raise IsoglotError(
            f"{path}: its layers do not fit {len(encoder.blocks)} new ones of width {encoder.shape.width}; "
            "give the models of both languages one shape"
        ) from error
    return model.eval(), labels
