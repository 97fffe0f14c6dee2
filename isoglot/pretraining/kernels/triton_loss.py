"""The loss of hidden words on a GPU, over exponentials instead of a softmax.

The scores of all words at all masked positions are the largest tensor of all. They are written once, as exponentials
of their distance from the right word's score, and read by the two products of the way back alone. What a softmax would
divide them by is multiplied into the narrow tensors on the other side of these products.
"""

# C = masked positions, V = tokens of a table, D = width, S = splits of the table

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

FUSED_WIDTHS = (16, 32, 64, 128)
"""Widths at which one product inside the kernel gives the scores; above, cuBLAS is so much better that it pays."""
SPLITS = 12
"""Programs that share a row, so that 132 multiprocessors have enough to do."""
EXTRA = 8
"""Columns beside the weighted states: the first has the weights alone, the others keep rows aligned to 16 bytes."""
TABLE_STEP = 64
"""Tables of scores have a multiple of this many columns."""
IMPOSSIBLE = -1e30
"""The bias of a filler word: its exponential is 0, and bf16 can hold it."""


def round_table(token_VD: Tensor, bias_V: Tensor) -> tuple[Tensor, Tensor]:
    """The table and its bias with impossible words added, up to a multiple of TABLE_STEP.

    Real text gives tables of any size. If it is no multiple of 8, rows of scores do not begin at multiples of 16 bytes,
    and the products that read them cannot fetch 16 bytes at a time. Impossible words have no weight in these products.
    """
    missing = -len(token_VD) % TABLE_STEP
    if not missing:
        return token_VD, bias_V
    return F.pad(token_VD, (0, 0, 0, missing)), F.pad(bias_V, (0, missing), value=IMPOSSIBLE)


