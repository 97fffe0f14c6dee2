"""Which language each update reads (section 3.1)."""

from collections.abc import Mapping


def language_probabilities(num_lines: Mapping[str, int], *, exponent: float) -> dict[str, float]:
    """Proportional to the share of lines raised to a power below one, which gives small corpora more than their share.

    >>> language_probabilities({"en": 900, "fr": 100}, exponent=0.5)
    {'en': 0.75, 'fr': 0.25}
    """
    total = sum(num_lines.values())
    weights = {language: (count / total) ** exponent for language, count in num_lines.items()}
    return {language: weight / sum(weights.values()) for language, weight in weights.items()}
