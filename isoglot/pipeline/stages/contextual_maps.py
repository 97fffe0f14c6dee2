"""A map at every layer from words of the target in their sentences to the words of the source that translate them."""

# P = words of a text, K = links, D = width

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.two_models import MAPS, TwoModelStage
from isoglot.pipeline.stages.word_alignments import WordAlignments, read_links
from isoglot.store import Work
from isoglot.study.searches import NewVectors, Subwords

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.hidden_states import WordVectors
    from isoglot.evaluation.geometry.vector_maps import VectorMap


@dataclass(frozen=True, kw_only=True)
class ContextualMaps(TwoModelStage):
    """Fitted on pairs of words in parallel sentences, each link of the aligner a pair (section 5.1.2)."""

    kind: ClassVar[str] = "contextual-maps"
    parallel: AnyParallelText
    links: WordAlignments
    """Of this very text."""
    subwords: Subwords
    rounds: int

    def __post_init__(self) -> None:
        if any(getattr(self, name) != getattr(self.links, name) for name in ("parallel", "languages", "splittings")):
            raise ValueError("links must be of the text whose words are mapped, split as it is split here")

    @property
    def title(self) -> str:
        return f"maps of words in context, {self.label}"

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.hidden_states import word_vectors
        from isoglot.evaluation.geometry.vector_maps import VectorMap, write_maps

        links = read_links(work.path(self.links))
        maps, scores = [], []
        with self.readers(work) as readers:
            texts = [
                reader.sentences(parallel_lines(work.path(self.parallel), language))
                for reader, language in zip(readers, self.languages, strict=True)
            ]
            # One layer at a time, as the words of all of them would not fit into memory.
            for layer in range(readers[0].num_states):
                source, target = (
                    word_vectors(reader, sentences, layer=layer, subwords=self.subwords)
                    for reader, sentences in zip(readers, texts, strict=True)
                )
                goal_KD, origin_KD = (each.to(readers[0].device) for each in _linked(links, source, target))
                # Departure: vectors are normalised over the words that have links, a word once for each of its links.
                found = VectorMap.fit(origin_KD, goal_KD, rounds=self.rounds)
                maps.append(found)
                scores.append(Score(metric="link_cosine", layer=layer, value=_mean_cosine(found, origin_KD, goal_KD)))
                work.progress(layer + 1, readers[0].num_states, "layers")
        write_maps(maps, work.folder / MAPS)
        num_links = sum(map(len, links))
        write_scores(
            work.folder,
            [
                Score(metric="linked_words", value=len(origin_KD)),
                Score(metric="links_read", value=100 * len(origin_KD) / num_links),
                *scores,
            ],
        )


def _linked(
    links: Sequence[Sequence[tuple[int, int]]], source: WordVectors, target: WordVectors
) -> tuple[Tensor, Tensor]:
    """Row k of both is one link; a link to a word that was cut off its sentence is left out."""
    source_rows, target_rows = (
        {at: row for row, at in enumerate(zip(each.sentence_P.tolist(), each.place_P.tolist(), strict=True))}
        for each in (source, target)
    )
    pairs = [
        (source_rows[number, own], target_rows[number, other])
        for number, of_sentence in enumerate(links)
        for own, other in of_sentence
        if (number, own) in source_rows and (number, other) in target_rows
    ]
    if not pairs:
        raise IsoglotError("no word of the parallel text is linked to a word of the other side; give more sentences")
    source_K, target_K = map(list, zip(*pairs, strict=True))
    return source.vector_PD[source_K], target.vector_PD[target_K]


def _mean_cosine(found: VectorMap, origin_KD: Tensor, goal_KD: Tensor) -> float:
    """Of linked words after the map, both normalised; about 0 for words that have nothing to do with each other."""
    import torch

    mapped_KD = found.mapped(origin_KD, new_vectors=NewVectors.NORMALIZED)
    goal_KD = found.compared(goal_KD, new_vectors=NewVectors.NORMALIZED)
    return float(torch.cosine_similarity(mapped_KD, goal_KD, dim=1).mean())
