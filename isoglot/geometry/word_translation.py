"""Words of one language translated into another by a map between their vectors (section 5.1.1)."""

# W = words of one side, D = width

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from isoglot.alignment_settings import NewVectors
from isoglot.errors import IsoglotError
from isoglot.geometry.retrieval import Measure, Precision, both_directions
from isoglot.geometry.vector_maps import VectorMap

WordPair = tuple[str, str]
"""Source first."""


@dataclass(frozen=True, kw_only=True)
class WordSpace:
    """All words of one side, each once, and their vectors."""

    words: Sequence[str]
    vector_WD: Tensor


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How much of a dictionary both sides have words for, in percent."""

    pairs: float
    source_words: float
    """Of the words to be translated, those of which at least one translation may be found."""
    target_words: float


@dataclass(frozen=True, kw_only=True)
class WordTranslation:
    """Precision in percent of the words that were asked for, and never without the coverage."""

    to_target: Mapping[Measure, Precision]
    to_source: Mapping[Measure, Precision]
    coverage: Coverage
    fitted_pairs: int


def word_translation(
    source: WordSpace, target: WordSpace, *, fit: Sequence[WordPair], test: Sequence[WordPair], rounds: int
) -> WordTranslation:
    """How well a map that is fitted on some pairs translates others, as MUSE scores it without refinement.

    A pair that stands twice counts once; a word with several translations is in as many pairs of the fit, and any of
    them is right in the test. Pairs of which a side does not have the word are left out, and tell in the coverage.
    All words of a side are normalised, are in the neighbourhoods of CSLS and may be answers.
    """
    fit_pairs, test_pairs = (_rows_of_pairs(pairs, source, target) for pairs in (fit, test))
    for purpose, pairs, found in (("fit the map on", fit, fit_pairs), ("score it by", test, test_pairs)):
        if not found:
            raise IsoglotError(
                f"no entry of the dictionary to {purpose} has both its words among the {len(source.words)} of the "
                f"source and the {len(target.words)} of the target ({len(pairs)} entries); is it of these languages, "
                "the source first?"
            )
    found_map = VectorMap.fit(
        target.vector_WD, source.vector_WD, pairs=[(column, row) for row, column in fit_pairs], rounds=rounds
    )
    source_WD = found_map.compared(source.vector_WD, new_vectors=NewVectors.NORMALIZED)
    target_WD = found_map.mapped(target.vector_WD, new_vectors=NewVectors.NORMALIZED)
    by_measure = {measure: both_directions(source_WD, target_WD, test_pairs, measure=measure) for measure in Measure}
    return WordTranslation(
        to_target={measure: to_target for measure, (to_target, _) in by_measure.items()},
        to_source={measure: to_source for measure, (_, to_source) in by_measure.items()},
        coverage=_coverage(test, test_pairs),
        fitted_pairs=len(fit_pairs),
    )


def _rows_of_pairs(pairs: Sequence[WordPair], source: WordSpace, target: WordSpace) -> list[tuple[int, int]]:
    row_of, column_of = ({word: row for row, word in enumerate(side.words)} for side in (source, target))
    return [(row_of[a], column_of[b]) for a, b in dict.fromkeys(pairs) if a in row_of and b in column_of]


def _coverage(test: Sequence[WordPair], found: Sequence[tuple[int, int]]) -> Coverage:
    return Coverage(
        pairs=100 * len(found) / len(set(test)),
        source_words=100 * len({row for row, _ in found}) / len({word for word, _ in test}),
        target_words=100 * len({column for _, column in found}) / len({word for _, word in test}),
    )
