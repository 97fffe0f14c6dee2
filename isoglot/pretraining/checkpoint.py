"""Checkpoints from which an interrupted run goes on bit for bit, on a device that computes the same twice."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from isoglot.encoder.cloze import ClozeModel

LATEST = "latest.safetensors"


@dataclass
class Progression:
    """What changes during training besides weights and moments; random draws depend on the update number alone."""

    update: int = 0
    positions: dict[str, int] = field(default_factory=dict)
    """Windows taken of each language."""
    best_perplexity: float = float("inf")
    losses: dict[str, list[float]] = field(default_factory=dict)
    """By language: the sum of losses since the last evaluation, and of how many updates."""
    log: list[dict[str, object]] = field(default_factory=list)


def write_checkpoint(
    folder: Path, *, model: ClozeModel, optimizer: torch.optim.Optimizer, progression: Progression
) -> None:
    """Replace the folder's checkpoint in one step, so that a kill leaves the old one or the new one."""
    tensors = {f"weights/{name}": tensor.cpu().contiguous() for name, tensor in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for moment, tensor in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer/{moment}/{name}"] = tensor.cpu().contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / (LATEST + ".new")
    # One file holds everything: weights of one update beside the positions of another could never be noticed.
    save_file(tensors, fresh, metadata={"progression": json.dumps(asdict(progression))})
    with fresh.open("rb") as written:
        os.fsync(written.fileno())
    fresh.replace(folder / LATEST)


def read_checkpoint(folder: Path, *, model: ClozeModel, optimizer: torch.optim.Optimizer) -> Progression:
    """Restore model and optimizer from the folder; a fresh Progression where it holds no whole checkpoint."""
    try:
        with safe_open(folder / LATEST, framework="pt") as tensors:
            progression = Progression(**json.loads(tensors.metadata()["progression"]))
            stored = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):
        return Progression()
    model.load_state_dict(
        {name.removeprefix("weights/"): tensor for name, tensor in stored.items() if name.startswith("weights/")}
    )
    parameters = dict(model.named_parameters())
    for key, tensor in stored.items():
        if key.startswith("optimizer/"):
            _, moment, name = key.split("/", 2)
            optimizer.state[parameters[name]][moment] = tensor.to(parameters[name].device)
    return progression
