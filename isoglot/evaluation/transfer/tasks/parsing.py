"""Dependency parsing of Universal Dependencies: a head and a relation for every word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.attachment import attachment_scores, by_relation, relation_confusions, universal
from isoglot.evaluation.transfer.conllu import Tree
from isoglot.evaluation.transfer.task import Windows
from isoglot.evaluation.transfer.treebank_task import TreebankTask

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.task_head import TaskHead

ROOT = "root"
OF_LATER_PARTS = "parataxis"
"""The relation of Universal Dependencies between clauses that are only set side by side."""


class Parsing(TreebankTask):
    """A graph-based parser on first subwords; the best tree with one root is predicted."""

    name = "parsing"
    title = "Parsing"
    # Subtypes of relations are learned, though the score does not count them: see attachment.py.
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
        from isoglot.evaluation.transfer.biaffine import BiaffineParser

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
        confusions = relation_confusions(gold, predicted).most_common()
        return [["relation", "words", "predicted", "UAS", "LAS", "taken for"]] + [
            [
                each.relation,
                str(each.count),
                str(each.predicted),
                f"{each.uas:.1f}",
                f"{each.las:.1f}",
                ", ".join([f"{other} {count}" for (own, other), count in confusions if own == each.relation][:3]),
            ]
            for each in by_relation(gold, predicted)
        ]


TASK = Parsing()
