"""Part-of-speech tagging: the universal tag of every word, from the treebanks that parsing reads."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.conllu import Tree
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import TreebankTask, Windows
from isoglot.study.languages import WordSplitting

NO_TAG = "_"


class Pos(TreebankTask):
    """A linear softmax on first subwords; not one of the paper's tasks."""

    name = "pos"
    version = 2
    title = "POS"
    metric = "accuracy"
    metric_titles: ClassVar = {"accuracy": "Acc"}
    majority = "most_frequent_tag"
    windows = Windows.OVERLAPPING
    scorer = "udtools, and read the row UPOS: udeval -v GOLD PREDICTED"

    def read_official(self, paths: Sequence[Path], *, splitting: WordSplitting) -> tuple[list[Tree], dict[str, int]]:
        all_trees = []
        for path in paths:
            trees, _ = super().read_official([path], splitting=splitting)
            for number, tree in enumerate(trees, start=1):
                if NO_TAG in tree.upos:
                    word = tree.words[tree.upos.index(NO_TAG)]
                    raise IsoglotError(f"{path}: {word!r} in sentence {number} has no part of speech; drop it")
            all_trees += trees
        return all_trees, {}

    def gold_labels(self, example: Tree) -> tuple[str, ...]:
        return example.upos

    def predicted(self, example: Tree, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Tree:
        return replace(example, upos=tuple(labels[tag] for tag in columns[0]))

    def scores(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, float]:
        pairs = _tag_pairs(gold, predicted)
        (_, most), *_ = Counter(tag for tag, _ in pairs).most_common(1)
        right = sum(a == b for a, b in pairs)
        return {"accuracy": 100 * right / len(pairs), "most_frequent_tag": 100 * most / len(pairs)}

    def breakdown(self, gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[list[str]]:
        taken_for: dict[str, Counter[str]] = {}
        for tag, other in _tag_pairs(gold, predicted):
            taken_for.setdefault(tag, Counter())[other] += 1
        rows = [["tag", "words", "right %", "taken for"]]
        for tag, others in sorted(taken_for.items()):
            wrong = ", ".join(f"{other} {count}" for other, count in others.most_common(4) if other != tag)
            rows.append([tag, str(others.total()), f"{100 * others[tag] / others.total():.1f}", wrong])
        return rows


def _tag_pairs(gold: Sequence[Tree], predicted: Sequence[Tree]) -> list[tuple[str, str]]:
    return [pair for a, b in zip(gold, predicted, strict=True) for pair in zip(a.upos, b.upos, strict=True)]


TASK = Pos()
