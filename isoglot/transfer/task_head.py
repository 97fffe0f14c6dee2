"""A task's own layer: what all of them have in common, and the linear one."""

# B = sequences, L = positions, D = width, K = labels, C = columns of targets or predictions

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.transfer.task import IGNORE, Ids

Scored = tuple[Tensor, ...]


class TaskHead(nn.Module):
    """Reads the last layer; `score` stays on the device, so that all batches are scored before any is decoded."""

    @abstractmethod
    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:
        """Of one batch; positions that do not stand for anything have the target IGNORE."""

    @abstractmethod
    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        """What decoding needs of a batch."""

    @abstractmethod
    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        """Of each batch what is predicted for every point, in the order of its sequences: columns_CP."""


class VariationalDropout(nn.Module):
    """Drops the same features at every position of a sequence (Gal and Ghahramani, 2016)."""

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate

    def forward(self, hidden_BLD: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return hidden_BLD
        kept_B1D = F.dropout(torch.ones_like(hidden_BLD[:, :1]), self.rate)
        return hidden_BLD * kept_B1D


class LinearHead(TaskHead):
    """A linear mapping to a softmax over labels, at every point."""

    def __init__(self, *, width: int, num_labels: int, dropout: float):
        super().__init__()
        self.dropout = VariationalDropout(dropout)
        self.output = nn.Linear(width, num_labels)

    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:  # noqa: ARG002
        return mean_cross_entropy(self.output(self.dropout(hidden_BLD)), target_CBL[0])

    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        return (self.output(hidden_BLD[point_BL]).argmax(-1),)

    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        return [label_P.cpu().numpy().astype(np.int64)[None] for (label_P,) in scored]


def mean_cross_entropy(score_BLK: Tensor, target_BL: Tensor) -> Tensor:
    """Over the positions that have a target; 0 where none has."""
    total = F.cross_entropy(score_BLK.float().flatten(0, 1), target_BL.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / target_BL.ne(IGNORE).sum().clamp(min=1)
