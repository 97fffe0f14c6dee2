"""The tasks' own layers: a linear softmax, and the graph-based parser of Dozat and Manning (2016)."""

# B = sequences, L = positions, W = words and the root before them, D = width, K = labels or relations, A = width of
# arcs, R = width of relations, C = columns of targets or predictions, P = points

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.spanning_tree import maximum_spanning_trees
from isoglot.evaluation.transfer.task import IGNORE, Ids

Scored = tuple[Tensor, ...]
# Departure: sizes, activation and dropout are not in the paper; these are of the first author's later parser.
ARC_WIDTH = 512
RELATION_WIDTH = 128
INPUT_DROPOUT = 0.2
DROPOUT = 0.33
WIDEST = 4
"""Times the encoder's width: a demo's parser need not be larger than its encoder."""


class NotFiniteError(IsoglotError):
    """A model's scores are no numbers."""


class TaskHead(nn.Module, ABC):
    """Reads the last layer; `score` stays on the device, so that all batches are scored before any is decoded."""

    @abstractmethod
    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:
        """The loss of one batch; positions that are no points have the target IGNORE."""

    @abstractmethod
    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        """The tensors of a batch that decoding needs."""

    @abstractmethod
    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        """columns_CP for each batch, its points in the order of its sequences; NotFiniteError without finite scores."""


