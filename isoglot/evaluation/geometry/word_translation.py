"""Words of one language translated into another by a map between their vectors (section 5.1.1)."""

# W = words of one side, D = width

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.retrieval import Measure, Precision, precision
from isoglot.evaluation.geometry.vector_maps import VectorMap
from isoglot.study.searches import NewVectors

WordPair = tuple[str, str]
"""Source first."""
Rows = tuple[int, int]


class NoPairsError(IsoglotError):
    """A dictionary of which no entry has both its words among those that have vectors."""


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
    them is right in the test, those of the fit as well: a target word of the test may stand there with another source
    word. Pairs of which a side does not have the word are left out, and tell in the coverage.
    All words of a side are normalised, are in the neighbourhoods of CSLS and may be answers.
    """
    fit_pairs, test_pairs = (_rows_of_pairs(pairs, source, target) for pairs in (fit, test))
    for purpose, pairs, found in (("fit the map on", fit, fit_pairs), ("score it by", test, test_pairs)):
        if not found:
            raise NoPairsError(
                f"no entry of the dictionary to {purpose} has both its words among the {len(source.words)} of the "
                f"source and the {len(target.words)} of the target ({len(pairs)} entries); is it of these languages, "
                "the source first?"
            )
    found_map = VectorMap.fit(
        target.vector_WD, source.vector_WD, pairs=[(column, row) for row, column in fit_pairs], rounds=rounds
    )
    source_WD = found_map.compared(source.vector_WD, new_vectors=NewVectors.NORMALIZED)
    target_WD = found_map.mapped(target.vector_WD, new_vectors=NewVectors.NORMALIZED)
    known = [*fit_pairs, *test_pairs]
    to_target = _gold(test_pairs, known)
    to_source = _gold(_turned(test_pairs), _turned(known))
    return WordTranslation(
        to_target={measure: precision(source_WD, target_WD, to_target, measure=measure) for measure in Measure},
        to_source={measure: precision(target_WD, source_WD, to_source, measure=measure) for measure in Measure},
        coverage=_coverage(test, test_pairs),
        fitted_pairs=len(fit_pairs),
    )


def _turned(pairs: Sequence[Rows]) -> list[Rows]:
    return [(b, a) for a, b in pairs]


def _gold(asked: Sequence[Rows], known: Sequence[Rows]) -> dict[int, set[int]]:
    """All known translations of every word that is asked for."""
    gold: dict[int, set[int]] = {row: set() for row, _ in asked}
    for row, column in known:
        if row in gold:
            gold[row].add(column)
    return gold


def _rows_of_pairs(pairs: Sequence[WordPair], source: WordSpace, target: WordSpace) -> list[tuple[int, int]]:
    row_of, column_of = ({word: row for row, word in enumerate(side.words)} for side in (source, target))
    return [(row_of[a], column_of[b]) for a, b in dict.fromkeys(pairs) if a in row_of and b in column_of]


def _coverage(test: Sequence[WordPair], found: Sequence[tuple[int, int]]) -> Coverage:
    return Coverage(
        pairs=100 * len(found) / len(set(test)),
        source_words=100 * len({row for row, _ in found}) / len({word for word, _ in test}),
        target_words=100 * len({column for _, column in found}) / len({word for _, word in test}),
    )
