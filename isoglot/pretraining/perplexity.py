"""Held-out perplexity with a mask that never changes, so that models and moments can be compared."""

# B = windows, L = positions, M = masked positions

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.model.cloze import ClozeModel
from isoglot.pretraining.run import EVALUATED_AT_ONCE


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Dev windows of one language, masked once and for all."""

    language: str
    token_BL: Tensor
    seen_BL: Tensor
    chosen_BL: Tensor

    @classmethod
    def of(cls, ids: np.ndarray, *, language: str, window: int, rate: float, mask_id: int) -> "HeldOut":
        """Mask full windows as XLM's evaluator does: always by the mask symbol, never at either end, at least once."""
        if len(ids) < window:
            raise IsoglotError(
                f"the dev text of {language!r} has {len(ids)} tokens, less than one window of {window}; raise dev_lines"
            )
        token_BL = ids[: len(ids) // window * window].astype(np.int64).reshape(-1, window)
        generator = np.random.default_rng(0)
        chosen_BL = generator.random(token_BL.shape) < rate
        chosen_BL[:, [0, -1]] = False
        fallback_B = generator.integers(1, window - 1, len(token_BL))
        missed_B = np.flatnonzero(~chosen_BL.any(axis=1))
        chosen_BL[missed_B, fallback_B[missed_B]] = True
        seen_BL = np.where(chosen_BL, mask_id, token_BL)
        return cls(
            language=language,
            token_BL=torch.from_numpy(token_BL),
            seen_BL=torch.from_numpy(seen_BL),
            chosen_BL=torch.from_numpy(chosen_BL),
        )


@torch.no_grad()
def perplexity(model: ClozeModel, held_out: HeldOut, *, device: torch.device) -> float:
    """exp of the mean cross-entropy over all masked words."""
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for start in range(0, len(held_out.token_BL), EVALUATED_AT_ONCE):
        rows = slice(start, start + EVALUATED_AT_ONCE)
        masked_M = held_out.chosen_BL[rows].flatten().nonzero().squeeze(1)
        target_M = held_out.token_BL[rows].flatten()[masked_M].to(device)
        logits_MV = model.masked_logits(
            held_out.seen_BL[rows].to(device), masked_M=masked_M.to(device), language=held_out.language
        )
        total += float(F.cross_entropy(logits_MV.float(), target_M, reduction="sum"))
        count += len(masked_M)
    model.train(was_training)
    # Not numpy's exp, which warns where a model gone astray gives infinity; the training loop says what to do then.
    return float(torch.tensor(total / count, dtype=torch.float64).exp())
