"""How far languages are from each other, in the order in which the paper calls them more distantly related."""

from collections.abc import Sequence

# Sections 4.4 and 5.2. German stands only in Figures 4, 6 and 7, and the paper does not order it and French.
RANKS = {"en": {"fr": 1, "de": 1, "ru": 2, "zh": 3}}
LACKING = "two target languages that the paper has at different distances from the source (en: fr and de, ru, zh)"


def by_distance(source: str, targets: Sequence[str]) -> list[list[str]]:
    """Groups of equally close targets, the closest first; those of which the paper tells nothing are left out."""
    ranks = RANKS.get(source, {})
    known = [target for target in dict.fromkeys(targets) if target in ranks]
    return [
        [target for target in known if ranks[target] == rank] for rank in sorted({ranks[target] for target in known})
    ]
