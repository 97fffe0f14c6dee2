"""How alike two models are on sentences that say the same, at every layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.stages.scores import Score, write_scores
from isoglot.stages.two_models import OfTwoModels
from isoglot.store import Work

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Similarity(OfTwoModels):
    """Figure 7 (section 5.2), and beside CKA the measures that later work asks for."""

    kind: ClassVar[str] = "similarity"
    version: ClassVar[int] = 2
    parallel: AnyParallelText

    @property
    def title(self) -> str:
        return f"similarity, {self.label}"

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.hidden_states import line_vectors

        with self.readers(work) as readers:
            texts = [parallel_lines(work.path(self.parallel), language) for language in self.languages]
            (source_SND, source_cut), (target_SND, target_cut) = (
                line_vectors(reader, lines) for reader, lines in zip(readers, texts, strict=True)
            )
        scores = self.sentences_cut((source_cut, target_cut), of=len(texts[0]))
        scores.append(Score(metric="sentences", value=source_SND.shape[1]))
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            scores += _scores(layer, source_ND, target_ND)
        write_scores(work.folder, scores)


def _scores(layer: int, source_ND: Tensor, target_ND: Tensor) -> Iterator[Score]:
    from isoglot.evaluation.geometry.cka import average_neuron_correlation, debiased_cka, linear_cka, svcca

    yield Score(metric="cka", layer=layer, value=float(linear_cka(source_ND, target_ND)))
    yield Score(metric="cka_debiased", layer=layer, value=float(debiased_cka(source_ND, target_ND)))
    yield Score(metric="svcca", layer=layer, value=float(svcca(source_ND, target_ND)))
    yield Score(metric="neuron_correlation", layer=layer, value=float(average_neuron_correlation(source_ND, target_ND)))
