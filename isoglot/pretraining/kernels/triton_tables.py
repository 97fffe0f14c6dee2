"""The two ends of the token table on a GPU: the loss of the softmax, and gradients of the rows that were looked up.

Gradients are added in a fixed order, not by atomic additions, so that a run gives the same bits twice.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

# C = masked positions, V = tokens of a table, T = tokens of a piece, D = width, S = stretches of sorted tokens

STRETCH = 64  # rows that one program adds up at most: one token, the mask, is an eighth of all


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


def add_rows(gradient_VD: Tensor, id_T: Tensor, d_TD: Tensor, *, skipped_id: int) -> None:
    """Add each token's gradient to the row of its id, but for one id that has none."""
    rows, width = d_TD.shape
    # Half the bits to sort, half the time.
    sorted_T, order_T = torch.sort(id_T.to(torch.int32), stable=True)
    stretches = triton.cdiv(rows, STRETCH)
    partial_SD = torch.empty((stretches, width), dtype=torch.float32, device=d_TD.device)
    block = triton.next_power_of_2(width)
    shape = {"WIDTH": width, "STRETCH": STRETCH, "BLOCK": block, "num_warps": min(16, max(1, block // 256))}
    _add_stretches[(rows,)](gradient_VD, sorted_T, order_T, d_TD, partial_SD, rows, skipped_id, **shape)
    _add_continued[(stretches,)](gradient_VD, sorted_T, partial_SD, rows, skipped_id, **shape)


@triton.jit(do_not_specialize=["skipped_id"])
def _add_stretches(
    gradient,
    sorted_ids,
    order,
    d,
    partial,
    rows,
    skipped_id,
    WIDTH: tl.constexpr,
    STRETCH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """From where an id or a stretch begins to where either ends: added where the id began, kept aside elsewhere."""
    start = tl.program_id(0)
    id = tl.load(sorted_ids + start)
    before = tl.load(sorted_ids + start - 1, mask=start > 0, other=-1)
    if id != skipped_id and (before != id or start % STRETCH == 0):
        column = tl.arange(0, BLOCK)
        end = tl.minimum((start // STRETCH + 1) * STRETCH, rows)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        first = start
        while first < end:
            place = first + tl.arange(0, 8)
            same = (place < end) & (tl.load(sorted_ids + place, mask=place < end, other=-1) == id)
            source = tl.load(order + place, mask=same, other=0)
            there = same[:, None] & (column < WIDTH)[None, :]
            total += tl.sum(
                tl.load(d + source[:, None] * WIDTH + column[None, :], mask=there, other=0.0).to(tl.float32), 0
            )
            first = tl.where(tl.sum(same.to(tl.int32), 0) == 8, first + 8, end)
        if before != id:
            target = gradient + id.to(tl.int64) * WIDTH + column
            tl.store(target, tl.load(target, mask=column < WIDTH) + total, mask=column < WIDTH)
        else:
            tl.store(partial + start // STRETCH * WIDTH + column, total, mask=column < WIDTH)


@triton.jit(do_not_specialize=["skipped_id"])
def _add_continued(
    gradient, sorted_ids, partial, rows, skipped_id, WIDTH: tl.constexpr, STRETCH: tl.constexpr, BLOCK: tl.constexpr
):
    """Add the sums kept aside; the program of the first stretch that an id continues into does so."""
    stretch = tl.program_id(0)
    start = stretch * STRETCH
    id = tl.load(sorted_ids + start)
    before = tl.load(sorted_ids + start - 1, mask=start > 0, other=-1)
    # The stretch before may itself begin with this id in the middle.
    continued_before = (start > STRETCH) & (
        tl.load(sorted_ids + start - STRETCH - 1, mask=start > STRETCH, other=-1) == id
    )
    if id != skipped_id and before == id and not continued_before:
        column = tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        first = stretch
        stretches = tl.cdiv(rows, STRETCH)
        while first < stretches:
            place = first + tl.arange(0, 8)
            same = (place < stretches) & (tl.load(sorted_ids + place * STRETCH, mask=place < stretches, other=-1) == id)
            there = same[:, None] & (column < WIDTH)[None, :]
            total += tl.sum(tl.load(partial + place[:, None] * WIDTH + column[None, :], mask=there, other=0.0), 0)
            first = tl.where(tl.sum(same.to(tl.int32), 0) == 8, first + 8, stretches)
        target = gradient + id.to(tl.int64) * WIDTH + column
        tl.store(target, tl.load(target, mask=column < WIDTH) + total, mask=column < WIDTH)
