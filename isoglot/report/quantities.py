"""Large numbers, long times, scores of several seeds and lists, short enough to read at a glance."""

from collections.abc import Sequence

# Longer times are given in days or years: nobody can read "31419 h 07 min".
MOST_HOURS, MOST_DAYS = 48, 2 * 365


def short_number(value: float) -> str:
    """1234567 -> 1.2M"""
    return _scaled(value, {1e9: "G", 1e6: "M", 1e3: "k"}) or f"{value:.0f}"


def size_in_bytes(value: float) -> str:
    """1234567 -> 1.2 MB"""
    return _scaled(value, {1e12: " TB", 1e9: " GB", 1e6: " MB"}) or f"{value / 1e3:.0f} kB"


def _scaled(value: float, suffixes: dict[float, str]) -> str:
    """In the largest unit that it fills; empty if it fills none."""
    return next((_two_digits(value / size) + suffix for size, suffix in suffixes.items() if value >= size), "")


def duration(seconds: float) -> str:
    """7325 -> 2 h 02 min, and 800000 -> 9.3 days"""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, days = round(seconds / 60), seconds / 86400
    if minutes < 120:
        return f"{minutes} min"
    if minutes <= 60 * MOST_HOURS:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{_two_digits(days)} days" if days <= MOST_DAYS else f"{_two_digits(days / 365)} years"


def time_spent(seconds: float, *, work: float) -> str:
    """The time by the clock, and the work of all processes where that differs: 41 s (76 s of work)"""
    clock, spent = duration(seconds), duration(work)
    return clock if abs(work - seconds) <= seconds / 10 or spent == clock else f"{clock} ({spent} of work)"


def mean_and_range(values: Sequence[float], *, is_share: bool = False) -> str:
    """ "83.1", or over several seeds "83.1 (79-88)"; of a share "0.83 (0.79-0.88)"."""
    mean, ends = (2, 2) if is_share else (1, 0)
    text = f"{sum(values) / len(values):.{mean}f}"
    return text if len(values) == 1 else f"{text} ({min(values):.{ends}f}-{max(values):.{ends}f})"


def listed(parts: Sequence[str]) -> str:
    """ "fr", "fr and ru" or "fr, ru and zh"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _two_digits(value: float) -> str:
    """Or more, of a number from one on."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
