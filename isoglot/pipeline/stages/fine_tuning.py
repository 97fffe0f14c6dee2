"""A task's cell of Table 1: fine-tuning runs on the source language, and the mean of the best two settings."""

from __future__ import annotations

import json
import shutil
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pipeline.stages.examples import AnyExamples, SyntheticExamples, read_counts, read_examples
from isoglot.pipeline.stages.job_sizes import for_training
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model, guessed_training_seconds
from isoglot.pipeline.stages.scores import SCORES, Score, read_scores, scores_of, write_scores
from isoglot.pipeline.stages.training_log import unlearned_scores
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Amount, Resources, Stage, Work

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.fine_tuning import FineTuned
    from isoglot.evaluation.transfer.model import NewLayers
    from isoglot.evaluation.transfer.predictions import Evaluation
    from isoglot.machine import Machine
    from isoglot.model.encoder import Encoder

LOG = "log.jsonl"
DEV = "dev_"  # the prefix of metrics of the source language's dev set; the others are of test sets
PLACES = ("best_setting", "second_best_setting")  # the metrics that name the averaged settings, counted from 0
BEST_SETTINGS = len(PLACES)


@dataclass(frozen=True, kw_only=True)
class TaskTraining(Stage):
    """A task learned from examples of the source language; the epoch that is best on its dev set is tested."""

    rate_settings: ClassVar[tuple[str, ...]] = ("task",)
    resumes: ClassVar[tuple[str, ...]] = (f"{CHECKPOINTS}/*",)
    task: str
    task_version: int
    run: FineTuningRun
    encoder: AnyEncoder
    vocabulary: BuiltVocabulary
    train: AnyExamples
    dev: AnyExamples
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def operations_per_token(self) -> int:
        """The cost of one token of training, for a guess of the time."""
        return 6 * self.encoder.run.shape.num_parameters(table_size=0)

    @property
    def scored_layer(self) -> int | None:
        return None

    def learner(self, encoder: Encoder) -> Encoder | NewLayers:
        """The pretrained encoder, or what learns on top of it."""
        return encoder

    @abstractmethod
    def test_scores(self, work: Work, task: Task[Any], tuned: FineTuned, machine: Machine) -> Iterator[Score]: ...

    def amount(self) -> Amount | None:
        """Unknown before files are read, where an epoch is a pass over them."""
        examples = self.run.epoch_examples
        if examples is None and isinstance(self.train, SyntheticExamples):
            examples = self.train.count
        return None if examples is None else Amount(units=self.run.epochs * examples, of="examples")

    def guessed_seconds(self) -> float | None:
        """A guess as for pretraining, though sequences may be shorter than a window."""
        amount = self.amount()
        if amount is None:
            return None
        operations = self.operations_per_token * amount.units * self.run.most_tokens
        return guessed_training_seconds(updates=amount.units / self.run.batch, operations=operations)

    def share_done(self, folder: Path) -> float:
        from isoglot.model.checkpoints import stored_state

        return float(stored_state(folder).get("epoch", 0) / self.run.epochs)

    def resources(self) -> Resources:
        return for_training(self.encoder.run.shape, guessed_seconds=self.guessed_seconds())

    def make(self, work: Work) -> None:
        from isoglot.machine import this_machine

        task, machine, width = task_named(self.task), this_machine(), self.encoder.run.shape.width
        with machine.threads_for(num_activations=self.run.batch * self.run.most_tokens * width):
            tuned = self.fine_tuned(work, task, machine)
            (work.folder / LOG).write_text("".join(json.dumps(row) + "\n" for row in tuned.log), encoding="utf-8")
            scores = [Score(metric="diverged", layer=self.scored_layer, value=float(tuned.diverged))]
            # A run that diverged in its first epoch has no model to test.
            if tuned.log:
                best = max(tuned.log, key=lambda row: float(row["dev"][task.metric]))
                dev_scores = {DEV + metric: value for metric, value in best["dev"].items()}
                scores += scores_of(dev_scores, layer=self.scored_layer, language=self.run.language)
                scores.append(Score(metric="chosen_epoch", layer=self.scored_layer, value=best["epoch"]))
                scores += self.test_scores(work, task, tuned, machine)
        scores += unlearned_scores(
            work.path(self.encoder), source=self.encoder.run.languages[0], layer=self.scored_layer
        )
        write_scores(work.folder, scores)
        shutil.rmtree(work.folder / CHECKPOINTS, ignore_errors=True)

    def fine_tuned(self, work: Work, task: Task[Any], machine: Machine) -> FineTuned:
        from isoglot.evaluation.transfer.fine_tuning import FineTuner

        tuner = FineTuner(
            self.run,
            task,
            encoder=self.learner(chosen_model(work.path(self.encoder)).encoder),
            encoding=self.encoder.streams[self.run.language].encoding(work.path),
            train=read_examples(task, work.path(self.train)),
            dev=read_examples(task, work.path(self.dev)),
            folder=work.folder,
            machine=machine,
        )
        batch = self.run.batch
        return tuner.finish(lambda done, updates: work.progress(done * batch, updates * batch, "examples"))

    def tested(
        self, work: Work, task: Task[Any], gold: list[Any], tuned: FineTuned, *, language: str, machine: Machine
    ) -> Evaluation:
        from isoglot.evaluation.transfer.predictions import evaluate

        return evaluate(
            task,
            gold,
            model=tuned.model,
            labels=tuned.labels,
            encoding=self.encoder.streams[language].encoding(work.path),
            most_tokens=self.run.most_tokens,
            machine=machine,
        )


