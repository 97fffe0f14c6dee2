"""Checkpoints from which interrupted training goes on bit for bit, on a device that computes the same twice."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from isoglot.errors import IsoglotError
from isoglot.files import WriteTensors, write_tensors

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

CHECKPOINTS = "checkpoints"
"""In the folder of what is trained."""
LATEST = "latest.safetensors"
PROGRESSION = "progression"
"""What changes during training besides weights and moments, in the metadata of the file."""
LENGTH_BYTES = 8
LONGEST_HEADER = 1 << 26


def stored_progression(folder: Path) -> dict[str, Any]:
    """Of training in a folder, up to its checkpoint; empty where it has none, or none that can be read."""
    try:
        with (folder / CHECKPOINTS / LATEST).open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            header = json.loads(file.read(min(length, LONGEST_HEADER)))
        return dict(json.loads(header["__metadata__"][PROGRESSION]))
    # It may be replaced or removed while it is read; and of a damaged one whoever goes on from it complains.
    except (OSError, ValueError, KeyError, TypeError):
        return {}


TrainState = TypeVar("TrainState", bound="DataclassInstance")
"""What changes during training besides weights and moments."""


def write_checkpoint(
    folder: Path,
    *,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    progression: "DataclassInstance",
    write: WriteTensors = write_tensors,
) -> None:
    """Replace the folder's checkpoint in one step, so that a kill leaves the old one or the new one.

    Frozen weights are left out, as whoever goes on has them already.
    """
    frozen = _frozen(model)
    tensors = {f"weights/{name}": tensor for name, tensor in model.state_dict().items() if name not in frozen}
    for name, parameter in model.named_parameters():
        for moment, tensor in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer/{moment}/{name}"] = tensor
    # One file holds everything: weights of one update beside the positions of another could never be noticed.
    write(tensors, folder / LATEST, metadata={PROGRESSION: json.dumps(asdict(progression))})


def read_checkpoint(
    folder: Path, *, model: nn.Module, optimizer: torch.optim.Optimizer, fresh: TrainState
) -> TrainState:
    """Restore model and optimizer from the folder; the fresh progression where it holds no checkpoint."""
    try:
        with safe_open(folder / LATEST, framework="pt") as tensors:
            progression = type(fresh)(**json.loads(tensors.metadata()[PROGRESSION]))
            stored = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    except FileNotFoundError:
        return fresh
    except (OSError, SafetensorError) as error:
        # It was replaced in one step, so this is no half-written one; to begin anew would throw away what it holds.
        raise IsoglotError(f"{folder / LATEST}: cannot be read ({error}); delete it to train from the start") from error
    weights = {name.removeprefix("weights/"): tensor for name, tensor in stored.items() if name.startswith("weights/")}
    model.load_state_dict(_frozen(model) | weights)
    parameters = dict(model.named_parameters())
    for key, tensor in stored.items():
        if key.startswith("optimizer/"):
            _, moment, name = key.split("/", 2)
            optimizer.state[parameters[name]][moment] = tensor.to(parameters[name].device)
    return progression


def _frozen(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if not parameter.requires_grad}
