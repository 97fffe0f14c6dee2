"""Dependency parsing of Universal Dependencies: a head and a relation for every word, and attachment scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.readers.conllu import Tree
from isoglot.errors import IsoglotError
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
            fix = f"there should be {ROOT!r} and others, as in every treebank of Universal Dependencies"
            raise IsoglotError(f"the relations of the training set are {', '.join(labels)}; {fix}")
        return BiaffineParser(width=width, num_relations=len(labels), root_relation=labels.index(ROOT))

    def predicted(self, example: Tree, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Tree:
        heads, relations = list(columns[0]), [labels[relation] for relation in columns[1]]
        first_root = heads.index(0)
        for word in range(first_root + 1, len(heads)):
            if heads[word] == 0:
                heads[word], relations[word] = first_root + 1, OF_LATER_PARTS
        return replace(example, heads=tuple(heads), relations=tuple(relations))

    def scores(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, float]:
        return attachment_scores(gold, predicted)

    def breakdown(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[list[str]]:
        """A row for each relation, and what it is most often taken for where the head is right."""
        words_of: dict[str, list[_Attachment]] = {}
        times_predicted = Counter[str]()
        for word in _attachments(gold, predicted):
            words_of.setdefault(universal(word.gold), []).append(word)
            times_predicted[universal(word.predicted)] += 1
        rows = [["relation", "words", "predicted", "UAS", "LAS", "taken for"]]
        for relation, words in sorted(words_of.items(), key=lambda item: (-len(item[1]), item[0])):
            at_head = [each for each in words if each.is_head_right]
            wrong = Counter(universal(each.predicted) for each in at_head if not each.is_relation_right)
            uas = _percent(each.is_head_right for each in words)
            las = _percent(each.is_relation_right for each in words)
            taken_for = ", ".join(f"{other} {count}" for other, count in wrong.most_common(3))
            counts = [str(len(words)), str(times_predicted[relation])]
            rows.append([relation, *counts, f"{uas:.1f}", f"{las:.1f}", taken_for])
        return rows


@dataclass(frozen=True, kw_only=True)
class _Attachment:
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

    def with_subtypes(scored: Sequence[_Attachment]) -> float:
        return _percent(word.is_head_right and word.gold == word.predicted for word in scored)

    return {
        "las": _percent(word.is_relation_right for word in words),
        "uas": _percent(word.is_head_right for word in words),
        "las_without_punctuation": _percent(word.is_relation_right for word in text),
        "uas_without_punctuation": _percent(word.is_head_right for word in text),
        "las_with_subtypes": with_subtypes(words),
        "las_with_subtypes_without_punctuation": with_subtypes(text),
    }


def _attachments(gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[_Attachment]:
    words = [
        _Attachment(is_punctuation=upos in PUNCTUATION, is_head_right=head == other_head, gold=right, predicted=given)
        for tree, other in zip(gold, predicted, strict=True)
        for upos, head, other_head, right, given in zip(
            tree.upos, tree.heads, other.heads, tree.relations, other.relations, strict=True
        )
    ]
    if not words:
        raise IsoglotError("there are no sentences to score; give at least one")
    return words


def _percent(hits: Iterable[bool]) -> float:
    hits = list(hits)
    return 100.0 * sum(hits) / len(hits)


TASK = Parsing()
