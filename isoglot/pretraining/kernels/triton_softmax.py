"""The loss of a wide softmax on a GPU, whose gradient takes the place of the scores."""

# C = masked positions, V = tokens of a table

import torch
import triton
import triton.language as tl
from torch import Tensor


def softmax_loss_(logits_CV: Tensor, target_C: Tensor, *, scale: Tensor) -> Tensor:
    """Losses, 0 where the target is -1; the scores become gradients of the losses' sum times the scale."""
    rows, width = logits_CV.shape
    loss_C = torch.empty(rows, dtype=torch.float32, device=logits_CV.device)
    block = min(2048, triton.next_power_of_2(width))
    _softmax_loss[(rows,)](
        *(logits_CV, target_C, scale, loss_C),
        WIDTH=width,
        ROWS=2,
        BLOCK=block,
        num_warps=max(1, block // 256),
    )
    return loss_C


@triton.jit
def _softmax_loss(logits, targets, scale, losses, WIDTH: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A thread holds the same columns of two stretches at a time, so that it knows their maximum by itself."""
    row = tl.program_id(0)
    target = tl.load(targets + row)
    own = logits + row.to(tl.int64) * WIDTH
    offset = tl.arange(0, ROWS)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    if target < 0:
        for first in range(0, WIDTH, ROWS * BLOCK):
            column = first + offset
            tl.store(own + column, tl.zeros((ROWS, BLOCK), logits.dtype.element_ty), mask=column < WIDTH)
        tl.store(losses + row, 0.0)
    else:
        target_score = tl.load(own + target).to(tl.float32)
        # Not minus infinity, of which the difference from itself is no number.
        highest = tl.full((BLOCK,), -1e30, dtype=tl.float32)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for first in tl.range(0, WIDTH, ROWS * BLOCK, num_stages=3):
            column = first + offset
            x = tl.load(own + column, mask=column < WIDTH, other=-1e30, eviction_policy="evict_last").to(tl.float32)
            risen = tl.maximum(highest, tl.max(x, 0))
            # Where a thread has seen nothing real yet, its ones are taken away again below.
            total = total * tl.exp(highest - risen) + tl.sum(tl.exp(x - risen[None, :]), 0)
            highest = risen
        top = tl.max(highest, 0)
        log_total = top + tl.log(tl.sum(total * tl.exp(highest - top), 0))
        factor = tl.load(scale)
        for first in tl.range(0, WIDTH, ROWS * BLOCK, num_stages=3):
            column = first + offset
            x = tl.load(own + column, mask=column < WIDTH, other=0.0, eviction_policy="evict_first").to(tl.float32)
            d = (tl.exp(x - log_total) - tl.where(column == target, 1.0, 0.0)) * factor
            tl.store(own + column, d.to(logits.dtype.element_ty), mask=column < WIDTH)
        tl.store(losses + row, log_total - target_score)
