"""When cross-lingual structure emerges: retrieval and CKA of the models that a run kept on its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isoglot.pipeline.stages.evaluation_log import chosen_evaluation, evaluations
from isoglot.pipeline.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.two_models import TwoModelStage
from isoglot.pretraining.run import BEST, INTERMEDIATE
from isoglot.store import Work

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.corpora.sentences import EncodedSentence
    from isoglot.evaluation.geometry.reader import EncoderReader


@dataclass(frozen=True, kw_only=True)
class StructureOverTraining(TwoModelStage):
    """Of one model that reads both languages, with no mapping; its last point is the model that was chosen."""

    kind: ClassVar[str] = "structure-over-training"
    retrieval: AnyParallelText | None
    """The sentences of `Emergence`."""
    similarity: AnyParallelText | None
    """Those of Figure 7."""

    @property
    def title(self) -> str:
        return f"structure over training, {self.label}"

    def make(self, work: Work) -> None:
        folders = kept_models(work.path(self.encoders[self.languages[0]]), source=self.languages[0])
        scores = []
        with self.readers(work) as readers:
            texts = {
                text.digest: self._sentences(work, text, readers) for text in (self.retrieval, self.similarity) if text
            }
            if self.retrieval is not None:
                chance = 100 / len(texts[self.retrieval.digest][0])
                scores.append(Score(metric="retrieval_p1_chance", value=chance))
            for place, (update, folder) in enumerate(folders.items()):
                _take_weights(readers, folder)
                vectors = {digest: _vectors(readers, sentences) for digest, sentences in texts.items()}
                scores += self._scores(vectors, update=update)
                work.progress(place + 1, len(folders), "models")
        write_scores(work.folder, scores)

    def _sentences(
        self, work: Work, text: AnyParallelText, readers: tuple[EncoderReader, EncoderReader]
    ) -> list[list[EncodedSentence]]:
        """Of both languages; all models of a run have the same vocabulary."""
        return [
            reader.sentences(parallel_lines(work.path(text), language))
            for language, reader in zip(self.languages, readers, strict=True)
        ]

    def _scores(self, vectors: dict[str, tuple[Tensor, Tensor]], *, update: int) -> Iterator[Score]:
        from isoglot.evaluation.geometry.cka import linear_cka
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision

        if self.retrieval is not None:
            for layer, (source_ND, target_ND) in enumerate(zip(*vectors[self.retrieval.digest], strict=True)):
                value = retrieval_precision(centred(source_ND), centred(target_ND))
                yield Score(metric="retrieval_p1", layer=layer, update=update, value=value)
        if self.similarity is not None:
            for layer, (source_ND, target_ND) in enumerate(zip(*vectors[self.similarity.digest], strict=True)):
                value = float(linear_cka(source_ND, target_ND))
                yield Score(metric="cka", layer=layer, update=update, value=value)


def kept_models(folder: Path, *, source: str) -> dict[int, Path]:
    """Where the models of a finished run are by their update, the chosen one among them."""
    kept = {int(each.name): each for each in (folder / INTERMEDIATE).glob("*") if each.name.isdecimal()}
    chosen = chosen_evaluation(evaluations(folder), source=source).update
    return dict(sorted((kept | {chosen: folder / BEST}).items()))


def _take_weights(readers: tuple[EncoderReader, EncoderReader], folder: Path) -> None:
    from isoglot.model.cloze import read_model

    weights = read_model(folder).encoder.state_dict()
    for reader in readers:
        reader.encoder.load_state_dict(weights)


def _vectors(
    readers: tuple[EncoderReader, EncoderReader], sentences: list[list[EncodedSentence]]
) -> tuple[Tensor, Tensor]:
    from isoglot.evaluation.geometry.hidden_states import sentence_vectors

    source_SND, target_SND = (
        sentence_vectors(reader, of_language) for reader, of_language in zip(readers, sentences, strict=True)
    )
    return source_SND, target_SND
