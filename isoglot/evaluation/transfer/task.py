"""A task: examples in and out of files, a layer on the encoder, and a score; and what tasks on treebanks share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.readers.conllu import Tree, conllu_text, read_conllu
from isoglot.corpora.synthetic import draw_meanings, trees
from isoglot.corpora.words import whole_words
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.heads import TaskHead

Example = TypeVar("Example")
Ids = NDArray[np.int64]
Segments = tuple[tuple[str, ...], ...]
IGNORE = -100
"""The target of a position that is not learned from; torch's cross-entropy leaves it out by default."""


class Recipe(StrEnum):
    """The paper's two ways to fine-tune (section 3.2): for the words of a sentence, or for a pair of sentences."""

    WORDS = "words"
    PAIRS = "pairs"


class Windows(StrEnum):
    """How a sequence is read that is longer than those the model was pretrained on."""

    OVERLAPPING = "overlapping"
    """Parts that overlap by half; each word is labelled in the first that holds it."""
    APART = "apart"
    """Parts without overlap, as each must be whole in itself."""
    CUT = "cut"
    """Words are taken from the longer sentence until the pair fits."""


class Task(ABC, Generic[Example]):
    """One file in transfer/tasks is one task; a predicted example has the type of a gold one."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raise it when the same examples and settings would give other numbers: artifacts of the task are made again."""
    title: ClassVar[str]
    metric: ClassVar[str]
    """The score that models are chosen by, and the one in Table 1."""
    metric_titles: ClassVar[Mapping[str, str]]
    chance: ClassVar[float | None] = None
    """Percent of the metric that guessing reaches, where that is known."""
    majority: ClassVar[str | None] = None
    """The score that holds what the most frequent label alone reaches, where that is neither chance nor 0."""
    suffix: ClassVar[str]
    scorer: ClassVar[str]
    """Other people's program that reads these files."""
    recipe: ClassVar[Recipe]
    # Departure: the paper names no dropout of the task's layer; this is the first author's later code's.
    dropout: ClassVar[float] = 0.2
    windows: ClassVar[Windows]
    points_to_words: ClassVar[bool] = False
    """Whether the first column of targets holds numbers of words, from 1, and 0 for none of them."""

    @abstractmethod
    def read_official(self, paths: Sequence[Path], *, splitting: WordSplitting) -> tuple[list[Example], dict[str, int]]:
        """Examples of files as they are released, in the words that the model is to read, and counts for the report."""

    @abstractmethod
    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[Example]:
        """Examples in a made-up language; those of one seed mean the same in every language."""

    @abstractmethod
    def read(self, path: Path) -> list[Example]:
        """The examples that `text` wrote."""

    @abstractmethod
    def text(self, examples: Sequence[Example]) -> str:
        """Examples in a format that other people's scorers read."""

    @abstractmethod
    def segments(self, example: Example) -> Segments:
        """The words of one sentence, or of two that are read with an end symbol between them."""

    @abstractmethod
    def gold_labels(self, example: Example) -> tuple[str, ...]:
        """One for each word, or one for a pair."""

    @abstractmethod
    def predicted(self, example: Example, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Example:
        """The example with the labels that a model gave."""

    @abstractmethod
    def scores(self, gold: Sequence[Example], predicted: Sequence[Example]) -> dict[str, float]:
        """Scores in percent, the task's metric among them."""

    @abstractmethod
    def breakdown(self, gold: Sequence[Example], predicted: Sequence[Example]) -> list[list[str]]:
        """Scores by label, for people: a row of headings, then one for each label."""

    def targets(self, example: Example, ids: Mapping[str, int]) -> list[Sequence[int]]:
        """Columns of numbers to learn, each with one for every word or for the pair: by default one of labels."""
        return [[ids[label] for label in self.gold_labels(example)]]

    def head(self, *, width: int, labels: Sequence[str]) -> TaskHead:
        """The task's own layer, by default a linear softmax; torch is imported here, so that results need none."""
        from isoglot.evaluation.transfer.heads import LinearHead

        return LinearHead(width=width, num_labels=len(labels), dropout=self.dropout)

    def labels(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """The labels of the training set, in a stable order."""
        return tuple(sorted({label for example in examples for label in self.gold_labels(example)}))

    def scored(self, label: str) -> str | None:
        """The part of a label that the metric counts; None where it counts nothing."""
        return label

    def unseen_share(self, examples: Sequence[Example], labels: Sequence[str]) -> float:
        """Percent of what is scored that the training set never had, which no model can predict."""
        known = {self.scored(label) for label in labels}
        scored = (self.scored(label) for example in examples for label in self.gold_labels(example))
        counted = [label for label in scored if label is not None]
        return 100 * sum(label not in known for label in counted) / max(len(counted), 1)


class TreebankTask(Task[Tree]):
    """Examples are trees, whatever of them is to be predicted."""

    suffix = ".conllu"
    scorer = "udtools: udeval -v GOLD PREDICTED"
    recipe = Recipe.WORDS

    def read_official(self, paths: Sequence[Path], *, splitting: WordSplitting) -> tuple[list[Tree], dict[str, int]]:
        read = [tree for path in paths for tree in read_conllu(path)]
        return [replace(tree, words=whole_words(tree.words, splitting)) for tree in read], {}

    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[Tree]:
        made = trees(draw_meanings(world, count=count, seed=seed), language, world=world)
        return [Tree(words=each.words, upos=each.upos, heads=each.heads, relations=each.relations) for each in made]

    def read(self, path: Path) -> list[Tree]:
        return read_conllu(path)

    def text(self, examples: Sequence[Tree]) -> str:
        return conllu_text(examples)

    def segments(self, example: Tree) -> Segments:
        return (example.words,)
