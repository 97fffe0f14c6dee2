"""Do lines translate each other? Long sentences have long translations, so their lengths give a wrong order away.

Measured on Tatoeba, XNLI and PUD in French, German, Russian and Chinese with English: the lengths of translations have
a correlation above 0.8, over any fifty lines in a row above 0.4; tests/geometry/test_translation_lengths.py.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import StatisticsError, correlation

LEAST_LINES = 50
"""Fewer say little by their lengths."""
LEAST_CORRELATION = 0.3
"""Above all that was seen of shuffled lines, were they 200 or more."""
CERTAINTY = 2.58
"""That it is above 0, in standard errors: of 50 shuffled lines, one set in two hundred passes for translations."""
SHIFT_CERTAINTY = 3.0
"""Translations are 4.6 better in their place than shifted, in any 200 lines; a wrong place is as much worse."""
FARTHEST_SHIFT = 5
BLOCK = 200


def mismatch(lines_a: Sequence[str], lines_b: Sequence[str]) -> str | None:
    """What speaks against line i of one being a translation of line i of the other, in words; None if nothing does."""
    lengths = [[math.log(max(len(line), 1)) for line in lines] for lines in (lines_a, lines_b)]
    found = _correlation(*lengths)
    if found is None:
        return None
    for first, end in _blocks(len(lines_a)):
        block_a, block_b = (of_side[first:end] for of_side in lengths)
        if (shift := _better_shift(block_a, block_b)) is not None:
            away = f"{abs(shift)} line{'s' if abs(shift) > 1 else ''} {'later' if shift > 0 else 'earlier'}"
            return (
                f"in lines {first + 1} to {end}, lengths fit far better with the lines that stand {away} in the second"
            )
    if found < LEAST_CORRELATION or _transformed(found) * math.sqrt(len(lines_a) - 3) < CERTAINTY:
        return (
            f"over {len(lines_a)} lines the lengths of both have a correlation of {found:.2f}, where translations have "
            "0.8 or more"
        )
    return None


def _blocks(num_lines: int) -> Iterator[tuple[int, int]]:
    count = max(1, num_lines // BLOCK)
    for place in range(count):
        yield num_lines * place // count, num_lines * (place + 1) // count


def _better_shift(lengths_a: Sequence[float], lengths_b: Sequence[float]) -> int | None:
    """By how many lines the second must be moved up, should that be clearly better than leaving it in its place."""
    here = _correlation(lengths_a, lengths_b)
    if here is None:
        return None
    shifted = {
        shift: _correlation(
            lengths_a[max(0, -shift) : len(lengths_a) - max(0, shift)],
            lengths_b[max(0, shift) : len(lengths_b) - max(0, -shift)],
        )
        for shift in range(-FARTHEST_SHIFT, FARTHEST_SHIFT + 1)
    }
    best, there = max(((shift, found) for shift, found in shifted.items() if found is not None), key=lambda it: it[1])
    gain = (_transformed(there) - _transformed(here)) * math.sqrt((len(lengths_a) - 3) / 2)
    return best if gain > SHIFT_CERTAINTY else None


def _transformed(found: float) -> float:
    """Fisher's z, which has a standard error of 1 / sqrt(n - 3)."""
    return math.atanh(max(-0.999999, min(found, 0.999999)))


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's; None where all lengths of a side are the same."""
    try:
        return correlation(x, y)
    except StatisticsError:
        return None
