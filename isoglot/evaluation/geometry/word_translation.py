"""Words of one language translated into another by a map between their vectors (section 5.1.1)."""

# W = words of one side, D = width

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.retrieval import Measure, precision
from isoglot.evaluation.geometry.vectors import VectorMap
from isoglot.study.searches import NewVectors

WordPair = tuple[str, str]
"""Source first."""
Rows = list[tuple[int, int]]


class NoPairsError(IsoglotError):
    """No entry of a dictionary has both its words among those that have vectors."""


@dataclass(frozen=True, kw_only=True)
class WordSpace:
    """All words of one side, each once, and their vectors."""

    words: Sequence[str]
    vector_WD: Tensor


class WordTranslation(NamedTuple):
    """Precision in percent of the words that have a vector, and never without the coverage."""

    precision: dict[str, float]
    """By metric: `p1` is by CSLS, `p1_cosine` by cosine."""
    coverage: dict[str, float]
    """How many words are asked for and pairs fitted, and how much of the dictionary both sides have words for."""


def word_translation(
    source: WordSpace, target: WordSpace, *, fit: Sequence[WordPair], test: Sequence[WordPair], rounds: int
) -> WordTranslation:
    """How well a map that is fitted on some pairs translates others, as MUSE scores it without refinement.

    A pair that is given twice counts once. A word with several translations is in as many pairs of the fit, and any
    of them is right in the test. Pairs with a word that a side lacks are left out, and lower the coverage. All words of
    a side are normalised, are in the neighbourhoods of CSLS and may be answers. There is no way back: a target word of
    the test may be in the fit with another source word, which a map of few pairs knows by heart.
    """
    fit_rows, test_rows = (_rows_of_pairs(pairs, source, target) for pairs in (fit, test))
    for purpose, pairs, rows in (("fit the map on", fit, fit_rows), ("score it by", test, test_rows)):
        if not rows:
            words = f"the {len(source.words)} of the source and the {len(target.words)} of the target"
            raise NoPairsError(
                f"no entry of the dictionary to {purpose} has both its words among {words} ({len(pairs)} entries); "
                "is it of these languages, the source first?"
            )
    vector_map = VectorMap.fit(target.vector_WD, source.vector_WD, pairs=[(b, a) for a, b in fit_rows], rounds=rounds)
    source_WD = vector_map.compared(source.vector_WD, new_vectors=NewVectors.NORMALIZED)
    target_WD = vector_map.mapped(target.vector_WD, new_vectors=NewVectors.NORMALIZED)
    num_sources, num_targets = (len(set(side)) for side in zip(*test_rows, strict=True))
    coverage = {
        "asked": num_sources,
        "fitted_pairs": len(fit_rows),
        "coverage": 100 * len(test_rows) / len(set(test)),
        # Words to be translated that have at least one translation among the target's words.
        "coverage_of_source_words": 100 * num_sources / len({word for word, _ in test}),
        "coverage_of_target_words": 100 * num_targets / len({word for _, word in test}),
    }
    gold: dict[int, set[int]] = {row: set() for row, _ in test_rows}
    # Where a user's dictionaries overlap, a translation of the fit is no mistake.
    for row, column in test_rows + fit_rows:
        if row in gold:
            gold[row].add(column)
    return WordTranslation(_precisions(source_WD, target_WD, gold), coverage)


def _precisions(source_WD: Tensor, target_WD: Tensor, gold: Mapping[int, set[int]]) -> dict[str, float]:
    return {
        f"p{at}" if measure is Measure.CSLS else f"p{at}_{measure.value}": value
        for measure in Measure
        for at, value in precision(source_WD, target_WD, gold, measure=measure).items()
    }


def _rows_of_pairs(pairs: Sequence[WordPair], source: WordSpace, target: WordSpace) -> Rows:
    row_of, column_of = ({word: row for row, word in enumerate(side.words)} for side in (source, target))
    # Departure: a pair that is given twice counts once; MUSE lets it weigh twice in a fit.
    return [(row_of[a], column_of[b]) for a, b in dict.fromkeys(pairs) if a in row_of and b in column_of]
