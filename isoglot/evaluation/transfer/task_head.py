"""A task's own layer: what all of them have in common, and the linear one."""

# B = sequences, L = positions, D = width, K = labels, C = columns of targets or predictions

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import IGNORE, Ids

Scored = tuple[Tensor, ...]
# Departure: the paper names no dropout of the task's layer; this is the first author's later code's.
TAGGING_DROPOUT = 0.2


class NotFiniteError(IsoglotError):
    """A model says nothing any more, as its scores are no numbers."""


class TaskHead(nn.Module, ABC):
    """Reads the last layer; `score` stays on the device, so that all batches are scored before any is decoded."""

    @abstractmethod
    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:
        """Of one batch; positions that do not stand for anything have the target IGNORE."""

    @abstractmethod
    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        """What decoding needs of a batch."""

    @abstractmethod
    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        """Of each batch what is predicted for every point, in the order of its sequences: columns_CP.

        Raises NotFiniteError where scores are no numbers.
        """


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
        # In full precision: of scores in bf16 the first of several equal ones would win.
        with torch.autocast(hidden_BLD.device.type, enabled=False):
            score_PK = self.output(hidden_BLD[point_BL].float())
        return score_PK.argmax(-1), score_PK.isfinite().all()

    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        refuse_what_is_not_finite(is_finite for _, is_finite in scored)
        return [label_P.cpu().numpy().astype(np.int64)[None] for label_P, _ in scored]


def tagging_head(*, width: int, num_labels: int) -> LinearHead:
    """For tasks that label every word."""
    return LinearHead(width=width, num_labels=num_labels, dropout=TAGGING_DROPOUT)


def refuse_what_is_not_finite(flags: Iterable[Tensor]) -> None:
    if not bool(torch.stack(list(flags)).all()):
        raise NotFiniteError("the model's scores are no numbers; lower the learning rate")


def mean_cross_entropy(score_BLK: Tensor, target_BL: Tensor) -> Tensor:
    """Over the positions that have a target; 0 where none has."""
    total = F.cross_entropy(score_BLK.float().flatten(0, 1), target_BL.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / target_BL.ne(IGNORE).sum().clamp(min=1)
