"""LayerNorm on a GPU, with the sum, the dropout or the look-up that goes before it."""

# T = tokens of a piece, D = width, V = tokens of a table, L = positions, P = programs

import torch
import triton
import triton.language as tl
from torch import Tensor

from isoglot.model.block import NORM_EPSILON
from isoglot.pretraining.kernels.torch_kernels import Affine, Normed
from isoglot.pretraining.kernels.triton_columns import dropped, kept_of_eight_rows, threshold
from isoglot.pretraining.kernels.triton_norm_backward import ROWS, norm_backward, shape_of_programs


def sum_and_norm(
    update_TD: Tensor | None, residual_TD: Tensor, norm: Affine, *, dropout: float, seed: Tensor, place: int
) -> Normed:
    """The residual plus what dropout keeps of the update, and that normalised."""
    normed = room(residual_TD if update_TD is None else torch.empty_like(residual_TD), place=place)
    rows, width = residual_TD.shape
    _sum_and_norm[(triton.cdiv(rows, ROWS),)](
        *(update_TD, residual_TD, norm.weight.value, norm.bias.value),
        *(normed.sum_TD, normed.output_TD, normed.mean_T, normed.rstd_T, seed, place, rows, NORM_EPSILON),
        THRESHOLD=threshold(dropout),
        WIDTH=width,
        **shape_of_programs(width),
    )
    return normed


def sum_and_norm_backward(
    d_normed_TD: Tensor,
    d_sum_TD: Tensor | None,
    normed: Normed,
    norm: Affine,
    *,
    dropout: float,
    seed: Tensor,
    has_update_bias: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of the sum, with what came to it past the norm, and of the update; partial sums for three vectors."""
    own_d_sum_TD = torch.empty_like(normed.sum_TD)
    # By the threshold: a rate that it rounds to nothing writes nothing.
    d_update_TD = torch.empty_like(normed.sum_TD) if threshold(dropout) else own_d_sum_TD
    partial_KPD = norm_backward(
        *(d_normed_TD, d_sum_TD, normed, norm, own_d_sum_TD, d_update_TD),
        seed=seed,
        norm_threshold=0,
        update_threshold=threshold(dropout),
        has_update_bias=has_update_bias,
    )
    return own_d_sum_TD, d_update_TD, partial_KPD


def embedding_and_norm(
    id_T: Tensor, token_VD: Tensor, position_LD: Tensor, norm: Affine, *, dropout: float, seed: Tensor, place: int
) -> Normed:
    """Token and position vectors added up, and what dropout keeps of that normalised."""
    rows, width = len(id_T), token_VD.shape[1]
    normed = room(torch.empty((rows, width), dtype=token_VD.dtype, device=token_VD.device), place=place)
    _embedding_and_norm[(triton.cdiv(rows, ROWS),)](
        *(id_T, token_VD, position_LD, norm.weight.value, norm.bias.value),
        *(normed.sum_TD, normed.output_TD, normed.mean_T, normed.rstd_T, seed, place),
        *(rows, len(position_LD), NORM_EPSILON),
        THRESHOLD=threshold(dropout),
        WIDTH=width,
        **shape_of_programs(width),
    )
    return normed


def embedding_and_norm_backward(
    d_dropped_TD: Tensor, normed: Normed, norm: Affine, *, dropout: float, seed: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradient of the sum; partial sums for those of the norm."""
    d_sum_TD = torch.empty_like(normed.sum_TD)
    partial_KPD = norm_backward(
        *(d_dropped_TD, None, normed, norm, d_sum_TD, d_sum_TD),
        seed=seed,
        norm_threshold=threshold(dropout),
        update_threshold=0,
        has_update_bias=False,
    )
    return d_sum_TD, partial_KPD


def room(sum_TD: Tensor, *, place: int) -> Normed:
    """Uninitialised memory for the norm of a sum."""
    mean_T, rstd_T = torch.empty((2, len(sum_TD)), dtype=torch.float32, device=sum_TD.device)
    return Normed(sum_TD=sum_TD, output_TD=torch.empty_like(sum_TD), mean_T=mean_T, rstd_T=rstd_T, kept=place)


@triton.jit
def normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH: tl.constexpr):
    """LayerNorm of some rows; what is beyond the width must be zero."""
    centre = tl.sum(x, 1) / WIDTH
    deviation = tl.where(there, x - centre[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(deviation * deviation, 1) / WIDTH + epsilon)
    tl.store(mean + row, centre, mask=row < rows)
    tl.store(rstd + row, scale, mask=row < rows)
    w = tl.load(weight + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    b = tl.load(bias + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    return deviation * scale[:, None] * w[None, :] + b[None, :]


@triton.jit(do_not_specialize=["place"])
def _sum_and_norm(
    update,
    residual,
    weight,
    bias,
    summed,
    normed,
    mean,
    rstd,
    seed,
    place,
    rows,
    epsilon,
    THRESHOLD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    group = tl.program_id(0)
    within = tl.arange(0, 8)
    row = group * 8 + within
    column = tl.arange(0, BLOCK)
    there = (row < rows)[:, None] & (column < WIDTH)[None, :]
    element = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
    x = tl.load(residual + element, mask=there, other=0.0).to(tl.float32)
    if update is not None:
        added = tl.load(update + element, mask=there, other=0.0).to(tl.float32)
        if THRESHOLD > 0:
            kept = kept_of_eight_rows(tl.load(seed), place, group, within[:, None], column, THRESHOLD)
            added = dropped(added, kept, THRESHOLD)
        # Normalised as it is kept, since the way back knows no other sum.
        rounded = (x + added).to(summed.dtype.element_ty)
        tl.store(summed + element, rounded, mask=there)
        x = rounded.to(tl.float32)
    y = normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH)
    tl.store(normed + element, y.to(normed.dtype.element_ty), mask=there)


@triton.jit(do_not_specialize=["place"])
def _embedding_and_norm(
    ids,
    token,
    position,
    weight,
    bias,
    summed,
    output,
    mean,
    rstd,
    seed,
    place,
    rows,
    positions,
    epsilon,
    THRESHOLD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    group = tl.program_id(0)
    within = tl.arange(0, 8)
    row = group * 8 + within
    column = tl.arange(0, BLOCK)
    there = (row < rows)[:, None] & (column < WIDTH)[None, :]
    element = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
    id = tl.load(ids + row, mask=row < rows, other=0)
    x = tl.load(token + id[:, None] * WIDTH + column[None, :], mask=there, other=0.0).to(tl.float32)
    x += tl.load(position + (row % positions)[:, None] * WIDTH + column[None, :], mask=there, other=0.0).to(tl.float32)
    rounded = x.to(summed.dtype.element_ty)
    tl.store(summed + element, rounded, mask=there)
    x = rounded.to(tl.float32)
    y = normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH)
    if THRESHOLD > 0:
        y = dropped(y, kept_of_eight_rows(tl.load(seed), place, group, within[:, None], column, THRESHOLD), THRESHOLD)
    tl.store(output + element, y.to(output.dtype.element_ty), mask=there)
