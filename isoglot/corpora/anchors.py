"""What languages have in common in a vocabulary, and how well it fits the text of each (section 4.2)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import fsum, log2

from isoglot.corpora.vocabulary import Vocabulary
from isoglot.errors import IsoglotError
from isoglot.study.conditions import TableKind

Row = tuple[str | None, int]
"""One row of an embedding table: whose table it is, if each language has its own, and the id."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How the text of one language looks in the vocabulary."""

    types: int
    tokens: int
    tokens_per_word: float
    unknown_rate: float


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What two languages share: rows of the embedding table met in the text of both, special symbols left out."""

    shared_types: int
    shared_token_rate: Mapping[str, float]
    """The share of each language's running tokens that are of a shared type."""
    similarity: float
    """1 less the Jensen-Shannon divergence, in bits, of the languages' known tokens: 0 nothing shared, 1 all alike."""


@dataclass(frozen=True, kw_only=True)
class AnchorStatistics:
    """The statistics of every language, and of every pair of them by its names in order: "en-fr"."""

    coverage: Mapping[str, Coverage]
    overlap: Mapping[str, Overlap]


def anchor_statistics(
    vocabulary: Vocabulary, *, counts: Mapping[str, Counter[str]], num_words: Mapping[str, int]
) -> AnchorStatistics:
    """Statistics over each language's text: its subwords with their counts, and its number of running words."""
    for language in vocabulary.languages:
        if not counts[language].total() or not num_words[language]:
            raise IsoglotError(f"language {language!r} has no text to count anchors in; is its file empty?")
    known = {language: _known_rows(vocabulary, language, counts[language]) for language in vocabulary.languages}
    tokens = {language: counts[language].total() for language in vocabulary.languages}
    return AnchorStatistics(
        coverage={
            language: Coverage(
                types=len(rows),
                tokens=tokens[language],
                tokens_per_word=tokens[language] / num_words[language],
                unknown_rate=1 - rows.total() / tokens[language],
            )
            for language, rows in known.items()
        },
        overlap={
            f"{a}-{b}": Overlap(
                shared_types=len(known[a].keys() & known[b].keys()),
                shared_token_rate={
                    a: _total_of(known[a], known[b]) / tokens[a],
                    b: _total_of(known[b], known[a]) / tokens[b],
                },
                similarity=max(0.0, 1 - jensen_shannon_divergence(known[a], known[b])),
            )
            for a, b in combinations(sorted(vocabulary.languages), 2)
        },
    )


def jensen_shannon_divergence(p: Counter[Row], q: Counter[Row]) -> float:
    """The divergence of two counted distributions in bits; that of an empty one from anything is taken to be 1."""
    if not p or not q:
        return 1.0
    share_p, share_q = _shares(p), _shares(q)
    # Rounded once, so that the order in which types were counted makes no difference.
    return fsum(
        share / 2 * log2(2 * share / (share + other.get(row, 0.0)))
        for one, other in ((share_p, share_q), (share_q, share_p))
        for row, share in one.items()
    )


def _shares(rows: Counter[Row]) -> dict[Row, float]:
    total = rows.total()
    return {row: count / total for row, count in rows.items()}


def _known_rows(vocabulary: Vocabulary, language: str, subwords: Counter[str]) -> Counter[Row]:
    table = language if vocabulary.kind is TableKind.SEPARATE else None
    ids = vocabulary.ids(language)
    return Counter({(table, ids[subword]): count for subword, count in subwords.items() if count and subword in ids})


def _total_of(rows: Counter[Row], among: Counter[Row]) -> int:
    return sum(count for row, count in rows.items() if row in among)
