"""Subwords as ids, in one table or one for each language, and how many of them languages share (section 4.2)."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum, lcm, log2
from pathlib import Path
from typing import Self

from isoglot.errors import IsoglotError
from isoglot.files import parsed_json
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

    def __post_init__(self) -> None:
        if not self.tables:
            raise IsoglotError("a vocabulary needs at least one language")
        for language, table in self.tables.items():
            if table[: len(SPECIALS)] != SPECIALS:
                raise IsoglotError(f"the table of {language!r} does not open with the special symbols {SPECIALS}")
            if len(set(table[len(SPECIALS) :])) != len(table) - len(SPECIALS):
                raise IsoglotError(f"the table of {language!r} has a token twice")
        if self.kind is not TableKind.SEPARATE and len(set(self.tables.values())) > 1:
            raise IsoglotError(f"a vocabulary of kind {self.kind.value!r} has one table, the same for all languages")
        if self.kind in WITH_PREFIXES:
            self._check_prefixes()

    def _check_prefixes(self) -> None:
        for language in self.tables:
            if PREFIX_MARK in language or language == OF_ALL:
                raise IsoglotError(f"language {language!r}: a prefix is not empty and has no {PREFIX_MARK!r}")
        owners = {*self.tables, OF_ALL} if self.kind is TableKind.PARTIAL else set(self.tables)
        tokens = [token.partition(PREFIX_MARK) for token in next(iter(self.tables.values()))[len(SPECIALS) :]]
        shared = {subword for owner, _, subword in tokens if owner == OF_ALL}
        for owner, mark, subword in tokens:
            if not mark or owner not in owners:
                raise IsoglotError(f"token {owner + mark + subword!r} has no prefix of {', '.join(self.tables)}")
            if owner != OF_ALL and subword in shared:
                raise IsoglotError(f"token {subword!r} is one that languages share and also one of {owner!r} alone")

    def table(self, language: str) -> tuple[str, ...]:
        if language not in self.tables:
            raise IsoglotError(f"no language {language!r} in this vocabulary; it has {', '.join(self.tables)}")
        return self.tables[language]

    def size(self, language: str) -> int:
        return len(self.table(language))

    def ids(self, language: str) -> Mapping[str, int]:
        """The id of each subword of this language's text; a subword spelled "</s>" is not the special symbol."""
        self.table(language)
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
        try:
            content = parsed_json(path.read_text(encoding="utf-8"))
            kind, languages = TableKind(content["kind"]), [str(language) for language in content["languages"]]
            tables = [tuple(str(token) for token in table) for table in content["tables"]]
            if kind is not TableKind.SEPARATE:
                tables *= len(languages)
            return cls(kind=kind, tables=dict(zip(languages, tables, strict=True)))
        except FileNotFoundError:
            raise IsoglotError(f"{path}: no such file; it should hold a vocabulary") from None
        except (ValueError, KeyError, TypeError, IsoglotError) as error:
            raise IsoglotError(f"{path}: not a vocabulary ({error}); delete its folder to make it again") from error


def build_vocabulary(
    kind: TableKind, *, counts: Mapping[str, Counter[str]], kept: KeptAnchors | None = None
) -> Vocabulary:
    """Tables of all counted subwords: special symbols, then by falling count over the languages, ties by spelling."""
    if (kind is TableKind.PARTIAL) != (kept is not None):
        raise IsoglotError(f"a vocabulary of kind {kind.value!r} with kept anchors {kept}: one needs the other")
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


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How the text of one language looks in the vocabulary."""

    types: int
    tokens: int
    shared_token_rate: float
    """The share of its running tokens that are of a type of both languages."""


@dataclass(frozen=True, kw_only=True)
class AnchorStatistics:
    """Both languages, and the rows of the embedding table that occur in the text of both, special symbols left out."""

    coverage: Mapping[str, Coverage]
    shared_types: int
    similarity: float
    """1 less the Jensen-Shannon divergence, in bits, of the languages' known tokens: 0 nothing shared, 1 all alike."""


def anchor_statistics(vocabulary: Vocabulary, *, counts: Mapping[str, Counter[str]]) -> AnchorStatistics:
    """Statistics of two languages, over the subwords of each one's text with their counts."""
    known: dict[str, Counter[Row]] = {}
    for language, count in counts.items():
        if not count.total():
            raise IsoglotError(f"language {language!r} has no text to count anchors in; is its file empty?")
        table, ids = language if vocabulary.kind is TableKind.SEPARATE else OF_ALL, vocabulary.ids(language)
        known[language] = Counter({(table, ids[each]): n for each, n in count.items() if n and each in ids})
    a, b = known.values()
    shared = a.keys() & b.keys()
    coverage = {
        language: Coverage(
            types=len(rows),
            tokens=(tokens := counts[language].total()),
            shared_token_rate=sum(rows[row] for row in shared) / tokens,
        )
        for language, rows in known.items()
    }
    similarity = max(0.0, 1 - jensen_shannon_divergence(a, b))
    return AnchorStatistics(coverage=coverage, shared_types=len(shared), similarity=similarity)


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
