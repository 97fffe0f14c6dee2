"""Labelled examples of a task with words as models read them: synthetic, or from files as they are released."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import Recipe, Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.randomness import derived_seed
from isoglot.store import Stage, Work
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

EXAMPLES = "examples"
EXCESS = 4  # this many times too many examples are drawn where some may repeat earlier ones; most repeats are short
COUNTS = "counts.json"


@dataclass(frozen=True, kw_only=True)
class SyntheticExamples(Stage):
    """Synthetic examples; those of one split mean the same in every language."""

    kind: ClassVar[str] = "made-up-examples"
    leaves: ClassVar[tuple[str, ...]] = (COUNTS, f"{EXAMPLES}.*")
    task: str
    task_version: int
    world: World
    language: SyntheticLanguage
    split: str
    count: int
    # Sets of the source language whose meanings may not occur here, in whatever language.
    apart_from: "tuple[SyntheticExamples, ...]"

    @property
    def title(self) -> str:
        return f"{task_named(self.task).title} {self.split} examples of {self.language.name}"

    def make(self, work: Work) -> None:
        task = task_named(self.task)
        seen = {task.segments(each) for stage in self.apart_from for each in read_examples(task, work.path(stage))}
        examples = self._unseen(task, seen) if self.apart_from else self._drawn(task, self.language, self.count)
        _write(task, examples, {}, work.folder)

    def _drawn(self, task: Task[Any], language: SyntheticLanguage, count: int) -> list[Any]:
        seed = derived_seed(self.world.seed, self.task, self.split)
        return task.made_up(language, world=self.world, count=count, seed=seed)

    def _unseen(self, task: Task[Any], seen: set[Any]) -> list[Any]:
        # Examples whose counterparts in the source language are new; labels of pairs are equally frequent.
        num_drawn, source = EXCESS * self.count, self.apart_from[0].language
        drawn = zip(self._drawn(task, self.language, num_drawn), self._drawn(task, source, num_drawn), strict=True)
        unseen = [example for example, counterpart in drawn if task.segments(counterpart) not in seen]
        examples = _balanced(task, unseen, count=self.count) if task.recipe is Recipe.PAIRS else unseen[: self.count]
        if len(examples) < self.count:
            raise IsoglotError(
                f"of {num_drawn} {task.title} examples of this world too few are new: {len(examples)} where "
                f"{self.count} are asked for; lower synthetic.{self.split}_examples or enlarge the world"
            )
        return examples


def _balanced(task: Task[Any], examples: list[Any], *, count: int) -> list[Any]:
    # The first examples with as many of each label, since repeats are not equally frequent for all labels.
    labels = task.labels(examples)
    left = {label: (count + place) // len(labels) for place, label in enumerate(labels)}
    kept = []
    for example in examples:
        (label,) = task.gold_labels(example)
        if left[label]:
            left[label] -= 1
            kept.append(example)
    return kept


@dataclass(frozen=True, kw_only=True)
class ExampleFiles(Stage):
    """The user's examples, one file after the other."""

    kind: ClassVar[str] = "examples"
    leaves: ClassVar[tuple[str, ...]] = (COUNTS, f"{EXAMPLES}.*")
    task: str
    task_version: int
    split: str
    files: tuple[SourceFile, ...]
    splitting: WordSplitting
    splitter_version: str

    @property
    def title(self) -> str:
        names = ", ".join(file.path.name for file in self.files)
        return f"{task_named(self.task).title} {self.split} examples of {self.splitting.language}, {names}"

    def make(self, work: Work) -> None:
        task = task_named(self.task)
        examples, counts = task.read_official([file.path for file in self.files], splitting=self.splitting)
        labels = {label for example in examples for label in task.gold_labels(example)}
        if labels and all(task.scored(label) is None for label in labels):
            names = ", ".join(str(file.path) for file in self.files)
            raise IsoglotError(f"{names}: nothing in it is scored by {task.title}; is it the right file?")
        _write(task, examples, counts, work.folder)
        for file in self.files:
            file.check_unchanged()


AnyExamples = SyntheticExamples | ExampleFiles


def read_examples(task: Task[Any], folder: Path) -> list[Any]:
    return task.read(folder / (EXAMPLES + task.suffix))


def read_counts(folder: Path) -> dict[str, int]:
    counts: dict[str, int] = json.loads((folder / COUNTS).read_text(encoding="utf-8"))
    return counts


def _write(task: Task[Any], examples: list[Any], counts: dict[str, int], folder: Path) -> None:
    if not examples:
        raise IsoglotError(f"there are no examples of {task.title}; is the file empty?")
    (folder / (EXAMPLES + task.suffix)).write_text(task.text(examples), encoding="utf-8", newline="\n")
    (folder / COUNTS).write_text(json.dumps(counts | {"examples": len(examples)}) + "\n", encoding="utf-8")
