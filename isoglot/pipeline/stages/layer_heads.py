"""One setting of a task learned by new layers on a frozen layer of the source's model (section 5.1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import AnyExamples, read_examples
from isoglot.pipeline.stages.fine_tuning import DEV, best_epoch, fine_tuned, training_amount, tuned_share
from isoglot.pipeline.stages.job_sizes import for_training
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model, guessed_training_seconds
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Amount, Resources, Stage, Work

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.fine_tuning import FineTuned

LAYERS = "layers.safetensors"


@dataclass(frozen=True, kw_only=True)
class LayerHead(Stage):
    """The layers that were learned, for models of other languages to stand under, and their scores on the source."""

    kind: ClassVar[str] = "layer-head"
    rate_settings: ClassVar[tuple[str, ...]] = ("task",)
    task: str
    task_version: int
    run: FineTuningRun
    """Whose encoder is the new layers: they learn at its rate."""
    layer: int
    """The last that is frozen, counted from 0, the embeddings."""
    new_layers: int
    encoder: AnyEncoder
    vocabulary: BuiltVocabulary
    bpe: LearnedBpe
    train: AnyExamples
    dev: AnyExamples
    test: AnyExamples
    """All of the source."""
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        place = f"{task_named(self.task).title} on layer {self.layer}"
        return f"{place}, {self.label}, batch {self.run.batch}, rate {self.run.learning_rate:g}"

    def amount(self) -> Amount | None:
        return training_amount(self.run, self.train)

    def guessed_seconds(self) -> float | None:
        """As for fine-tuning; what is frozen is passed once, where what learns is passed three times."""
        amount = self.amount()
        if amount is None:
            return None
        shape = self.encoder.run.shape
        passes = sum(
            times * replace(shape, layers=layers).num_parameters(table_size=0)
            for times, layers in ((1, self.layer), (3, self.new_layers))
        )
        operations = 2 * passes * amount.units * self.run.most_tokens
        return guessed_training_seconds(updates=amount.units / self.run.batch, operations=operations)

    def share_done(self, folder: Path) -> float:
        return tuned_share(self.run, folder)

    def resources(self) -> Resources:
        return for_training(self.encoder.run.shape, guessed_seconds=self.guessed_seconds())

    def make(self, work: Work) -> None:
        from isoglot.evaluation.transfer.fine_tuning import forget_checkpoints
        from isoglot.evaluation.transfer.model import drawn_layers, write_task_layers
        from isoglot.evaluation.transfer.predictions import evaluate
        from isoglot.machine import this_machine

        task, machine = task_named(self.task), this_machine()
        encoding = Encoding(
            language=self.run.language,
            bpe=Bpe.read(work.path(self.bpe) / MERGES),
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        )
        encoder = chosen_model(work.path(self.encoder)).encoder
        with machine.threads_for(num_activations=self.run.batch * self.run.most_tokens * encoder.shape.width):
            tuned = fine_tuned(
                self.run,
                task,
                encoder=drawn_layers(encoder, layer=self.layer, count=self.new_layers, seed=self.run.seed),
                encoding=encoding,
                train=self.train,
                dev=self.dev,
                work=work,
                machine=machine,
            )
            scores = [Score(metric="diverged", layer=self.layer, value=float(tuned.diverged))]
            # Where no epoch came to its end there is nothing to test.
            if tuned.log:
                scores += self._dev_scores(task, tuned)
                found = evaluate(
                    task,
                    read_examples(task, work.path(self.test)),
                    model=tuned.model,
                    labels=tuned.labels,
                    encoding=encoding,
                    most_tokens=self.run.most_tokens,
                    machine=machine,
                )
                scores += self._of_source(found.scores)
                write_task_layers(tuned.model, work.folder / LAYERS, labels=tuned.labels)
        write_scores(work.folder, scores)
        forget_checkpoints(work.folder)

    def _dev_scores(self, task: Task[Any], tuned: FineTuned) -> Iterator[Score]:
        best = best_epoch(tuned.log, task)
        yield from self._of_source({DEV + metric: value for metric, value in best["dev"].items()})
        yield Score(metric="chosen_epoch", layer=self.layer, value=best["epoch"])

    def _of_source(self, scores: dict[str, float]) -> Iterator[Score]:
        for metric, value in scores.items():
            yield Score(metric=metric, layer=self.layer, language=self.run.language, value=value)
