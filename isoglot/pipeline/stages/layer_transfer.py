"""A task learned on a layer of the source's model, asked of the target's model at the same layer (Figures 5 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.contextual_maps import ContextualMaps
from isoglot.pipeline.stages.examples import AnyExamples, read_counts, read_examples
from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.layer_heads import LAYERS, LayerHead
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.scores import Score, read_scores, write_scores
from isoglot.pipeline.stages.transfer import PLACES, best_settings, dev_score
from isoglot.pipeline.stages.two_models import MAPS
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from isoglot.evaluation.transfer.model import Mapped

BEST_SETTING = PLACES[0]


@dataclass(frozen=True, kw_only=True)
class LayerTransfer(Stage):
    """Scores in both languages of the setting that is best on the source's dev set."""

    kind: ClassVar[str] = "layer-transfer"
    heads: tuple[LayerHead, ...]
    """One for each setting, all of one task on one layer."""
    language: str
    """The target."""
    encoder: AnyEncoder
    """Which reads the target; that of the heads where one model reads both languages."""
    vocabulary: BuiltVocabulary
    bpe: LearnedBpe
    test: AnyExamples
    maps: ContextualMaps | None
    """From the target to the source; None: its states are read as they are."""
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
        of_heads = [read_scores(work.path(head)) for head in self.heads]
        chosen = self._best(of_heads)
        encoder = NewLayers(
            chosen_model(work.path(self.encoder)).encoder,
            layer=self.layer,
            count=self.heads[chosen].new_layers,
            mapped=self._mapped(work),
        )
        model, labels = read_task_layers(work.path(self.heads[chosen]) / LAYERS, task, encoder=encoder)
        run = self.heads[chosen].run
        with machine.threads_for(num_activations=run.batch * run.most_tokens * encoder.shape.width):
            found = evaluate(
                task,
                read_examples(task, work.path(self.test)),
                model=model.to(machine.device),
                labels=labels,
                encoding=Encoding(
                    language=self.language,
                    bpe=Bpe.read(work.path(self.bpe) / MERGES),
                    vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
                ),
                most_tokens=run.most_tokens,
                machine=machine,
            )
        told = found.scores | {metric: float(count) for metric, count in read_counts(work.path(self.test)).items()}
        diverged = sum(score.value for scores in of_heads for score in scores if score.metric == "diverged")
        of_search = {BEST_SETTING: chosen, "settings_diverged": diverged, "settings_tried": len(self.heads)}
        write_scores(
            work.folder,
            [
                *(
                    Score(metric=metric, layer=self.layer, language=self.language, value=value)
                    for metric, value in told.items()
                ),
                *(score for score in of_heads[chosen] if score.metric != "diverged"),
                *(Score(metric=metric, layer=self.layer, value=value) for metric, value in of_search.items()),
            ],
        )

    def _best(self, of_heads: Sequence[Sequence[Score]]) -> int:
        """The place of the best setting."""
        best = best_settings([dev_score(scores, self.task) for scores in of_heads])
        if not best:
            raise IsoglotError(
                f"every setting of {task_named(self.task).title} on layer {self.layer} diverged in its first epoch; "
                "lower change.alignment.layer_tasks.learning_rates"
            )
        return best[0]

    def _mapped(self, work: Work) -> Mapped | None:
        from isoglot.evaluation.geometry.vector_maps import read_maps

        if self.maps is None or self.new_vectors is None:
            return None
        return partial(read_maps(work.path(self.maps) / MAPS)[self.layer].mapped, new_vectors=self.new_vectors)
