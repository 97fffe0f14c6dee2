"""One setting of a task's grid: fine-tuned on the source language, tested on it and on the target."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.model.checkpoints import stored_progression
from isoglot.pipeline.stages.examples import AnyExamples, SyntheticExamples, read_counts, read_examples
from isoglot.pipeline.stages.job_sizes import for_training
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model, guessed_training_seconds
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Amount, Resources, Stage, Work

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.fine_tuning import FineTuned
    from isoglot.evaluation.transfer.model import NewLayers
    from isoglot.machine import Machine
    from isoglot.model.encoder import Encoder

LOG = "log.jsonl"
DEV = "dev_"
"""Before the name of a metric of the source language's dev set; the others are of test sets."""


@dataclass(frozen=True, kw_only=True)
class FineTuning(Stage):
    """Scores and predictions of one run. The model is not kept: a grid of them would fill a disk."""

    kind: ClassVar[str] = "fine-tuning"
    rate_settings: ClassVar[tuple[str, ...]] = ("task",)
    task: str
    task_version: int
    run: FineTuningRun
    encoder: AnyEncoder
    vocabulary: BuiltVocabulary
    bpe: Mapping[str, LearnedBpe]
    train: AnyExamples
    dev: AnyExamples
    tests: Mapping[str, AnyExamples]
    """By language, the source among them."""
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        rates = f"{self.run.learning_rate:g}"
        rates += f"/{self.run.head_learning_rate:g}" if self.run.head_learning_rate != self.run.learning_rate else ""
        return f"{task_named(self.task).title}, {self.label}, batch {self.run.batch}, rate {rates}"

    def amount(self) -> Amount | None:
        return training_amount(self.run, self.train)

    def guessed_seconds(self) -> float | None:
        """As for pretraining, though sequences may be shorter than a window."""
        amount = self.amount()
        if amount is None:
            return None
        operations = 6 * self.encoder.run.shape.num_parameters(table_size=0) * amount.units * self.run.most_tokens
        return guessed_training_seconds(updates=amount.units / self.run.batch, operations=operations)

    def share_done(self, folder: Path) -> float:
        return tuned_share(self.run, folder)

    def resources(self) -> Resources:
        return for_training(self.encoder.run.shape, guessed_seconds=self.guessed_seconds())

    def make(self, work: Work) -> None:
        from isoglot.evaluation.transfer.fine_tuning import forget_checkpoints
        from isoglot.machine import this_machine

        task, machine = task_named(self.task), this_machine()
        vocabulary = Vocabulary.read(work.path(self.vocabulary) / VOCABULARY)
        encodings = {
            language: Encoding(
                language=language, bpe=Bpe.read(work.path(self.bpe[language]) / MERGES), vocabulary=vocabulary
            )
            for language in self.tests
        }
        encoder = chosen_model(work.path(self.encoder)).encoder
        with machine.threads_for(num_activations=self.run.batch * self.run.most_tokens * encoder.shape.width):
            tuned = fine_tuned(
                self.run,
                task,
                encoder=encoder,
                encoding=encodings[self.run.language],
                train=self.train,
                dev=self.dev,
                work=work,
                machine=machine,
            )
            scores = [Score(metric="diverged", value=float(tuned.diverged))]
            # Where no epoch came to its end there is nothing to test.
            if tuned.log:
                scores += self._dev_scores(task, tuned)
                scores += self._test_scores(work, task, tuned, encodings, machine)
        write_scores(work.folder, scores)
        forget_checkpoints(work.folder)

    def _dev_scores(self, task: Task[Any], tuned: FineTuned) -> Iterator[Score]:
        best = best_epoch(tuned.log, task)
        for metric, value in best["dev"].items():
            yield Score(metric=DEV + metric, value=value, language=self.run.language)
        yield Score(metric="chosen_epoch", value=best["epoch"])

    def _test_scores(
        self,
        work: Work,
        task: Task[Any],
        tuned: FineTuned,
        encodings: Mapping[str, Encoding],
        machine: Machine,
    ) -> Iterator[Score]:
        from isoglot.evaluation.transfer.predictions import evaluate

        for language, stage in sorted(self.tests.items()):
            gold = read_examples(task, work.path(stage))
            found = evaluate(
                task,
                gold,
                model=tuned.model,
                labels=tuned.labels,
                encoding=encodings[language],
                most_tokens=self.run.most_tokens,
                machine=machine,
            )
            for path, examples in zip(
                prediction_files(work.folder, task, language), (gold, found.predicted), strict=True
            ):
                path.write_text(task.text(examples), encoding="utf-8", newline="\n")
            told = found.scores | {metric: float(count) for metric, count in read_counts(work.path(stage)).items()}
            for metric, value in told.items():
                yield Score(metric=metric, value=value, language=language)


def fine_tuned(
    run: FineTuningRun,
    task: Task[Any],
    *,
    encoder: Encoder | NewLayers,
    encoding: Encoding,
    train: AnyExamples,
    dev: AnyExamples,
    work: Work,
    machine: Machine,
) -> FineTuned:
    """A run to its end, told as it goes, and its log in the folder of the work."""
    from isoglot.evaluation.transfer.fine_tuning import FineTuner

    def report(done: int, updates: int) -> None:
        work.progress(done * run.batch, updates * run.batch, "examples")

    tuner = FineTuner(
        run,
        task,
        encoder=encoder,
        encoding=encoding,
        train=read_examples(task, work.path(train)),
        dev=read_examples(task, work.path(dev)),
        folder=work.folder,
        machine=machine,
    )
    tuned = tuner.finish(report)
    (work.folder / LOG).write_text("".join(json.dumps(row) + "\n" for row in tuned.log), encoding="utf-8")
    return tuned


def training_amount(run: FineTuningRun, train: AnyExamples) -> Amount | None:
    """Unknown before files are read, where an epoch is a pass over them."""
    examples = run.epoch_examples
    if examples is None and isinstance(train, SyntheticExamples):
        examples = train.count
    return None if examples is None else Amount(units=run.epochs * examples, of="examples")


def tuned_share(run: FineTuningRun, folder: Path) -> float:
    """What part of its epochs the checkpoint of an interrupted attempt has."""
    return float(stored_progression(folder).get("epoch", 0) / run.epochs)


def best_epoch(log: Sequence[dict[str, Any]], task: Task[Any]) -> dict[str, Any]:
    """Its row of the log."""
    return max(log, key=lambda row: float(row["dev"][task.metric]))


def prediction_files(folder: Path, task: Task[Any], language: str) -> tuple[Path, Path]:
    """Gold and predicted test examples of a language."""
    return folder / f"{language}.gold{task.suffix}", folder / f"{language}.predicted{task.suffix}"
