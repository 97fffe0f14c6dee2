"""A narrow feed-forward sublayer on a GPU, with the residual sum and the norm after it: one kernel each way.

The inner layer, four times as wide as the model, is never written to memory on the way forward. The way back computes
it once more, which takes less time than reading it would.
"""

# T = tokens of a piece, D = width, F = width within feed-forward, S = splits of the tokens

import torch
import triton
import triton.language as tl
from torch import Tensor

from isoglot.model.block import NORM_EPSILON
from isoglot.pretraining.kernels.torch_kernels import Affine, Normed
from isoglot.pretraining.kernels.triton_columns import normal_distribution
from isoglot.pretraining.kernels.triton_norms import normalise, room

WIDTHS = (16, 32, 64, 128)
"""Widths of which a program holds whole rows, with room for the inner layer's."""
INNER = 64
"""Inner units of one program on the way back, which holds the gradients of all their weights."""
SPLITS = 33
"""With the eight programs of 512 inner units, two programs for each of 132 multiprocessors."""


def is_for(inner: Affine) -> bool:
    inner_width, width = inner.weight.value.shape
    return width in WIDTHS and inner_width % INNER == 0 and inner.weight.value.dtype is torch.bfloat16


def feed_forward(input_TD: Tensor, residual_TD: Tensor, inner: Affine, outer: Affine, norm: Affine) -> Normed:
    """The sublayer's output added to the residual, and that normalised."""
    normed = room(torch.empty_like(residual_TD), place=0)
    rows, width = input_TD.shape
    _feed_forward[(triton.cdiv(rows, 128),)](
        *(input_TD, residual_TD, inner.weight.value, inner.bias.value, outer.weight.value, outer.bias.value),
        *(norm.weight.value, norm.bias.value, normed.sum_TD, normed.output_TD, normed.mean_T, normed.rstd_T),
        *(rows, NORM_EPSILON),
        WIDTH=width,
        INNER=len(inner.bias.value),
        ROWS=128,
        CHUNK=32,
        num_warps=4,
        num_stages=4,
    )
    return normed


def feed_forward_backward(
    d_update_TD: Tensor, input_TD: Tensor, inner: Affine, outer: Affine
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradient of the inner layer before its GELU, as columns; partial sums for both weights and the inner bias."""
    (rows, width), inner_width = input_TD.shape, len(inner.bias.value)
    d_inner_FT = torch.empty((inner_width, rows), dtype=input_TD.dtype, device=input_TD.device)
    splits = min(SPLITS, triton.cdiv(rows, 32))
    weights_2SN = torch.empty((2, splits, inner_width * width), dtype=torch.float32, device=input_TD.device)
    bias_1SF = torch.empty((1, splits, inner_width), dtype=torch.float32, device=input_TD.device)
    _feed_forward_backward[(inner_width // INNER, splits)](
        *(input_TD, d_update_TD, inner.weight.value, inner.bias.value, outer.weight.value),
        *(d_inner_FT, weights_2SN, bias_1SF, rows),
        SPLITS=splits,
        WIDTH=width,
        INNER=inner_width,
        ROWS=32,
        CHUNK=INNER,
        num_warps=4,
        num_stages=3,
    )
    return d_inner_FT, weights_2SN, bias_1SF


@triton.jit
def _feed_forward(
    input,
    residual,
    inner_weight,
    inner_bias,
    outer_weight,
    outer_bias,
    weight,
    bias,
    summed,
    normed,
    mean,
    rstd,
    rows,
    epsilon,
    WIDTH: tl.constexpr,
    INNER: tl.constexpr,
    ROWS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    element = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
    there = (row < rows)[:, None]
    x = tl.load(input + element, mask=there, other=0.0)
    update = tl.zeros((ROWS, WIDTH), dtype=tl.float32)
    for first in range(0, INNER, CHUNK):
        unit = first + tl.arange(0, CHUNK)
        w = tl.load(inner_weight + unit[:, None] * WIDTH + column[None, :])
        inner = tl.dot(x, tl.trans(w)) + tl.load(inner_bias + unit).to(tl.float32)[None, :]
        cumulative, _ = normal_distribution(inner)
        w = tl.load(outer_weight + column[:, None] * INNER + unit[None, :])
        update = tl.dot((inner * cumulative).to(x.dtype), tl.trans(w), update)
    update += tl.load(outer_bias + column).to(tl.float32)[None, :]
    update += tl.load(residual + element, mask=there, other=0.0).to(tl.float32)
    # Normalised as it is kept, since the way back knows no other sum.
    rounded = update.to(summed.dtype.element_ty)
    tl.store(summed + element, rounded, mask=there)
    y = normalise(rounded.to(tl.float32), there, weight, bias, mean, rstd, row, rows, column, epsilon, WIDTH)
    tl.store(normed + element, y.to(normed.dtype.element_ty), mask=there)


@triton.jit
def _feed_forward_backward(
    input,
    d_update,
    inner_weight,
    inner_bias,
    outer_weight,
    d_inner,
    partial_weights,
    partial_bias,
    rows,
    SPLITS: tl.constexpr,
    WIDTH: tl.constexpr,
    INNER: tl.constexpr,
    ROWS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Some inner units over every so many rows.

    All is transposed, units by tokens: the products that give gradients of weights then take their left side from the
    registers in which it was computed, without a trip through shared memory.
    """
    unit = tl.program_id(0) * CHUNK + tl.arange(0, CHUNK)
    split = tl.program_id(1)
    column = tl.arange(0, WIDTH)
    w_in = tl.load(inner_weight + unit[:, None] * WIDTH + column[None, :])
    w_out = tl.load(outer_weight + column[:, None] * INNER + unit[None, :])
    b = tl.load(inner_bias + unit).to(tl.float32)
    d_in = tl.zeros((CHUNK, WIDTH), dtype=tl.float32)
    d_out = tl.zeros((CHUNK, WIDTH), dtype=tl.float32)
    d_b = tl.zeros((CHUNK,), dtype=tl.float32)
    for first in range(split * ROWS, rows, SPLITS * ROWS):
        row = first + tl.arange(0, ROWS)
        element = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
        there = (row < rows)[:, None]
        x = tl.load(input + element, mask=there, other=0.0)
        d = tl.load(d_update + element, mask=there, other=0.0)
        inner = tl.dot(w_in, tl.trans(x)) + b[:, None]
        d_active = tl.dot(tl.trans(w_out), tl.trans(d))
        cumulative, density = normal_distribution(inner)
        d_inner_here = d_active * (cumulative + inner * density)
        d_b += tl.sum(d_inner_here, 1)
        rounded = d_inner_here.to(x.dtype)
        tl.store(d_inner + unit[:, None].to(tl.int64) * rows + row[None, :], rounded, mask=(row < rows)[None, :])
        d_in = tl.dot(rounded, x, d_in)
        d_out = tl.dot((inner * cumulative).to(x.dtype), d, d_out)
    own = partial_weights + split * INNER * WIDTH
    tl.store(own + unit[:, None] * WIDTH + column[None, :], d_in)
    own += SPLITS * INNER * WIDTH
    tl.store(own + column[None, :] * INNER + unit[:, None], d_out)
    tl.store(partial_bias + split * INNER + unit, d_b)
