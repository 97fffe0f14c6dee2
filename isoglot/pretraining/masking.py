"""Which tokens are hidden, and what the model sees in their place (section 3.1)."""

# B = windows, L = positions, M = masked positions

from dataclasses import dataclass

import torch
from torch import Tensor

MASKED_SHARE = 0.8
KEPT_SHARE = 0.1  # the rest becomes a random word


@dataclass(frozen=True, kw_only=True)
class MaskedBatch:
    """Windows of one language as the model sees them, and the words it must find."""

    token_BL: Tensor
    masked_M: Tensor
    """Flat indices into token_BL."""
    target_M: Tensor
    language: str


def masked_batch(
    token_BL: Tensor, *, language: str, rate: float, mask_id: int, table_size: int, generator: torch.Generator
) -> MaskedBatch:
    """Choose each position by itself with probability `rate`, and never position 0.

    As in XLM, </s> and <unk> inside a window may be chosen, and a random word may be any of the table's ids. A table
    that belongs to one language gives random words of that language alone.
    """

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device=token_BL.device)

    chosen_BL = uniform(*token_BL.shape) < rate
    chosen_BL[:, 0] = False
    masked_M = chosen_BL.flatten().nonzero().squeeze(1)
    if masked_M.numel() == 0:  # a tiny batch may escape every draw; the loss needs one word
        masked_M = torch.tensor([token_BL.shape[1] - 1], device=token_BL.device)
    target_M = token_BL.flatten()[masked_M]
    fate_M = uniform(len(masked_M))
    # Departure: Sep L1-3 and L1-6 keep one table, hence random words of both languages; section 4.3 may mean them too.
    random_M = torch.randint(table_size, (len(masked_M),), generator=generator, device=token_BL.device)
    seen_M = torch.where(fate_M < MASKED_SHARE, mask_id, random_M)
    seen_M = torch.where((fate_M >= MASKED_SHARE) & (fate_M < MASKED_SHARE + KEPT_SHARE), target_M, seen_M)
    seen_BL = token_BL.flatten().index_copy(0, masked_M, seen_M).view_as(token_BL)
    return MaskedBatch(token_BL=seen_BL, masked_M=masked_M, target_M=target_M, language=language)
