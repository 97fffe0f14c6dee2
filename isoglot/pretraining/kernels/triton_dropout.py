"""Which numbers dropout keeps: a function of seed, place and position, so that the way back needs no stored mask."""

import triton
import triton.language as tl

STEPS = 65536
"""Sixteen random bits decide over a number, so that one round of Philox, which gives 128, serves eight of them."""


def threshold(dropout: float) -> int:
    """Of all steps, those that drop a number."""
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
    """What is kept grows, by the share that is dropped to the last step."""
    return tl.where(kept, value * (65536.0 / (65536 - THRESHOLD)), 0.0)
