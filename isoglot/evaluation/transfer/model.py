"""An encoder with a task's own layer on it, and new layers on a frozen one, kept in a file without the encoder."""

# B = sequences, L = positions, N = tokens of all sequences, D = width, C = columns of targets

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor, nn

from isoglot.evaluation.transfer.heads import Scored, TaskHead
from isoglot.evaluation.transfer.task import Task
from isoglot.model.block import NORM_EPSILON, Block
from isoglot.model.encoder import Encoder
from isoglot.model.work_files import write_tensors
from isoglot.randomness import derived_seed
from isoglot.study.scales import NormPlacement

Mapped = Callable[[Tensor], Tensor]
"""Maps vectors [N, D] of one model to vectors of another."""
FROZEN = "encoder.below."


class NewLayers(nn.Module):
    """New layers on layer `layer` of a frozen encoder, read and fine-tuned as an encoder is."""

    def __init__(self, encoder: Encoder, *, layer: int, count: int, mapped: Mapped | None = None):
        super().__init__()
        shape = encoder.shape
        self.below, self.layer, self.mapped = encoder, layer, mapped
        self.shape, self.pad_id = shape, encoder.pad_id
        # Departure: these are layers like the encoder's own; the paper says only that they are four.
        self.blocks = nn.ModuleList(Block(shape) for _ in range(count))
        closes = count > 0 and shape.norm is NormPlacement.PRE
        self.top_norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON) if closes else nn.Identity()

    def freeze_separate(self) -> None:
        """Freeze all that is below, what languages own included."""
        self.below.requires_grad_(False)

    def train(self, mode: bool = True) -> "NewLayers":
        super().train(mode)
        # Departure: nothing drops in frozen layers, so that states in training are those of tests and of maps.
        self.below.eval()
        return self

    def forward(self, token_BL: Tensor, *, language: str | None = None, padded: bool = False) -> Tensor:
        """The last layer, as an encoder gives it: 0 at padding, which exists only where `padded` is set."""
        real_BL = token_BL.ne(self.pad_id) if padded else torch.ones_like(token_BL, dtype=torch.bool)
        hidden_BLD = self._state_below(token_BL, language=language, padded=padded, real_BL=real_BL)
        for block in self.blocks:
            hidden_BLD = block(hidden_BLD, attend_B11L=real_BL[:, None, None, :])
        output_BLD: Tensor = self.top_norm(hidden_BLD) * real_BL.unsqueeze(-1)
        return output_BLD

    @torch.no_grad()
    def _state_below(self, token_BL: Tensor, *, language: str | None, padded: bool, real_BL: Tensor) -> Tensor:
        state_BLD = self.below.state(token_BL, layer=self.layer, language=language, padded=padded)
        if self.mapped is None:
            return state_BLD
        mapped_BLD = torch.zeros_like(state_BLD)
        # Every real token, special symbols included; in full precision, as maps are fitted.
        with torch.autocast(state_BLD.device.type, enabled=False):
            mapped_BLD[real_BL] = self.mapped(state_BLD[real_BL].float()).to(state_BLD.dtype)
        return mapped_BLD


def drawn_layers(encoder: Encoder, *, layer: int, count: int, seed: int) -> NewLayers:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "new layers"))
        return NewLayers(encoder, layer=layer, count=count)


class TaskModel(nn.Module):
    """The language is an argument: at test time the target's own embeddings and layers are used (section 4.3)."""

    def __init__(self, encoder: Encoder | NewLayers, head: TaskHead, *, freeze_encoder: bool, normed: bool = False):
        super().__init__()
        self.encoder, self.head, self.normed = encoder, head, normed
        encoder.requires_grad_(not freeze_encoder)
        encoder.freeze_separate()

    def loss(self, token_BL: Tensor, *, point_BL: Tensor, target_CBL: Tensor, language: str) -> Tensor:
        hidden_BLD = self.read(token_BL, language=language)
        return self.head.loss(hidden_BLD, point_BL=point_BL, target_CBL=target_CBL)

    def score(self, token_BL: Tensor, *, point_BL: Tensor, language: str) -> Scored:
        return self.head.score(self.read(token_BL, language=language), point_BL=point_BL)

    def read(self, token_BL: Tensor, *, language: str) -> Tensor:
        """The input of the task's own layer at each position; 0 at padding."""
        hidden_BLD: Tensor = self.encoder(token_BL, language=language, padded=True)
        return F.layer_norm(hidden_BLD, hidden_BLD.shape[-1:], eps=NORM_EPSILON) if self.normed else hidden_BLD


def write_task_layers(model: TaskModel, path: Path, *, labels: Sequence[str]) -> None:
    """Weights in the precision that they were learned in."""
    learned = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith(FROZEN)}
    write_tensors(learned, path, metadata={"labels": json.dumps(list(labels))})


def read_task_layers(
    path: Path, task: Task[Any], *, encoder: NewLayers, normed: bool = False
) -> tuple[TaskModel, tuple[str, ...]]:
    """The layers that `write_task_layers` put there, on another encoder or the same, and the task's labels."""
    with safe_open(path, framework="pt") as tensors:
        labels = tuple(json.loads(tensors.metadata()["labels"]))
        learned = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
    head = task.head(width=encoder.shape.width, labels=labels)
    model = TaskModel(encoder, head, freeze_encoder=True, normed=normed)
    frozen = {name: tensor for name, tensor in model.state_dict().items() if name.startswith(FROZEN)}
    model.load_state_dict(frozen | learned)
    return model.eval(), labels
