"""What a task is: examples in and out of files, a layer on the encoder, and a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.task_head import TaskHead

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
    """What becomes of a sequence that is longer than those the model was pretrained on."""

    OVERLAPPING = "overlapping"
    """Parts that overlap by half; each word is labelled in the first that holds it."""
    APART = "apart"
    """Parts without overlap, as each must be whole in itself."""
    CUT = "cut"
    """Words are taken from the longer sentence until the pair fits."""


class Task(ABC, Generic[Example]):
    """One file in transfer/tasks is one task; a predicted example has the type of a gold one.

    Files import torch when their layer is made, so that results can be read without it.
    """

    name: ClassVar[str]
    """That of its file."""
    version: ClassVar[int] = 1
    """Raise it when the same examples and settings would give other numbers: artifacts of the task are made anew."""
    title: ClassVar[str]
    metric: ClassVar[str]
    """That models are chosen by, and the one in Table 1."""
    metric_titles: ClassVar[Mapping[str, str]]
    """Every score's name for people."""
    chance: ClassVar[float | None] = None
    """Percent of the metric that guessing reaches, where that is known."""
    suffix: ClassVar[str]
    """Of its files."""
    scorer: ClassVar[str]
    """Other people's program that reads these files."""
    recipe: ClassVar[Recipe]
    windows: ClassVar[Windows]
    points_to_words: ClassVar[bool] = False
    """Whether the first column of targets holds numbers of words, from 1, and 0 for none of them."""

    @abstractmethod
    def read_official(self, paths: Sequence[Path], *, splitting: WordSplitting) -> tuple[list[Example], dict[str, int]]:
        """Examples of files as they are released, in the words that the model is to read, and what is worth a count."""

    @abstractmethod
    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[Example]:
        """Examples in a made-up language; those of one seed mean the same in every language."""

    @abstractmethod
    def read(self, path: Path) -> list[Example]:
        """What `text` wrote."""

    @abstractmethod
    def text(self, examples: Sequence[Example]) -> str:
        """Examples in a format that other people's scorers read."""

    @abstractmethod
    def segments(self, example: Example) -> Segments:
        """The words that are read: of one sentence, or of two with an end symbol between them."""

    @abstractmethod
    def gold_labels(self, example: Example) -> tuple[str, ...]:
        """One for each word, or one for a pair."""

    @abstractmethod
    def targets(self, example: Example, ids: Mapping[str, int]) -> list[Sequence[int]]:
        """Columns of numbers to learn, each with one for every word or for the pair."""

    @abstractmethod
    def head(self, *, width: int, labels: Sequence[str]) -> TaskHead:
        """The task's own layer."""

    @abstractmethod
    def predicted(self, example: Example, columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Example:
        """The example with the labels that a model gave its words."""

    @abstractmethod
    def scores(self, gold: Sequence[Example], predicted: Sequence[Example]) -> dict[str, float]:
        """In percent, the task's metric among them."""

    @abstractmethod
    def breakdown(self, gold: Sequence[Example], predicted: Sequence[Example]) -> list[list[str]]:
        """Scores by label, for people: a row of headings, then one for each label."""

    def labels(self, examples: Sequence[Example]) -> tuple[str, ...]:
        """Those of the training set, in a stable order."""
        return tuple(sorted({label for example in examples for label in self.gold_labels(example)}))

    def scored(self, label: str) -> str | None:
        """What of a label the metric counts; None where it counts nothing."""
        return label

    def unseen_share(self, examples: Sequence[Example], labels: Sequence[str]) -> float:
        """Percent of what is scored that the training set never had, which no model can predict."""
        known = {self.scored(label) for label in labels}
        scored = (self.scored(label) for example in examples for label in self.gold_labels(example))
        counted = [label for label in scored if label is not None]
        return 100 * sum(label not in known for label in counted) / max(len(counted), 1)
