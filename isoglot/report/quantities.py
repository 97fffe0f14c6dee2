"""Large numbers, long times and scores of several seeds, short enough to read at a glance."""

from collections.abc import Sequence


def short_number(value: float) -> str:
    """1234567 -> 1.2M"""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{suffix}" if value < 10 * size else f"{value / size:.0f}{suffix}"
    return f"{value:.0f}"


def duration(seconds: float) -> str:
    """7325 -> 2 h 02 min"""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


def time_spent(seconds: float, *, work: float) -> str:
    """By the clock, and the work of all processes and attempts where that is another time: 41 s (76 s of work)"""
    told = duration(seconds)
    return (
        told if abs(work - seconds) <= seconds / 10 or duration(work) == told else f"{told} ({duration(work)} of work)"
    )


def mean_and_range(values: Sequence[float]) -> str:
    """ "83.1", or over several seeds "83.1 (79-88)"."""
    mean = sum(values) / len(values)
    return f"{mean:.1f}" if len(values) == 1 else f"{mean:.1f} ({min(values):.0f}-{max(values):.0f})"


def size_in_bytes(value: float) -> str:
    """1234567 -> 1.2 MB"""
    for size, suffix in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= size:
            return f"{value / size:.1f} {suffix}" if value < 10 * size else f"{value / size:.0f} {suffix}"
    return f"{value / 1e3:.0f} kB"