def exponentials(hidden_CD: Tensor, token_VD: Tensor, bias_V: Tensor, target_C: Tensor) -> tuple[Tensor, Tensor]:
    """Exponentials of scores less the target's, and sums of these by row and split; rows without a target have any."""
    (rows, width), size = hidden_CD.shape, len(token_VD)
    fused = width in FUSED_WIDTHS
    splits = SPLITS if fused else 1
    sums_CS = torch.empty((rows, splits), dtype=torch.float32, device=hidden_CD.device)
    if fused:
        exp_CV = torch.empty((rows, size), dtype=hidden_CD.dtype, device=hidden_CD.device)
        _exponentials_of_products[(triton.cdiv(rows, 128), splits)](
            *(hidden_CD, token_VD, bias_V, target_C, exp_CV, sums_CS, rows, size),
            STEPS=triton.cdiv(size, 64 * splits),
            SPLITS=splits,
            WIDTH=width,
            ROWS=128,
            COLUMNS=64,
            num_warps=4,
            num_stages=3,
        )
        return exp_CV, sums_CS
    exp_CV = torch.addmm(bias_V, hidden_CD, token_VD.t())
    block = min(4096, triton.next_power_of_2(size))
    _exponentials[(rows,)](exp_CV, target_C, sums_CS, WIDTH=size, BLOCK=block, num_warps=max(1, block // 512))
    return exp_CV, sums_CS


def loss_and_weights(
    exp_CV: Tensor, sums_CS: Tensor, hidden_CD: Tensor, target_C: Tensor, *, scale: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Losses, 0 where the target is -1; each row's weight in the gradient; states times it, with the weight beside.

    The exponential of the target becomes what makes each row, times its weight, the gradient of its scores.
    """
    (rows, width), splits = hidden_CD.shape, sums_CS.shape[1]
    loss_C, weight_C = torch.empty((2, rows), dtype=torch.float32, device=hidden_CD.device)
    weighted_CD = torch.empty((rows, width + EXTRA), dtype=hidden_CD.dtype, device=hidden_CD.device)
    _loss_and_weights[(rows,)](
        *(exp_CV, sums_CS, hidden_CD, target_C, scale, loss_C, weight_C, weighted_CD, exp_CV.shape[1]),
        SPLITS=splits,
        SPLIT_BLOCK=triton.next_power_of_2(splits),
        WIDTH=width,
        EXTRA=EXTRA,
        BLOCK=triton.next_power_of_2(width + EXTRA),
        num_warps=1,
    )
    return loss_C, weight_C, weighted_CD


@triton.jit
def _exponential(distance):
    """2 to the power of a distance; no score counts as more than 76 above the target's, so that no sum overflows."""
    return tl.exp2(tl.minimum(distance, 110.0))


@triton.jit
def _exponentials_of_products(
    hidden,
    token,
    bias,
    targets,
    exponentials,
    sums,
    rows,
    size,
    STEPS: tl.constexpr,
    SPLITS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    depth = tl.arange(0, WIDTH)
    real = row < rows
    h = tl.load(hidden + row[:, None] * WIDTH + depth[None, :], mask=real[:, None], other=0.0)
    target = tl.maximum(tl.load(targets + row, mask=real, other=0), 0)
    # Every program computes its targets' scores for itself: a product of vectors is less than a launch.
    right = tl.load(token + target[:, None] * WIDTH + depth[None, :]).to(tl.float32)
    shift = tl.sum(h.to(tl.float32) * right, 1) + tl.load(bias + target).to(tl.float32)
    LOG2_E: tl.constexpr = 1.4426950408889634
    total = tl.zeros((ROWS,), dtype=tl.float32)
    own = exponentials + row[:, None].to(tl.int64) * size
    for step in range(STEPS):
        column = (tl.program_id(1) * STEPS + step) * COLUMNS + tl.arange(0, COLUMNS)
        inside = column < size
        w = tl.load(token + column[:, None] * WIDTH + depth[None, :], mask=inside[:, None], other=0.0)
        b = tl.load(bias + column, mask=inside, other=-1e30).to(tl.float32)
        score = tl.dot(h, tl.trans(w), input_precision="ieee") + b[None, :] - shift[:, None]
        # Summed as they are kept: the products of the way back know no others.
        kept = _exponential(score * LOG2_E).to(exponentials.dtype.element_ty)
        tl.store(own + column[None, :], kept, mask=real[:, None] & inside[None, :])
        total += tl.sum(kept.to(tl.float32), 1)
    tl.store(sums + row * SPLITS + tl.program_id(1), total, mask=real)


@triton.jit
def _exponentials(scores, targets, sums, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """In place."""
    row = tl.program_id(0)
    own = scores + row.to(tl.int64) * WIDTH
    shift = tl.load(own + tl.maximum(tl.load(targets + row), 0)).to(tl.float32)
    # All threads read the target's score before any of them replaces it.
    tl.debug_barrier()
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in tl.range(0, WIDTH, BLOCK, num_stages=3):
        column = first + tl.arange(0, BLOCK)
        score = tl.load(own + column, mask=column < WIDTH, other=-1e30).to(tl.float32)
        kept = _exponential((score - shift) * 1.4426950408889634).to(scores.dtype.element_ty)
        tl.store(own + column, kept, mask=column < WIDTH)
        total += kept.to(tl.float32)
    tl.store(sums + row, tl.sum(total, 0))


@triton.jit
def _loss_and_weights(
    exponentials,
    sums,
    hidden,
    targets,
    scale,
    losses,
    weights,
    weighted,
    size,
    SPLITS: tl.constexpr,
    SPLIT_BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
    EXTRA: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    target = tl.load(targets + row)
    split = tl.arange(0, SPLIT_BLOCK)
    total = tl.sum(tl.load(sums + row * SPLITS + split, mask=split < SPLITS, other=0.0), 0)
    # The exponential of the target itself is 1, so the sum is the inverse of its probability.
    weight = tl.where(target >= 0, tl.load(scale) / total, 0.0)
    tl.store(losses + row, tl.where(target >= 0, tl.log(total), 0.0))
    tl.store(weights + row, weight)
    # A softmax's gradient is its probability, less 1 for the target.
    at_target = exponentials + row.to(tl.int64) * size + tl.maximum(target, 0)
    tl.store(at_target, (1.0 - total).to(exponentials.dtype.element_ty), mask=target >= 0)
    column = tl.arange(0, BLOCK)
    state = tl.load(hidden + row * WIDTH + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    beside = tl.where(column == WIDTH, 1.0, 0.0)
    value = (state + beside) * weight
    tl.store(
        weighted + row * (WIDTH + EXTRA) + column, value.to(weighted.dtype.element_ty), mask=column < WIDTH + EXTRA
    )
