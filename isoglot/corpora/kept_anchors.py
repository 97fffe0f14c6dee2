"""Which of the types that languages share stay anchors, where only a part does (between two rows of section 4.2)."""

from collections import Counter
from collections.abc import Mapping
from math import lcm

from isoglot.randomness import derived_seed
from isoglot.study.conditions import AnchorOrder, KeptAnchors


def kept_types(counts: Mapping[str, Counter[str]], *, kept: KeptAnchors) -> frozenset[str]:
    """The first of all types that two languages or more have, in an order in which a larger share holds a smaller one.

    Frequent types come first by the sum of their relative frequencies in each language, so that no other choice of as
    many would leave more of the running tokens shared, in the mean over languages; and a larger text weighs no more.
    """
    languages_with = Counter(subword for of_language in counts.values() for subword in of_language)
    shared = sorted(subword for subword, languages in languages_with.items() if languages > 1)
    match kept.order:
        case AnchorOrder.FREQUENT:
            # Whole numbers, so that equal sums are equal.
            totals = {language: max(1, of_language.total()) for language, of_language in counts.items()}
            weight = {language: lcm(*totals.values()) // total for language, total in totals.items()}
            shared.sort(key=lambda subword: -sum(counts[language][subword] * weight[language] for language in counts))
        case AnchorOrder.RANDOM:
            shared.sort(key=lambda subword: derived_seed(kept.seed, "kept-anchors", subword))
    return frozenset(shared[: round(kept.share * len(shared))])
