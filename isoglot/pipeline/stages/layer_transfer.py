"""New layers that learn a task on a frozen layer of the source's model, then read the target's (Figures 5 and 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.contextual_maps import ContextualMaps
from isoglot.pipeline.stages.examples import AnyExamples, read_counts, read_examples
from isoglot.pipeline.stages.fine_tuning import PLACES, TaskTraining, best_settings, dev_score, num_diverged
from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.readers import MAPS
from isoglot.pipeline.stages.scores import Score, read_scores, scores_of, write_scores
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe, opened_encoding
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from isoglot.corpora.sentences import Encoding
    from isoglot.evaluation.transfer.fine_tuning import FineTuned
    from isoglot.evaluation.transfer.model import Mapped, NewLayers
    from isoglot.machine import Machine
    from isoglot.model.encoder import Encoder

LAYERS = "layers.safetensors"


@dataclass(frozen=True, kw_only=True)
class LayerHead(TaskTraining):
    """The new layers of one setting, with their scores on the source (section 5.1.2)."""

    kind: ClassVar[str] = "layer-head"
    layer: int
    """The last frozen layer, counted from 0, the embeddings."""
    new_layers: int
    bpe: LearnedBpe
    test: AnyExamples

    @property
    def title(self) -> str:
        place = f"{task_named(self.task).title} on layer {self.layer}"
        return f"{place}, {self.label}, batch {self.run.batch}, rate {self.run.learning_rate:g}"

    @property
    def operations_per_token(self) -> int:
        """Frozen layers are passed once, new layers three times."""
        frozen, new = (
            replace(self.encoder.run.shape, layers=layers).num_parameters(table_size=0)
            for layers in (self.layer, self.new_layers)
        )
        return 2 * (frozen + 3 * new)

    @property
    def scored_layer(self) -> int:
        return self.layer

    def encoding(self, work: Work, language: str) -> Encoding:
        return opened_encoding(work.path, language=language, bpe=self.bpe, vocabulary=self.vocabulary)

    def learner(self, encoder: Encoder) -> NewLayers:
        from isoglot.evaluation.transfer.model import drawn_layers

        return drawn_layers(encoder, layer=self.layer, count=self.new_layers, seed=self.run.seed)

    def test_scores(self, work: Work, task: Task[Any], tuned: FineTuned, machine: Machine) -> Iterator[Score]:
        from isoglot.evaluation.transfer.model import write_task_layers

        gold = read_examples(task, work.path(self.test))
        tested = self.tested(work, task, gold, tuned, language=self.run.language, machine=machine)
        write_task_layers(tuned.model, work.folder / LAYERS, labels=tuned.labels)
        yield from scores_of(tested.scores, layer=self.layer, language=self.run.language)


@dataclass(frozen=True, kw_only=True)
class LayerTransfer(Stage):
    """Scores in both languages of the setting that is best on the source's dev set."""

    kind: ClassVar[str] = "layer-transfer"
    heads: tuple[LayerHead, ...]
    """One for each setting, all of one task on one layer."""
    language: str
    """The target."""
    encoder: AnyEncoder
    """The reader of the target; the encoder of the heads where one model reads both languages."""
    vocabulary: BuiltVocabulary
    bpe: LearnedBpe
    test: AnyExamples
    maps: ContextualMaps | None
    """Maps from the target to the source; with None its states are read as they are."""
    new_vectors: NewVectors | None
    """How states are mapped; None where they are not."""
    label: str = field(metadata=NOT_IDENTITY)

    def __post_init__(self) -> None:
        if (self.maps is None) != (self.new_vectors is None):
            raise ValueError("maps and new_vectors go together: give both, or neither")
        if any(head.encoder.run.shape != self.encoder.run.shape for head in self.heads):
            raise IsoglotError(
                f"{self.title}: the models of both languages must have one shape, as one reads with layers learned on "
                "the other; give them the same scale"
            )
        # Departure: lengths that normalization took away cannot be given back, and task layers learned on raw states.
        if self.new_vectors is NewVectors.NORMALIZED:
            raise IsoglotError(
                "alignment.new_vectors: the layers of a task learned on states as they are and cannot read normalised "
                'ones; take "centred" or "rotated" for Figures 5 and 8'
            )

    @property
    def task(self) -> str:
        return self.heads[0].task

    @property
    def layer(self) -> int:
        return self.heads[0].layer

    @property
    def title(self) -> str:
        mapped = "mapped " if self.maps else ""
        return f"{task_named(self.task).title} transfer from {mapped}layer {self.layer}, {self.label}"

    def resources(self) -> Resources:
        return for_reading(self.encoder.run.shape)

    def make(self, work: Work) -> None:
        from isoglot.evaluation.transfer.model import NewLayers, read_task_layers
        from isoglot.evaluation.transfer.predictions import evaluate
        from isoglot.machine import this_machine

        task, machine = task_named(self.task), this_machine()
        by_head = [read_scores(work.path(head)) for head in self.heads]
        best = best_settings([dev_score(scores, self.task) for scores in by_head])
        if not best:
            raise IsoglotError(
                f"every setting of {task.title} on layer {self.layer} diverged in its first epoch; "
                "lower change.alignment.layer_tasks.learning_rates"
            )
        head, run = self.heads[best[0]], self.heads[best[0]].run
        encoder = NewLayers(
            chosen_model(work.path(self.encoder)).encoder,
            layer=self.layer,
            count=head.new_layers,
            mapped=self._mapped(work),
        )
        model, labels = read_task_layers(work.path(head) / LAYERS, task, encoder=encoder)
        with machine.threads_for(num_activations=run.batch * run.most_tokens * encoder.shape.width):
            tested = evaluate(
                task,
                read_examples(task, work.path(self.test)),
                model=model.to(machine.device),
                labels=labels,
                encoding=opened_encoding(work.path, language=self.language, bpe=self.bpe, vocabulary=self.vocabulary),
                most_tokens=run.most_tokens,
                machine=machine,
            )
        values = {metric: float(value) for metric, value in (tested.scores | read_counts(work.path(self.test))).items()}
        scores = scores_of(values, layer=self.layer, language=self.language)
        scores += [score for score in by_head[best[0]] if score.metric != "diverged"]
        search = {PLACES[0]: best[0], "settings_diverged": num_diverged(by_head), "settings_tried": len(self.heads)}
        write_scores(work.folder, scores + scores_of(search, layer=self.layer))

    def _mapped(self, work: Work) -> Mapped | None:
        from isoglot.evaluation.geometry.vectors import read_maps

        if self.maps is None or self.new_vectors is None:
            return None
        return partial(read_maps(work.path(self.maps) / MAPS)[self.layer].mapped, new_vectors=self.new_vectors)
