"""GELU, sums over columns, and the random bits of dropout, on a GPU."""

# T = tokens of a piece, F = width within feed-forward, N = width of any layer, P = programs

import torch
import triton
import triton.language as tl
from torch import Tensor

STEPS = 65536
"""Sixteen random bits decide over a number, so that one round of Philox, which gives 128, serves eight of them."""
COLUMNS = 64
ROWS = 32
"""Rows read at once by four warps: eight neighbours a thread, sixteen bytes of bf16, of two rows."""
PROGRAMS = 1056
"""Eight for each of 132 multiprocessors; a fixed number, so that sums are added in the same order anywhere."""


def threshold(dropout: float) -> int:
    """How many of all steps drop a number."""
    return round(dropout * STEPS)


@triton.jit
def words_of_eight_rows(seed, place, group, column):
    """Random words for eight rows of these columns: two rows share one."""
    nothing = column * 0
    # Seven rounds are the fewest at which Philox passes every test of its authors (Salmon et al., 2011).
    return tl.philox(seed, column, nothing + group, nothing + place, nothing, 7)


@triton.jit
def kept_of_four_rows(row, first, second, THRESHOLD: tl.constexpr):
    """Rows (4, 1), numbered from 0, from the two words of each column."""
    word = tl.where(row < 2, first[None, :], second[None, :])
    bits = tl.where(row % 2 == 0, word & 0xFFFF, word >> 16)
    return bits.to(tl.int32) >= THRESHOLD


@triton.jit
def kept_of_eight_rows(seed, place, group, row, column, THRESHOLD: tl.constexpr):
    """Rows (8, 1), numbered from 0, of any columns."""
    first, second, third, fourth = words_of_eight_rows(seed, place, group, column)
    low = kept_of_four_rows(row, first, second, THRESHOLD)
    return tl.where(row < 4, low, kept_of_four_rows(row - 4, third, fourth, THRESHOLD))


@triton.jit
def dropped(value, kept, THRESHOLD: tl.constexpr):
    """Kept numbers grow by exactly the share that is dropped."""
    return tl.where(kept, value * (65536.0 / (65536 - THRESHOLD)), 0.0)


def gelu(inner_TF: Tensor) -> Tensor:
    """Exact, not the tanh."""
    outer_TF = torch.empty_like(inner_TF)
    size = inner_TF.numel()
    block = 4096
    _gelu[(triton.cdiv(size, block),)](inner_TF, outer_TF, size, BLOCK=block, num_warps=8)
    return outer_TF


def gelu_backward(d_outer_TF: Tensor, inner_TF: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of the input, and partial sums for that of the bias in it."""
    d_inner_TF = torch.empty_like(inner_TF)
    return d_inner_TF, _column_pass(d_outer_TF, inner_TF, d_inner_TF, through_gelu=True)


def column_sums(d_TN: Tensor) -> Tensor:
    """Partial sums for the gradient of a bias."""
    return _column_pass(d_TN, d_TN, d_TN, through_gelu=False)


def add_partial_sums(partial_KPN: Tensor, into_N: Tensor, *others_N: Tensor | None) -> None:
    """Add what each program found to up to three gradients, always in the same order."""
    kinds, programs, width = partial_KPN.shape
    # The kernel takes three pointers; for those that are not there it has no sums, and any pointer will do.
    into_N, second_N, third_N = (into_N if each is None else each for each in (into_N, *others_N, None, None)[:3])
    # Few steps of many rows: each waits for memory, and there is little of it.
    rows = min(256, max(32, triton.next_power_of_2(programs)))
    columns = 4096 // rows
    _add_partial_sums[(triton.cdiv(width, columns), kinds)](
        partial_KPN, into_N, second_N, third_N, programs, width, ROWS=rows, COLUMNS=columns, num_warps=4
    )


def _column_pass(d_TN: Tensor, inner_TN: Tensor, d_inner_TN: Tensor, *, through_gelu: bool) -> Tensor:
    rows, width = d_TN.shape
    column_blocks = triton.cdiv(width, COLUMNS)
    programs = max(1, min(PROGRAMS // column_blocks, triton.cdiv(rows, ROWS)))
    partial_1PN = torch.empty((1, programs, width), dtype=torch.float32, device=d_TN.device)
    _column_sums[(column_blocks, programs)](
        *(d_TN, inner_TN, d_inner_TN, partial_1PN, rows),
        WIDTH=width,
        THROUGH_GELU=through_gelu,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        num_warps=4,
    )
    return partial_1PN


@triton.jit
def normal_distribution(x):
    """Its cumulative and its plain density; erf after Abramowitz and Stegun 7.1.26, off by at most 1.5e-7."""
    # The library's erf costs more than the memory it waits for, and the exponential is needed for the density anyway.
    t = 1.0 / (1.0 + 0.3275911 * 0.7071067811865476 * tl.abs(x))
    exponential = tl.exp2(x * x * -0.7213475204444817)
    powers = 1.421413741 + t * (-1.453152027 + t * 1.061405429)
    tail = 0.5 * exponential * t * (0.254829592 + t * (-0.284496736 + t * powers))
    # The lower tail is not one minus something near one, which would leave no digits.
    return tl.where(x < 0, tail, 1.0 - tail), 0.3989422804014327 * exponential


@triton.jit
def _gelu(inner, outer, size, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(inner + place, mask=place < size, other=0.0).to(tl.float32)
    cumulative, _ = normal_distribution(x)
    tl.store(outer + place, (x * cumulative).to(outer.dtype.element_ty), mask=place < size)


@triton.jit
def _column_sums(
    d_outer,
    inner,
    d_inner,
    partial,
    rows,
    WIDTH: tl.constexpr,
    THROUGH_GELU: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    # Each row of the tile is summed by itself until the end: threads that share a column would wait for each other.
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(tl.program_id(1) * ROWS, rows, tl.num_programs(1) * ROWS):
        row = first + tl.arange(0, ROWS)
        place = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
        there = (row < rows)[:, None] & (column < WIDTH)[None, :]
        d = tl.load(d_outer + place, mask=there, other=0.0).to(tl.float32)
        if THROUGH_GELU:
            x = tl.load(inner + place, mask=there, other=0.0).to(tl.float32)
            cumulative, density = normal_distribution(x)
            rounded = (d * (cumulative + x * density)).to(d_inner.dtype.element_ty)
            tl.store(d_inner + place, rounded, mask=there)
            d = rounded.to(tl.float32)
        total += d
    tl.store(partial + tl.program_id(1) * WIDTH + column, tl.sum(total, 0), mask=column < WIDTH)


@triton.jit
def _add_partial_sums(partial, into, second, third, programs, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    kind = tl.program_id(1)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, programs, ROWS):
        row = first + tl.arange(0, ROWS)
        there = (row < programs)[:, None] & (column < width)[None, :]
        total += tl.load(partial + (kind * programs + row)[:, None] * width + column[None, :], mask=there, other=0.0)
    found = tl.sum(total, 0)
    target = into
    if kind == 1:
        target = second
    elif kind == 2:
        target = third
    tl.store(target + column, tl.load(target + column, mask=column < width) + found, mask=column < width)
