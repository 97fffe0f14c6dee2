"""Lines of text as words, by the rules of their language."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

# Departure: text keeps its case; the paper does not say, and XLM did both.
SPLITTERS: Mapping[str, Callable[[str], list[str]]] = {}
"""The languages that need more than a cut at white space, which every other one gets."""


def split_words(line: str, language: str) -> list[str]:
    """The words of one line; a blank line has none."""
    return SPLITTERS.get(language, str.split)(line)


def word_counts(lines: Iterable[str], *, language: str) -> Counter[str]:
    """How often each word occurs in the lines."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(split_words(line, language))
    return counts
