"""Subwords as ids, in one table or one for each language, and how many of them languages share (section 4.2)."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum, lcm, log2
from pathlib import Path
from typing import NamedTuple, Self

from isoglot.randomness import derived_seed
from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind


def kept_types(counts: Mapping[str, Counter[str]], *, kept: KeptAnchors) -> frozenset[str]:
    """The first of all types that two languages or more have, in an order in which a larger share holds a smaller one.

    Frequent types come first by the sum of their relative frequencies in each language, so a larger text weighs no
    more. No other choice of as many would leave more of the running tokens shared, in the mean over languages.
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


SPECIALS = ("<s>", "</s>", "<pad>", "<unk>", *(f"<special{i}>" for i in range(10)))
END = SPECIALS.index("</s>")
PAD = SPECIALS.index("<pad>")
UNK = SPECIALS.index("<unk>")
MASK = SPECIALS.index("<special1>")

WITH_PREFIXES = (TableKind.PREFIXED, TableKind.PARTIAL)
PREFIX_MARK = ":"
OF_ALL = ""
"""The prefix, where there are prefixes, of a token that languages share."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Every language's table of tokens in id order; special symbols are known by place, never by spelling."""

    kind: TableKind
    tables: Mapping[str, tuple[str, ...]]

    def size(self, language: str) -> int:
        return len(self.tables[language])

    def ids(self, language: str) -> Mapping[str, int]:
        """The id of each subword of this language's text; a subword spelled "</s>" is not the special symbol."""
        return self._ids[language]

    def encode(self, language: str, subwords: Iterable[str]) -> list[int]:
        ids = self.ids(language)
        return [ids.get(subword, UNK) for subword in subwords]

    @cached_property
    def _ids(self) -> dict[str, dict[str, int]]:
        ids: dict[str, dict[str, int]] = {language: {} for language in self.tables}
        for language, table in self.tables.items():
            for id, token in enumerate(table[len(SPECIALS) :], start=len(SPECIALS)):
                owner, _, subword = token.partition(PREFIX_MARK) if self.kind in WITH_PREFIXES else (OF_ALL, "", token)
                if owner in (OF_ALL, language):
                    ids[language][subword] = id
        return ids

    def write(self, path: Path) -> None:
        tables = list(self.tables.values())
        content = {
            "kind": self.kind.value,
            "languages": list(self.tables),
            "tables": tables if self.kind is TableKind.SEPARATE else tables[:1],
        }
        path.write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        content = json.loads(path.read_text(encoding="utf-8"))
        kind, languages = TableKind(content["kind"]), content["languages"]
        tables = [tuple(table) for table in content["tables"]]
        if kind is not TableKind.SEPARATE:
            tables *= len(languages)
        return cls(kind=kind, tables=dict(zip(languages, tables, strict=True)))


def build_vocabulary(
    kind: TableKind, *, counts: Mapping[str, Counter[str]], kept: KeptAnchors | None = None
) -> Vocabulary:
    """Tables of all counted subwords: special symbols, then by falling count over the languages, ties by spelling."""
    # Sorted, so that the same languages in another order make the same bytes.
    languages = sorted(counts)
    if kind is TableKind.SEPARATE:
        return Vocabulary(kind=kind, tables={language: _table(counts[language]) for language in languages})
    shared = kept_types(counts, kept=kept) if kept is not None else frozenset()
    # Departure: special symbols get no prefix; the paper prefixes "each word".
    total: Counter[str] = Counter()
    for language in languages:
        for subword, number in counts[language].items():
            prefix = (OF_ALL if subword in shared else language) + PREFIX_MARK if kind in WITH_PREFIXES else ""
            total[prefix + subword] += number
    return Vocabulary(kind=kind, tables=dict.fromkeys(languages, _table(total)))


def _table(count: Mapping[str, int]) -> tuple[str, ...]:
    return SPECIALS + tuple(sorted(count, key=lambda token: (-count[token], token)))


Row = tuple[str, int]
"""One row of an embedding table: whose table it is, or OF_ALL, and the id."""


class AnchorStatistics(NamedTuple):
    """The rows of the embedding table that occur in the text of both languages, special symbols left out."""

    shared_types: int
    shared_token_rate: Mapping[str, float]
    """The share of each language's running tokens that are of a type of both."""
    similarity: float
    """1 less the Jensen-Shannon divergence, in bits, of the languages' known tokens: 0 nothing shared, 1 all alike."""


def anchor_statistics(vocabulary: Vocabulary, *, counts: Mapping[str, Counter[str]]) -> AnchorStatistics:
    """Statistics of two languages, over the subwords of each one's text with their counts."""
    known: dict[str, Counter[Row]] = {}
    for language, count in counts.items():
        table, ids = language if vocabulary.kind is TableKind.SEPARATE else OF_ALL, vocabulary.ids(language)
        known[language] = Counter({(table, ids[each]): n for each, n in count.items() if n and each in ids})
    a, b = known.values()
    shared = a.keys() & b.keys()
    rate = {each: sum(rows[row] for row in shared) / counts[each].total() for each, rows in known.items()}
    return AnchorStatistics(len(shared), rate, similarity=max(0.0, 1 - jensen_shannon_divergence(a, b)))


def jensen_shannon_divergence(p: Counter[Row], q: Counter[Row]) -> float:
    """The divergence of two counted distributions in bits; that of an empty one from anything is taken to be 1."""
    if not p or not q:
        return 1.0
    share_p, share_q = ({row: rows[row] / total for row in rows} for rows, total in ((p, p.total()), (q, q.total())))
    # Rounded once, so that the order in which types were counted makes no difference.
    return fsum(
        share / 2 * log2(2 * share / (share + other.get(row, 0.0)))
        for one, other in ((share_p, share_q), (share_q, share_p))
        for row, share in one.items()
    )
