"""Gradients of the rows of a table that were looked up, on a GPU.

They are added in a fixed order, not by atomic additions, so that a run gives the same bits twice.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

# V = tokens of a table, T = tokens of a piece, D = width, S = stretches of sorted tokens

STRETCH = 64  # rows that one program adds up at most: one token, the mask, is an eighth of all


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
