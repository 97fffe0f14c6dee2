"""Parallel sentences of two models: retrieval after a map at every layer (Figure 6), and similarity (Figure 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import rows_apart
from isoglot.pipeline.stages.readers import MAPS, TwoModelStage
from isoglot.pipeline.stages.scores import Score, scores_of, write_scores
from isoglot.pipeline.stages.translations import AnyParallelText, parallel_lines
from isoglot.store import Work
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.reader import EncoderReader
    from isoglot.evaluation.geometry.vectors import VectorMap


@dataclass(frozen=True, kw_only=True)
class SentenceAlignment(TwoModelStage):
    """Maps from the target's sentences to the source's, and retrieval of other sentences (section 5.1.3)."""

    kind: ClassVar[str] = "sentence-alignment"
    measured: ClassVar[str] = "map of sentences"
    version: ClassVar[int] = 2
    fit: AnyParallelText
    test: AnyParallelText
    rounds: int
    new_vectors: NewVectors

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.vectors import VectorMap, write_maps

        with self.readers(work) as readers:
            given, to_test = (
                [parallel_lines(work.path(text), language) for language in self.languages]
                for text in (self.fit, self.test)
            )
            to_fit = apart_from(to_test, given)
            (source_SND, target_SND), fit_cut = _vectors(readers, to_fit)
            (source_STD, target_STD), test_cut = _vectors(readers, to_test)
            maps = [
                VectorMap.fit(target_ND, source_ND, rounds=self.rounds)
                for source_ND, target_ND in zip(source_SND, target_SND, strict=True)
            ]
        write_maps(maps, work.folder / MAPS)
        num_cut = [a + b for a, b in zip(fit_cut, test_cut, strict=True)]
        scores = self.sentences_cut(num_cut, num_lines=len(to_fit[0]) + len(to_test[0]))
        values = {
            "aligned_retrieval_p1_chance": 100 / source_STD.shape[1],
            "fitted_pairs": source_SND.shape[1],
            "map_dimensions": source_SND.shape[2],
            "pairs_left_out": len(given[0]) - len(to_fit[0]),
        }
        scores += scores_of(values)
        for layer, (fitted, source_TD, target_TD) in enumerate(zip(maps, source_STD, target_STD, strict=True)):
            scores += self._scores(layer, fitted, source_TD, target_TD)
        write_scores(work.folder, scores)

    def _scores(self, layer: int, fitted: VectorMap, source_TD: Tensor, target_TD: Tensor) -> Iterator[Score]:
        """Both directions and their mean, for the study's way to map new vectors and for the other ways."""
        from isoglot.evaluation.geometry.retrieval import Measure, both_directions

        for new_vectors in NewVectors:
            to_target, to_source = both_directions(
                fitted.compared(source_TD, new_vectors=new_vectors),
                fitted.mapped(target_TD, new_vectors=new_vectors),
                None,
                measure=Measure.COSINE,
            )
            name = "aligned_retrieval_p1" + ("" if new_vectors is self.new_vectors else f"_{new_vectors.value}")
            values = {
                # Departure: both directions count; the paper does not say which one it takes.
                name: (to_target.at[1] + to_source.at[1]) / 2,
                f"{name}_to_target": to_target.at[1],
                f"{name}_to_source": to_source.at[1],
            }
            yield from scores_of(values, layer=layer)


def _vectors(readers: Sequence[EncoderReader], texts: Sequence[Sequence[str]]) -> tuple[list[Tensor], list[int]]:
    """The sentence vectors of each language, and the number of sentences that were cut."""
    from isoglot.evaluation.geometry.hidden_states import line_vectors

    vectors, num_cut = zip(*map(line_vectors, readers, texts), strict=True)
    return list(vectors), list(num_cut)


def apart_from(tests: Sequence[Sequence[str]], texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Parallel texts without the rows that have a line of the tests on either side."""
    kept = rows_apart((texts[0], texts[1]), tests=(tests[0], tests[1]))
    if not kept:
        raise IsoglotError(
            "all parallel sentences to fit a map on are among those that it is tested by; name other files under "
            "resources.mapping or resources.retrieval"
        )
    return [[lines[row] for row in kept] for lines in texts]


@dataclass(frozen=True, kw_only=True)
class Similarity(TwoModelStage):
    """CKA of parallel sentences (section 5.2), beside the measures of later work."""

    kind: ClassVar[str] = "similarity"
    measured: ClassVar[str] = "similarity"
    version: ClassVar[int] = 2
    parallel: AnyParallelText

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.cka import average_neuron_correlation, debiased_cka, linear_cka, svcca

        measures = {
            "cka": linear_cka,
            "cka_debiased": debiased_cka,
            "svcca": svcca,
            "neuron_correlation": average_neuron_correlation,
        }
        with self.readers(work) as readers:
            texts = [parallel_lines(work.path(self.parallel), language) for language in self.languages]
            (source_SND, target_SND), num_cut = _vectors(readers, texts)
        scores = self.sentences_cut(num_cut, num_lines=len(texts[0]))
        scores.append(Score(metric="sentences", value=source_SND.shape[1]))
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            values = {metric: float(measure(source_ND, target_ND)) for metric, measure in measures.items()}
            scores += scores_of(values, layer=layer)
        write_scores(work.folder, scores)
