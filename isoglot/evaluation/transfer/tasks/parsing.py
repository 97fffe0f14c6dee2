"""Dependency parsing of Universal Dependencies: a head and a relation for every word, and attachment scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.conllu import Tree
from isoglot.evaluation.transfer.task import TreebankTask, Windows

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.heads import TaskHead

ROOT = "root"
OF_LATER_PARTS = "parataxis"
"""The relation of Universal Dependencies between clauses that are only set side by side."""
PUNCTUATION = frozenset({"PUNCT", "SYM"})
"""UPOS of the words that some leave out of the scores, as the first author's later code does."""


class Parsing(TreebankTask):
    """A graph-based parser on first subwords; the best tree with one root is predicted."""

    name = "parsing"
    title = "Parsing"
    # Subtypes of relations are learned, though the score does not count them.
    metric = "las"
    metric_titles: ClassVar = {
        "las": "LAS",
        "uas": "UAS",
        "las_without_punctuation": "LAS, no punctuation",
        "uas_without_punctuation": "UAS, no punctuation",
        "las_with_subtypes": "LAS, with subtypes",
        "las_with_subtypes_without_punctuation": "LAS, with subtypes, no punctuation",
    }
    # Departure: a sentence longer than the windows of pretraining is parsed in parts, the later ones hung from the root
    # of the first; the first author's later code cuts it short.
    windows = Windows.APART
    points_to_words = True

    def gold_labels(self, example: Tree) -> tuple[str, ...]:
        return example.relations

    def scored(self, label: str) -> str | None:
        return universal(label)

    def targets(self, example: Tree, ids: Mapping[str, int]) -> list[Sequence[int]]:
        return [example.heads, [ids[relation] for relation in example.relations]]

    def head(self, *, width: int, labels: Sequence[str]) -> TaskHead:
        from isoglot.evaluation.transfer.heads import BiaffineParser

        if ROOT not in labels or len(labels) == 1:
            raise IsoglotError(
                f"the relations of the training set are {', '.join(labels)}; there should be {ROOT!r} and others, as "
                "in every treebank of Universal Dependencies"
            )
        return BiaffineParser(width=width, num_relations=len(labels), root_relation=labels.index(ROOT))

    def predicted(self, example: Tree, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Tree:
        heads, relations = columns[0], [labels[relation] for relation in columns[1]]
        first_root = heads.index(0) + 1
        later_roots = {word for word, head in enumerate(heads, 1) if head == 0 and word != first_root}
        return replace(
            example,
            heads=tuple(first_root if word in later_roots else head for word, head in enumerate(heads, 1)),
            relations=tuple(OF_LATER_PARTS if word in later_roots else each for word, each in enumerate(relations, 1)),
        )

    def scores(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, float]:
        return attachment_scores(gold, predicted)

    def breakdown(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[list[str]]:
        """A row for each relation, and what it is most often taken for where the head is right."""
        words = _attachments(gold, predicted)
        times_predicted = Counter(universal(word.predicted) for word in words)
        words_of: dict[str, list[_Attachment]] = {}
        for word in words:
            words_of.setdefault(universal(word.gold), []).append(word)
        rows = [["relation", "words", "predicted", "UAS", "LAS", "taken for"]]
        for relation, its_words in sorted(words_of.items(), key=lambda item: (-len(item[1]), item[0])):
            wrong = [
                universal(each.predicted) for each in its_words if each.is_head_right and not each.is_relation_right
            ]
            rows.append(
                [
                    relation,
                    str(len(its_words)),
                    str(times_predicted[relation]),
                    f"{_percent(word.is_head_right for word in its_words):.1f}",
                    f"{_percent(word.is_relation_right for word in its_words):.1f}",
                    ", ".join(f"{other} {count}" for other, count in Counter(wrong).most_common(3)),
                ]
            )
        return rows


@dataclass(frozen=True, kw_only=True)
class _Attachment:
    """One word's relations by gold and parser."""

    is_punctuation: bool
    is_head_right: bool
    gold: str
    predicted: str

    @property
    def is_relation_right(self) -> bool:
        return self.is_head_right and universal(self.gold) == universal(self.predicted)


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
        "las_with_subtypes": _percent(word.is_head_right and word.gold == word.predicted for word in words),
        "las_with_subtypes_without_punctuation": _percent(
            word.is_head_right and word.gold == word.predicted for word in text
        ),
    }


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
            words = enumerate(zip_longest(tree.words, other.words))
            place = next(place for place, (word, other_word) in words if word != other_word)
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


TASK = Parsing()
