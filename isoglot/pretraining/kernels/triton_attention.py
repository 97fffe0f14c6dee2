"""Self-attention over whole short windows on a GPU, out of and into the layout of the one matrix before it.

The shares of each position in each other are never written to memory: the way forward keeps one number for each query,
the logarithm of its divisor, and the way back computes the shares once more from it.
"""

# T = tokens of a piece, D = width, W = windows, H = heads, L = positions

import torch
import triton
import triton.language as tl
from torch import Tensor

from isoglot.pretraining.kernels.triton_columns import dropped, threshold

LONGEST = 256  # the way back holds all queries of a window and head at once
MUCH_SHARED_MEMORY = 160 << 10  # without so much, as smaller GPUs are, it can hold half as many
DEPTHS = (16, 32, 64)  # widths of a head: powers of two that leave room for that


def is_for(joint_T3D: Tensor, *, length: int, heads: int) -> bool:
    """Whether windows and heads are of a size that these kernels take, in the half precision they have room for."""
    longest = LONGEST if _shared_memory(joint_T3D.device) >= MUCH_SHARED_MEMORY else LONGEST // 2
    is_short = length <= longest and joint_T3D.shape[1] // (3 * heads) in DEPTHS
    return is_short and joint_T3D.dtype is torch.bfloat16


def _shared_memory(device: torch.device) -> int:
    """Bytes of shared memory that a program can have; much, where torch does not know."""
    if device.type != "cuda":
        return MUCH_SHARED_MEMORY
    return getattr(torch.cuda.get_device_properties(device), "shared_memory_per_block_optin", MUCH_SHARED_MEMORY)


def attention(
    joint_T3D: Tensor, *, batch: int, length: int, heads: int, dropout: float, seed: Tensor, place: int
) -> tuple[Tensor, Tensor]:
    """Mixed values, and each query's logarithm (of base 2) of what its weights were divided by."""
    tokens, width = joint_T3D.shape[0], joint_T3D[0].numel() // 3
    mixed_TD = torch.empty((tokens, width), dtype=joint_T3D.dtype, device=joint_T3D.device)
    divisor_WHL = torch.empty((batch, heads, length), dtype=torch.float32, device=joint_T3D.device)
    queries = 64 if length <= 64 else 128
    _attention[(batch * heads, triton.cdiv(length, queries))](
        *(joint_T3D, mixed_TD, divisor_WHL, seed, place, heads),
        LENGTH=length,
        DEPTH=width // heads,
        THRESHOLD=threshold(dropout),
        QUERIES=queries,
        KEYS=64,
        num_warps=4 if length <= 64 else 8,
        num_stages=3,
    )
    return mixed_TD, divisor_WHL


def attention_backward(
    d_mixed_TD: Tensor,
    joint_T3D: Tensor,
    mixed_TD: Tensor,
    divisor_WHL: Tensor,
    *,
    batch: int,
    length: int,
    heads: int,
    dropout: float,
    seed: Tensor,
    place: int,
) -> tuple[Tensor, Tensor]:
    """The gradient of queries, keys and values, as they lie in the matrix's output; partial sums for its bias's."""
    d_joint_T3D = torch.empty_like(joint_T3D)
    partial_1W3D = torch.empty((1, batch, joint_T3D.shape[1]), dtype=torch.float32, device=joint_T3D.device)
    queries, depth = max(64, triton.next_power_of_2(length)), mixed_TD.shape[1] // heads
    _attention_backward[(batch * heads,)](
        *(d_mixed_TD, joint_T3D, mixed_TD, divisor_WHL, d_joint_T3D, partial_1W3D, seed, place, heads),
        LENGTH=length,
        DEPTH=depth,
        THRESHOLD=threshold(dropout),
        QUERIES=queries,
        KEYS=64,
        FLIPPED=queries > 128,
        num_warps=8 if queries > 64 else 1 if depth <= 32 else 4,
        num_stages=1,
    )
    return d_joint_T3D, partial_1W3D


