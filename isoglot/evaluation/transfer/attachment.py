"""How many words a parser attaches to the right head, with the right relation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.conllu import Tree

PUNCTUATION = frozenset({"PUNCT", "SYM"})
"""UPOS of the words that some leave out of the scores, as the first author's later code does."""


@dataclass(frozen=True, kw_only=True)
class RelationScores:
    """Of the words that have a relation in the gold trees."""

    relation: str
    count: int
    uas: float
    """Percent that are attached to the right head."""
    las: float
    """Percent whose relation is right too."""
    predicted: int
    """How many words the parser gave this relation."""


@dataclass(frozen=True, kw_only=True)
class _Attachment:
    """One word as gold and parser have it."""

    is_punctuation: bool
    is_head_right: bool
    gold: str
    predicted: str

    @property
    def is_relation_right(self) -> bool:
        return self.is_head_right and universal(self.gold) == universal(self.predicted)

    @property
    def is_subtype_right(self) -> bool:
        return self.is_head_right and self.gold == self.predicted


def universal(relation: str) -> str:
    """`acl:relcl` is an `acl` in all languages, and a `relcl` in some."""
    return relation.split(":")[0]


def attachment_scores(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, float]:
    """Percent of the words, counted in several ways; `las` and `uas` are those of the official evaluation of UD."""
    # Departure: all words count, and subtypes do not; the paper does not say, so the other ways are given beside them.
    words = _attachments(gold, predicted)
    text = [word for word in words if not word.is_punctuation]
    if not text:
        raise IsoglotError("all gold words are punctuation, so there is nothing to score; give other sentences")
    return {
        "las": _percent(word.is_relation_right for word in words),
        "uas": _percent(word.is_head_right for word in words),
        "las_without_punctuation": _percent(word.is_relation_right for word in text),
        "uas_without_punctuation": _percent(word.is_head_right for word in text),
        "las_with_subtypes": _percent(word.is_subtype_right for word in words),
        "las_with_subtypes_without_punctuation": _percent(word.is_subtype_right for word in text),
    }


def by_relation(gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[RelationScores]:
    """One row for each universal relation of the gold trees, the most frequent first."""
    words = _attachments(gold, predicted)
    times_predicted = Counter(universal(word.predicted) for word in words)
    words_of: dict[str, list[_Attachment]] = {}
    for word in words:
        words_of.setdefault(universal(word.gold), []).append(word)
    rows = [
        RelationScores(
            relation=relation,
            count=len(its_words),
            uas=_percent(word.is_head_right for word in its_words),
            las=_percent(word.is_relation_right for word in its_words),
            predicted=times_predicted[relation],
        )
        for relation, its_words in words_of.items()
    ]
    return sorted(rows, key=lambda row: (-row.count, row.relation))


def relation_confusions(gold: Sequence[Tree], predicted: Sequence[Tree]) -> Counter[tuple[str, str]]:
    """How often words of one universal relation were given another, the head being right."""
    pairs = (
        (universal(word.gold), universal(word.predicted))
        for word in _attachments(gold, predicted)
        if word.is_head_right and not word.is_relation_right
    )
    return Counter(pairs)


def _attachments(gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[_Attachment]:
    words = [
        _Attachment(is_punctuation=upos in PUNCTUATION, is_head_right=head == other_head, gold=right, predicted=given)
        for tree, other in _pairs(gold, predicted)
        for upos, head, other_head, right, given in zip(
            tree.upos, tree.heads, other.heads, tree.relations, other.relations, strict=True
        )
    ]
    if not words:
        raise IsoglotError("there are no sentences to score; give at least one")
    return words


def _pairs(gold: Sequence[Tree], predicted: Sequence[Tree]) -> Iterator[tuple[Tree, Tree]]:
    advice = "parse the very words of the gold trees"
    for number, (tree, other) in enumerate(zip_longest(gold, predicted), start=1):
        if tree is None or other is None:
            owner = "predicted" if tree is None else "gold"
            raise IsoglotError(
                f"sentence {number} is {owner} only, of {len(gold)} gold and {len(predicted)} predicted ones; {advice}"
            )
        if tree.words != other.words:
            place = next(
                place
                for place, (word, other_word) in enumerate(zip_longest(tree.words, other.words))
                if word != other_word
            )
            raise IsoglotError(
                f"sentence {number} differs from word {place + 1} on: gold has {_shown(tree.words[place:])}, "
                f"predicted has {_shown(other.words[place:])}; {advice}"
            )
        yield tree, other


def _shown(words: Sequence[str]) -> str:
    return repr(" ".join(words[:3])) if words else "no such word"


def _percent(hits: Iterable[bool]) -> float:
    hits = list(hits)
    return 100.0 * sum(hits) / len(hits)