class VariationalDropout(nn.Module):
    """Drops the same features at every position of a sequence (Gal and Ghahramani, 2016)."""

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate

    def forward(self, hidden_BLD: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return hidden_BLD
        return hidden_BLD * F.dropout(torch.ones_like(hidden_BLD[:, :1]), self.rate)


class LinearHead(TaskHead):
    """A linear mapping to a softmax over labels, at every point."""

    def __init__(self, *, width: int, num_labels: int, dropout: float):
        super().__init__()
        self.dropout = VariationalDropout(dropout)
        self.output = nn.Linear(width, num_labels)

    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:  # noqa: ARG002
        return mean_cross_entropy(self.output(self.dropout(hidden_BLD)), target_CBL[0])

    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        # In full precision: scores in bf16 are often equal, and the first of them would win.
        with torch.autocast(hidden_BLD.device.type, enabled=False):
            score_PK = self.output(hidden_BLD[point_BL].float())
        return score_PK.argmax(-1), score_PK.isfinite().all()

    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        refuse_what_is_not_finite(is_finite for _, is_finite in scored)
        return [label_P.cpu().numpy().astype(np.int64)[None] for label_P, _ in scored]


def refuse_what_is_not_finite(flags: Iterable[Tensor]) -> None:
    if not bool(torch.stack(list(flags)).all()):
        raise NotFiniteError("the model's scores are no numbers; lower the learning rate")


def mean_cross_entropy(score_BLK: Tensor, target_BL: Tensor) -> Tensor:
    """The mean over positions that have a target; 0 where none has."""
    total = F.cross_entropy(score_BLK.float().flatten(0, 1), target_BL.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / target_BL.ne(IGNORE).sum().clamp(min=1)


class BiaffineParser(TaskHead):
    """Position 0 stands for the root: arcs to it are learned and predicted like all others."""

    # Departure: the first end symbol is the root's vector; Dozat and Manning learn one of its own.

    def __init__(self, *, width: int, num_relations: int, root_relation: int):
        super().__init__()
        self.root_relation = root_relation
        self.input_dropout = VariationalDropout(INPUT_DROPOUT)
        arc_width, relation_width = (min(most, WIDEST * width) for most in (ARC_WIDTH, RELATION_WIDTH))
        self.arc_dependent, self.arc_head = (_perceptron(width, arc_width) for _ in range(2))
        self.relation_dependent, self.relation_head = (_perceptron(width, relation_width) for _ in range(2))
        # A constant feature on either side gives both their linear terms, and the pair a bias.
        self.arc = nn.Parameter(torch.empty(arc_width + 1, arc_width + 1))
        self.relation = nn.Parameter(torch.empty(num_relations, relation_width + 1, relation_width + 1))
        nn.init.xavier_uniform_(self.arc)
        nn.init.xavier_uniform_(self.relation)

    def loss(self, hidden_BLD: Tensor, *, point_BL: Tensor, target_CBL: Tensor) -> Tensor:
        # Relations learn at the gold head alone; only prediction scores them under every head.
        hidden_BLD = self.input_dropout(hidden_BLD)
        head_BL, relation_BL = target_CBL
        arc_loss = mean_cross_entropy(self._arc_scores(hidden_BLD, point_BL=point_BL), head_BL)
        head_BLR = _with_one(self.relation_head(hidden_BLD))
        # A product, as on a GPU the gradient of a gather is added up in any order: no two runs would be alike.
        position_L = torch.arange(head_BL.shape[1], device=head_BL.device)
        gold_head_BLR = head_BL.unsqueeze(-1).eq(position_L).to(head_BLR.dtype) @ head_BLR
        dependent_BLR = _with_one(self.relation_dependent(hidden_BLD))
        relation_BLK = torch.einsum("blr,krs,bls->blk", dependent_BLR, self.relation, gold_head_BLR)
        return arc_loss + mean_cross_entropy(relation_BLK, relation_BL)

    def score(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Scored:
        """joint_BWW, the log-probability of each arc with its best relation; that relation; and how many words."""
        # Subwords are left out first: the rest grows with the square of the places.
        num_words_B = point_BL.sum(1)
        at_word_BW = _places(point_BL)
        hidden_BWD = hidden_BLD.gather(1, at_word_BW.unsqueeze(-1).expand(-1, -1, hidden_BLD.shape[-1]))
        word_W = torch.arange(at_word_BW.shape[1], device=point_BL.device)
        is_word_BW = word_W <= num_words_B.unsqueeze(1)
        arc_BWW = self._arc_scores(hidden_BWD, point_BL=is_word_BW).float().log_softmax(-1)
        dependent_BWR, head_BWR = (
            _with_one(part(hidden_BWD)) for part in (self.relation_dependent, self.relation_head)
        )
        relation_BWWK = torch.einsum("bwr,krs,bvs->bwvk", dependent_BWR, self.relation, head_BWR).float()
        log_relation_BWWK = relation_BWWK.log_softmax(-1)
        # Departure: a tree of Universal Dependencies has the relation root at the root's word and nowhere else.
        is_root_K = torch.arange(relation_BWWK.shape[-1], device=point_BL.device) == self.root_relation
        is_out_WK = (word_W == 0)[:, None] != is_root_K
        best_BWW, relation_BWW = log_relation_BWWK.masked_fill(is_out_WK, -torch.inf).max(-1)
        return arc_BWW + best_BWW, relation_BWW, num_words_B

    def decode(self, scored: Sequence[Scored]) -> list[Ids]:
        refuse_what_is_not_finite(~joint_BWW.isnan().any() for joint_BWW, *_ in scored)
        columns = []
        for joint_BWW, relation_BWW, num_words_B in scored:
            num_words = num_words_B.cpu().numpy()
            head_BW = maximum_spanning_trees(joint_BWW.double().cpu().numpy(), num_words_B=num_words)
            relation_BW = np.take_along_axis(relation_BWW.cpu().numpy(), head_BW[:, :, None], axis=2)[:, :, 0]
            word_W = np.arange(head_BW.shape[1])
            is_word_BW = (word_W > 0) & (word_W <= num_words[:, None])
            columns.append(np.stack([head_BW[is_word_BW], relation_BW[is_word_BW]]))
        return columns

    def _arc_scores(self, hidden_BLD: Tensor, *, point_BL: Tensor) -> Tensor:
        """score_BLL of each position as dependent of each; only words and position 0 can be heads, none its own."""
        dependent_BLA, head_BLA = _with_one(self.arc_dependent(hidden_BLD)), _with_one(self.arc_head(hidden_BLD))
        score_BLL = torch.einsum("bla,ac,bmc->blm", dependent_BLA, self.arc, head_BLA)
        position_L = torch.arange(point_BL.shape[1], device=point_BL.device)
        is_root_L = position_L == 0
        # The root depends on nothing; it may be its own head, so that a row of one word is not left without any.
        is_own_LL = (position_L[:, None] == position_L) & ~is_root_L
        return score_BLL.float().masked_fill(~(point_BL | is_root_L).unsqueeze(1) | is_own_LL, -torch.inf)


def _perceptron(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.ELU(), VariationalDropout(DROPOUT))


def _with_one(hidden_BLD: Tensor) -> Tensor:
    return F.pad(hidden_BLD, (0, 1), value=1.0)


def _places(point_BL: Tensor) -> Tensor:
    """place_BW: the position of each word, 0 for the root before them and for padding."""
    num_words = int(point_BL.sum(1).max())
    position_L = torch.arange(point_BL.shape[1], device=point_BL.device)
    rank_BL = point_BL.cumsum(1).masked_fill(~point_BL, 0)
    place_BW = torch.zeros(len(point_BL), num_words + 1, dtype=torch.long, device=point_BL.device)
    # Positions that are no words all write their number to place 0, which is set right afterwards.
    place_BW.scatter_(1, rank_BL, position_L.expand_as(rank_BL))
    place_BW[:, 0] = 0
    return place_BW