@dataclass(frozen=True, kw_only=True)
class FineTuning(TaskTraining):
    """Scores and predictions of one setting. The model is not kept: a grid of them would fill a disk."""

    kind: ClassVar[str] = "fine-tuning"
    leaves: ClassVar[tuple[str, ...]] = (SCORES, LOG, "*.gold.*", "*.predicted.*")
    bpe: Mapping[str, LearnedBpe]
    tests: Mapping[str, AnyExamples]  # the test sets by language, the source's included

    @property
    def title(self) -> str:
        rates = f"{self.run.learning_rate:g}"
        rates += f"/{self.run.head_learning_rate:g}" if self.run.head_learning_rate != self.run.learning_rate else ""
        return f"{task_named(self.task).title}, {self.label}, batch {self.run.batch}, rate {rates}"

    def test_scores(self, work: Work, task: Task[Any], tuned: FineTuned, machine: Machine) -> Iterator[Score]:
        for language, stage in sorted(self.tests.items()):
            gold = read_examples(task, work.path(stage))
            tested = self.tested(work, task, gold, tuned, language=language, machine=machine)
            files = prediction_files(work.folder, task, language)
            for path, examples in zip(files, (gold, tested.predicted), strict=True):
                path.write_text(task.text(examples), encoding="utf-8", newline="\n")
            values = {metric: float(value) for metric, value in (tested.scores | read_counts(work.path(stage))).items()}
            yield from scores_of(values, language=language)


def prediction_files(folder: Path, task: Task[Any], language: str) -> tuple[Path, Path]:
    return folder / f"{language}.gold{task.suffix}", folder / f"{language}.predicted{task.suffix}"


@dataclass(frozen=True, kw_only=True)
class ZeroShotTransfer(Stage):
    """Scores on test sets of the settings that the source language's dev set chooses (section 3.2)."""

    kind: ClassVar[str] = "zero-shot-transfer"
    leaves: ClassVar[tuple[str, ...]] = (SCORES,)
    task: str
    runs: tuple[FineTuning, ...]  # one for each setting of the grid
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return f"{task_named(self.task).title} transfer, {self.label}"

    def make(self, work: Work) -> None:
        title, fix = task_named(self.task).title, "lower the learning rates of the search under [change]"
        by_setting, counts = searched(self.runs, work, title=title, fix=fix)
        scores = [
            Score(metric=same[0].metric, language=same[0].language, value=fmean(score.value for score in same))
            for same in zip(*by_setting.values(), strict=True)
        ]
        write_scores(work.folder, scores + scores_of(dict(zip(PLACES, by_setting, strict=False)) | counts))


def searched(
    runs: Sequence[TaskTraining], work: Work, *, title: str, fix: str
) -> tuple[dict[int, list[Score]], dict[str, float]]:
    """The scores of the best two settings by their places, the best first, and how many settings diverged."""
    by_run = [read_scores(work.path(run)) for run in runs]
    best = best_settings(by_run, task=runs[0].task)
    if not best:
        raise IsoglotError(f"every setting of {title} diverged in its first epoch; {fix}")
    diverged = sum(score.value for scores in by_run for score in scores if score.metric == "diverged")
    kept = {number: [score for score in by_run[number] if score.metric != "diverged"] for number in best}
    return kept, {"settings_diverged": diverged, "settings_tried": len(runs)}


def best_settings(by_setting: Sequence[Sequence[Score]], *, task: str) -> list[int]:
    """Places of the best two by the dev set, the best first; the earlier one of equals, and none that diverged."""
    metric = DEV + task_named(task).metric
    dev = {place: score.value for place, scores in enumerate(by_setting) for score in scores if score.metric == metric}
    return sorted(dev, key=lambda place: -dev[place])[:BEST_SETTINGS]
