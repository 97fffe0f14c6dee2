"""LayerNorm on a GPU, with the sum, the dropout or the look-up that goes before it."""

# T = tokens of a piece, D = width, V = tokens of a table, L = positions, P = programs

import torch
import triton
import triton.language as tl
from torch import Tensor

from isoglot.pretraining.kernels.triton_columns import dropped, kept_of_eight_rows, threshold
from isoglot.pretraining.kernels.triton_norm_backward import ROWS, norm_backward, shape_of_programs


def sum_and_norm(
    update_TD: Tensor | None,
    residual_TD: Tensor,
    weight_D: Tensor,
    bias_D: Tensor,
    *,
    epsilon: float,
    dropout: float,
    seed: Tensor,
    place: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The residual plus what is kept of the update, that normalised, and each token's mean and reciprocal deviation."""
    sum_TD = residual_TD if update_TD is None else torch.empty_like(residual_TD)
    normed_TD, mean_T, rstd_T = _normed(residual_TD)
    rows, width = residual_TD.shape
    _sum_and_norm[(triton.cdiv(rows, ROWS),)](
        *(update_TD, residual_TD, weight_D, bias_D, sum_TD, normed_TD, mean_T, rstd_T, seed, place, rows, epsilon),
        THRESHOLD=threshold(dropout),
        WIDTH=width,
        **shape_of_programs(width),
    )
    return sum_TD, normed_TD, mean_T, rstd_T


def sum_and_norm_backward(
    d_normed_TD: Tensor,
    d_sum_TD: Tensor | None,
    sum_TD: Tensor,
    mean_T: Tensor,
    rstd_T: Tensor,
    weight_D: Tensor,
    *,
    dropout: float,
    seed: Tensor,
    place: int,
    weight_gradient_D: Tensor,
    bias_gradient_D: Tensor,
    update_bias_gradient_D: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Gradients of the sum, with what came to it past the norm, and of the update; adds to those of three vectors."""
    own_d_sum_TD = torch.empty_like(sum_TD)
    # By the threshold: a rate that it rounds to nothing writes nothing.
    d_update_TD = torch.empty_like(sum_TD) if threshold(dropout) else own_d_sum_TD
    norm_backward(
        *(d_normed_TD, d_sum_TD, sum_TD, mean_T, rstd_T, weight_D, own_d_sum_TD, d_update_TD),
        seed=seed,
        place=place,
        norm_threshold=0,
        update_threshold=threshold(dropout),
        gradients=(weight_gradient_D, bias_gradient_D, update_bias_gradient_D),
    )
    return own_d_sum_TD, d_update_TD


def embedding_and_norm(
    id_T: Tensor,
    token_VD: Tensor,
    position_LD: Tensor,
    weight_D: Tensor,
    bias_D: Tensor,
    *,
    epsilon: float,
    dropout: float,
    seed: Tensor,
    place: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Token and position together, what is kept of that normalised, and each token's mean and reciprocal deviation."""
    rows, width = len(id_T), token_VD.shape[1]
    sum_TD = torch.empty((rows, width), dtype=token_VD.dtype, device=token_VD.device)
    dropped_TD, mean_T, rstd_T = _normed(sum_TD)
    _embedding_and_norm[(triton.cdiv(rows, ROWS),)](
        *(id_T, token_VD, position_LD, weight_D, bias_D, sum_TD, dropped_TD, mean_T, rstd_T, seed, place),
        *(rows, len(position_LD), epsilon),
        THRESHOLD=threshold(dropout),
        WIDTH=width,
        **shape_of_programs(width),
    )
    return sum_TD, dropped_TD, mean_T, rstd_T


def embedding_and_norm_backward(
    d_dropped_TD: Tensor,
    sum_TD: Tensor,
    mean_T: Tensor,
    rstd_T: Tensor,
    weight_D: Tensor,
    *,
    dropout: float,
    seed: Tensor,
    place: int,
    weight_gradient_D: Tensor,
    bias_gradient_D: Tensor,
) -> Tensor:
    """The gradient of the sum; adds to those of the norm."""
    d_sum_TD = torch.empty_like(sum_TD)
    norm_backward(
        *(d_dropped_TD, None, sum_TD, mean_T, rstd_T, weight_D, d_sum_TD, d_sum_TD),
        seed=seed,
        place=place,
        norm_threshold=threshold(dropout),
        update_threshold=0,
        gradients=(weight_gradient_D, bias_gradient_D, None),
    )
    return d_sum_TD


def _normed(sum_TD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Room for what a norm gives."""
    mean_T, rstd_T = torch.empty((2, len(sum_TD)), dtype=torch.float32, device=sum_TD.device)
    return torch.empty_like(sum_TD), mean_T, rstd_T


@triton.jit
def _normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH: tl.constexpr):
    """LayerNorm of eight rows; what is beyond the width must be zero."""
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
    y = _normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH)
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
    y = _normalise(x, there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH)
    if THRESHOLD > 0:
        y = dropped(y, kept_of_eight_rows(tl.load(seed), place, group, within[:, None], column, THRESHOLD), THRESHOLD)
    tl.store(output + element, y.to(output.dtype.element_ty), mask=there)
