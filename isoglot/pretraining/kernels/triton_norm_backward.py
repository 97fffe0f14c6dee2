"""The way back through LayerNorm on a GPU, with the sum or dropout before it and the dropout after it."""

# T = tokens of a piece, D = width, K = gradients of vectors, P = programs

import torch
import triton
import triton.language as tl
from torch import Tensor

from isoglot.pretraining.kernels.torch_kernels import Affine, Normed
from isoglot.pretraining.kernels.triton_columns import dropped, kept_of_four_rows, words_of_eight_rows

ROWS = 8  # rows read at once, as dropout's bits come for eight rows


def shape_of_programs(width: int) -> dict[str, int]:
    """A thread holds eight neighbours of each of the eight rows, so that it can add up its columns by itself."""
    block = triton.next_power_of_2(width)
    return {"BLOCK": block, "num_warps": min(16, max(1, block // 256))}


def norm_backward(
    d_normed_TD: Tensor,
    d_sum_TD: Tensor | None,
    normed: Normed,
    norm: Affine,
    own_d_sum_TD: Tensor,
    d_update_TD: Tensor,
    *,
    seed: Tensor,
    norm_threshold: int,
    update_threshold: int,
    has_update_bias: bool,
) -> Tensor:
    """Write the gradients of a sum and of the update in it; partial sums for the norm's and the update's bias."""
    rows, width = normed.sum_TD.shape
    shape = shape_of_programs(width)
    # As many as 132 multiprocessors hold at once; fixed, so that sums are added in the same order anywhere.
    programs = min(1056, 1584 // shape["num_warps"], triton.cdiv(rows, ROWS))
    kinds = 3 if has_update_bias else 2
    partial_KPD = torch.empty((kinds, programs, width), dtype=torch.float32, device=own_d_sum_TD.device)
    _norm_backward_kernel[(programs,)](
        *(d_normed_TD, d_sum_TD, normed.sum_TD, normed.mean_T, normed.rstd_T, norm.weight.value),
        *(own_d_sum_TD, d_update_TD, partial_KPD, seed, normed.kept, rows),
        NORM_THRESHOLD=norm_threshold,
        UPDATE_THRESHOLD=update_threshold,
        KINDS=kinds,
        WIDTH=width,
        # Left alone, the compiler gathers all loads at the start, and three programs no longer fit.
        maxnreg=168,
        **shape,
    )
    return partial_KPD


@triton.jit(do_not_specialize=["place"])
def _norm_backward_kernel(
    d_normed,
    d_sum,
    summed,
    mean,
    rstd,
    weight,
    own_d_sum,
    d_update,
    partial,
    seed,
    place,
    rows,
    NORM_THRESHOLD: tl.constexpr,
    UPDATE_THRESHOLD: tl.constexpr,
    KINDS: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    within = tl.arange(0, 4)
    column = tl.arange(0, BLOCK)
    w = tl.load(weight + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    d_weight = tl.zeros((BLOCK,), dtype=tl.float32)
    d_bias = tl.zeros((BLOCK,), dtype=tl.float32)
    d_update_bias = tl.zeros((BLOCK,), dtype=tl.float32)
    THRESHOLD: tl.constexpr = NORM_THRESHOLD + UPDATE_THRESHOLD
    seed_value = tl.load(seed)
    for group in range(tl.program_id(0), tl.cdiv(rows, 8), tl.num_programs(0)):
        if THRESHOLD > 0:
            first, second, third, fourth = words_of_eight_rows(seed_value, place, group, column)
        # All eight at once would not fit into a thread's registers.
        for half in tl.static_range(2):
            row = group * 8 + half * 4 + within
            there = (row < rows)[:, None] & (column < WIDTH)[None, :]
            element = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
            dy = tl.load(d_normed + element, mask=there, other=0.0).to(tl.float32)
            x = tl.load(summed + element, mask=there, other=0.0).to(tl.float32)
            centre = tl.load(mean + row, mask=row < rows, other=0.0)
            scale = tl.load(rstd + row, mask=row < rows, other=0.0)
            if THRESHOLD > 0:
                if half == 0:
                    kept = kept_of_four_rows(within[:, None], first, second, THRESHOLD)
                else:
                    kept = kept_of_four_rows(within[:, None], third, fourth, THRESHOLD)
            if NORM_THRESHOLD > 0:
                dy = dropped(dy, kept, NORM_THRESHOLD)
            standard = tl.where(there, (x - centre[:, None]) * scale[:, None], 0.0)
            d_weight += tl.sum(dy * standard, 0)
            d_bias += tl.sum(dy, 0)
            d_standard = dy * w[None, :]
            along_one = tl.sum(d_standard, 1) / WIDTH
            along_standard = tl.sum(d_standard * standard, 1) / WIDTH
            dx = (d_standard - along_one[:, None] - standard * along_standard[:, None]) * scale[:, None]
            if d_sum is not None:
                dx += tl.load(d_sum + element, mask=there, other=0.0).to(tl.float32)
            tl.store(own_d_sum + element, dx.to(own_d_sum.dtype.element_ty), mask=there)
            if UPDATE_THRESHOLD > 0:
                dx = dropped(dx, kept, UPDATE_THRESHOLD)
                tl.store(d_update + element, dx.to(d_update.dtype.element_ty), mask=there)
            if KINDS == 3:
                d_update_bias += tl.sum(dx, 0)
    target = partial + tl.program_id(0) * WIDTH + column
    kind_stride = tl.num_programs(0) * WIDTH
    tl.store(target, d_weight, mask=column < WIDTH)
    tl.store(target + kind_stride, d_bias, mask=column < WIDTH)
    if KINDS == 3:
        tl.store(target + 2 * kind_stride, d_update_bias, mask=column < WIDTH)