@triton.jit
def _mixed_bits(word):
    """Every bit of the word in every bit (lowbias32 of C. Wellons)."""
    word = (word ^ (word >> 16)) * 0x7FEB352D
    word = (word ^ (word >> 15)) * 0x846CA68B
    return word ^ (word >> 16)


@triton.jit
def _row_words(seed, place, window_and_head, query):
    """A word for each query, counted on from a random one of its window and head, and mixed."""
    nothing = window_and_head * 0
    start, _, _, _ = tl.philox(seed, window_and_head, nothing + place, nothing, nothing + 1, 7)
    return _mixed_bits(start + query.to(tl.uint32) * 0x85EBCA6B)


@triton.jit
def _kept(row_word, key, THRESHOLD: tl.constexpr):
    """Each row counts on from its word, two keys a step, and each count is mixed."""
    # Philox would take longer than the products: its words come in fours, and no thread holds four that belong
    # together.
    word = _mixed_bits(row_word[:, None] + (key // 2).to(tl.uint32)[None, :] * 0x9E3779B9)
    bits = tl.where((key % 2 == 0)[None, :], word & 0xFFFF, word >> 16)
    return bits.to(tl.int32) >= THRESHOLD


@triton.jit(do_not_specialize=["place"])
def _attention(
    joint,
    mixed,
    divisor,
    seed,
    place,
    heads,
    LENGTH: tl.constexpr,
    DEPTH: tl.constexpr,
    THRESHOLD: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
):
    window_and_head = tl.program_id(0)
    first_token = (window_and_head // heads).to(tl.int64) * LENGTH
    width = heads * DEPTH
    depth = (window_and_head % heads) * DEPTH + tl.arange(0, DEPTH)
    own = joint + first_token * 3 * width
    query = tl.program_id(1) * QUERIES + tl.arange(0, QUERIES)
    q = tl.load(own + query[:, None] * 3 * width + depth[None, :], mask=query[:, None] < LENGTH, other=0.0)
    row_word = _row_words(tl.load(seed), place, window_and_head, query)
    highest = tl.full((QUERIES,), -1e30, dtype=tl.float32)
    total = tl.zeros((QUERIES,), dtype=tl.float32)
    sums = tl.zeros((QUERIES, DEPTH), dtype=tl.float32)
    # Scores are in base 2, since the device has exp2 in hardware.
    SCALE: tl.constexpr = 1.4426950408889634 * DEPTH**-0.5
    for first in range(0, LENGTH, KEYS):
        key = first + tl.arange(0, KEYS)
        source = own + key[:, None] * 3 * width + depth[None, :]
        k = tl.load(source + width, mask=key[:, None] < LENGTH, other=0.0)
        v = tl.load(source + 2 * width, mask=key[:, None] < LENGTH, other=0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE
        if LENGTH % KEYS != 0:
            score = tl.where((key < LENGTH)[None, :], score, -1e30)
        risen = tl.maximum(highest, tl.max(score, 1))
        shrink = tl.exp2(highest - risen)
        weight = tl.exp2(score - risen[:, None])
        total = total * shrink + tl.sum(weight, 1)
        if THRESHOLD > 0:
            weight = dropped(weight, _kept(row_word, key, THRESHOLD), THRESHOLD)
        sums = tl.dot(weight.to(v.dtype), v, sums * shrink[:, None], input_precision="ieee")
        highest = risen
    target = mixed + (first_token + query)[:, None] * width + depth[None, :]
    tl.store(target, (sums / total[:, None]).to(mixed.dtype.element_ty), mask=query[:, None] < LENGTH)
    tl.store(divisor + window_and_head * LENGTH + query, highest + tl.log2(total), mask=query < LENGTH)


@triton.jit
def _product_over_queries(left, right, FLIPPED: tl.constexpr):
    """Keys by depth; flipped it takes fewer registers, of which a window of 256 needs all there are."""
    if FLIPPED:
        return tl.trans(tl.dot(tl.trans(right), left, input_precision="ieee"))
    else:  # noqa: RET505, as only one of the two is compiled
        return tl.dot(tl.trans(left), right, input_precision="ieee")


@triton.jit(do_not_specialize=["place"])
def _attention_backward(
    d_mixed,
    joint,
    mixed,
    divisor,
    d_joint,
    partial,
    seed,
    place,
    heads,
    LENGTH: tl.constexpr,
    DEPTH: tl.constexpr,
    THRESHOLD: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    FLIPPED: tl.constexpr,
):
    """All of a window and head, so that every gradient is one program's and none is gathered from several."""
    window_and_head = tl.program_id(0)
    first_token = (window_and_head // heads).to(tl.int64) * LENGTH
    width = heads * DEPTH
    depth = (window_and_head % heads) * DEPTH + tl.arange(0, DEPTH)
    own = joint + first_token * 3 * width
    d_own = d_joint + first_token * 3 * width
    query = tl.arange(0, QUERIES)
    real = query[:, None] < LENGTH
    among_queries = query[:, None] * 3 * width + depth[None, :]
    among_mixed = (first_token + query)[:, None] * width + depth[None, :]
    q = tl.load(own + among_queries, mask=real, other=0.0)
    d_sums = tl.load(d_mixed + among_mixed, mask=real, other=0.0)
    output = tl.load(mixed + among_mixed, mask=real, other=0.0)
    share = tl.sum(d_sums.to(tl.float32) * output.to(tl.float32), 1)
    log_total = tl.load(divisor + window_and_head * LENGTH + query, mask=query < LENGTH, other=0.0)
    row_word = _row_words(tl.load(seed), place, window_and_head, query)
    d_q = tl.zeros((QUERIES, DEPTH), dtype=tl.float32)
    d_v_bias = tl.zeros((DEPTH,), dtype=tl.float32)
    SCALE: tl.constexpr = 1.4426950408889634 * DEPTH**-0.5
    for first in range(0, LENGTH, KEYS):
        key = first + tl.arange(0, KEYS)
        among_keys = key[:, None] * 3 * width + depth[None, :]
        k = tl.load(own + width + among_keys, mask=key[:, None] < LENGTH, other=0.0)
        v = tl.load(own + 2 * width + among_keys, mask=key[:, None] < LENGTH, other=0.0)
        weight = tl.exp2(tl.dot(q, tl.trans(k), input_precision="ieee") * SCALE - log_total[:, None])
        if LENGTH % KEYS != 0:
            weight = tl.where((key < LENGTH)[None, :], weight, 0.0)
        d_weight = tl.dot(d_sums, tl.trans(v), input_precision="ieee")
        used = weight
        if THRESHOLD > 0:
            kept = _kept(row_word, key, THRESHOLD)
            used = dropped(weight, kept, THRESHOLD)
            d_weight = dropped(d_weight, kept, THRESHOLD)
        d_v = _product_over_queries(used.to(q.dtype), d_sums, FLIPPED)
        d_score = (weight * (d_weight - share[:, None])).to(q.dtype)
        d_k = _product_over_queries(d_score, q, FLIPPED) * DEPTH**-0.5
        d_q = tl.dot(d_score, k, d_q, input_precision="ieee")
        d_v_bias += tl.sum(d_v, 0)
        tl.store(d_own + width + among_keys, d_k.to(q.dtype), mask=key[:, None] < LENGTH)
        tl.store(d_own + 2 * width + among_keys, d_v.to(q.dtype), mask=key[:, None] < LENGTH)
    d_q *= DEPTH**-0.5
    tl.store(d_own + among_queries, d_q.to(q.dtype), mask=real)
    target = partial + (window_and_head // heads) * 3 * width + depth
    tl.store(target, tl.sum(d_q, 0))
    # A bias of keys adds the same to all scores of a query and changes no share: its gradient is 0. A sum would be of
    # rounding errors alone, and Adam, which divides them by their own size, would let the bias grow without end.
    tl.store(target + width, tl.zeros((DEPTH,), dtype=tl.float32))
    tl.store(target + 2 * width, d_v_bias)
