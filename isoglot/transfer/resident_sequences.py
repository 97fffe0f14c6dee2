"""All sequences of a set on the device, so that a batch is made there from the numbers of its rows."""

# B = sequences, L = positions, C = columns of targets, N = all sequences, T = tokens of all sequences

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from isoglot.transfer.sequences import Sequences
from isoglot.transfer.task import IGNORE, Ids


@dataclass(frozen=True, kw_only=True)
class ResidentSequences:
    """One after the other, with where each starts and how long it is."""

    token_T: Tensor
    point_T: Tensor
    start_N: Tensor
    length_N: Tensor
    target_CT: Tensor
    pad_id: int

    @classmethod
    def of(
        cls, sequences: Sequences, *, pad_id: int, device: torch.device, target_CT: Ids | None = None
    ) -> "ResidentSequences":
        def put(array: Ids) -> Tensor:
            return torch.from_numpy(array).to(device)

        no_target_CT = np.empty((0, len(sequences.token_T)), dtype=np.int64)
        return cls(
            token_T=put(sequences.token_T),
            point_T=torch.from_numpy(sequences.point_T).to(device),
            start_N=put(sequences.start_N),
            length_N=put(sequences.length_N),
            target_CT=put(no_target_CT if target_CT is None else target_CT),
            pad_id=pad_id,
        )

    def batch(self, rows_B: Tensor, *, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """token_BL, point_BL and target_CBL, padded to a length that holds the longest."""
        position_L = torch.arange(length, device=rows_B.device)
        real_BL = position_L < self.length_N[rows_B].unsqueeze(1)
        at_BL = (self.start_N[rows_B].unsqueeze(1) + position_L) * real_BL
        return (
            self.token_T[at_BL].masked_fill(~real_BL, self.pad_id),
            self.point_T[at_BL] & real_BL,
            self.target_CT[:, at_BL].masked_fill(~real_BL, IGNORE),
        )
