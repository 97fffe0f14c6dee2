"""Links between words of parallel sentences, and maps from the target's words in context to the source's."""

# P = words of a text, K = links, D = width

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.word_alignment import Link, pharaoh_line, pharaoh_links
from isoglot.pipeline.stages.readers import MAPS, TwoModelStage, parallel_sentences
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.text import read_lines, write_lines
from isoglot.pipeline.stages.translations import AnyParallelText, parallel_lines
from isoglot.store import Resources, Stage, Work
from isoglot.study.languages import WordSplitting
from isoglot.study.searches import NewVectors, Subwords

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.hidden_states import WordVectors
    from isoglot.evaluation.geometry.vectors import VectorMap

LINKS = "links.txt"


@dataclass(frozen=True, kw_only=True)
class WordAlignments(Stage):
    """Links of fast_align's model or of the user's own program: a Pharaoh line for each sentence pair."""

    kind: ClassVar[str] = "word-alignments"
    parallel: AnyParallelText
    languages: tuple[str, str]
    """The source first."""
    splittings: Mapping[str, WordSplitting]
    splitter_versions: Mapping[str, str]
    """Another version of a library may find other words."""
    aligner: tuple[str, ...] = ()
    """A command that replaces our model."""
    aligner_version: str = ""
    """Another build of the program may find other links."""

    @property
    def title(self) -> str:
        return f"word alignments of {' and '.join(self.languages)}"

    def resources(self) -> Resources:
        return Resources(gigabytes=16, hours=8)

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.word_alignment import aligned, externally_aligned

        source, target = (
            split_lines(parallel_lines(work.path(self.parallel), language), self.splittings[language])
            for language in self.languages
        )
        pairs = list(zip(source, target, strict=True))
        links = externally_aligned(pairs, command=self.aligner) if self.aligner else aligned(pairs)
        write_lines(work.folder / LINKS, [pharaoh_line(each) for each in links])


def read_links(folder: Path) -> list[list[Link]]:
    """The links of each sentence pair: places of words from 0, source first."""
    return [pharaoh_links(line) for line in read_lines(folder / LINKS)]


@dataclass(frozen=True, kw_only=True)
class ContextualMaps(TwoModelStage):
    """A map at every layer, fitted on the linked words of parallel sentences (section 5.1.2)."""

    kind: ClassVar[str] = "contextual-maps"
    measured: ClassVar[str] = "maps of words in context"
    parallel: AnyParallelText
    links: WordAlignments
    subwords: Subwords
    rounds: int

    def __post_init__(self) -> None:
        if any(getattr(self, name) != getattr(self.links, name) for name in ("parallel", "languages", "splittings")):
            raise ValueError("links must be of the text whose words are mapped, split as it is split here")

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.hidden_states import word_vectors
        from isoglot.evaluation.geometry.vectors import VectorMap, write_maps

        links = read_links(work.path(self.links))
        maps, scores = [], []
        with self.readers(work) as readers:
            texts = parallel_sentences(work, self.parallel, readers)
            # One layer at a time, as the words of all layers would not fit into memory.
            for layer in range(readers[0].num_states):
                source, target = (
                    word_vectors(reader, sentences, layer=layer, subwords=self.subwords)
                    for reader, sentences in zip(readers, texts, strict=True)
                )
                goal_KD, origin_KD = (each.to(readers[0].device) for each in _linked(links, source, target))
                # Departure: vectors are normalised over the words that have links, a word once for each of its links.
                maps.append(VectorMap.fit(origin_KD, goal_KD, rounds=self.rounds))
                cosine = _mean_cosine(maps[-1], origin_KD, goal_KD)
                scores.append(Score(metric="link_cosine", layer=layer, value=cosine))
                work.progress(layer + 1, readers[0].num_states, "layers")
        write_maps(maps, work.folder / MAPS)
        read = Score(metric="linked_words", value=len(origin_KD))
        share = Score(metric="links_read", value=100 * len(origin_KD) / sum(map(len, links)))
        write_scores(work.folder, [read, share, *scores])


def _linked(links: Sequence[Sequence[Link]], source: WordVectors, target: WordVectors) -> tuple[Tensor, Tensor]:
    """Row k of both is one link; links to words that were cut off their sentence are left out."""
    source_rows, target_rows = (
        {at: row for row, at in enumerate(zip(each.sentence_P.tolist(), each.place_P.tolist(), strict=True))}
        for each in (source, target)
    )
    pairs = [
        (source_rows[number, own], target_rows[number, other])
        for number, sentence_links in enumerate(links)
        for own, other in sentence_links
        if (number, own) in source_rows and (number, other) in target_rows
    ]
    if not pairs:
        raise IsoglotError("no word of the parallel text is linked to a word of the other side; give more sentences")
    source_K, target_K = map(list, zip(*pairs, strict=True))
    return source.vector_PD[source_K], target.vector_PD[target_K]


def _mean_cosine(fitted: VectorMap, origin_KD: Tensor, goal_KD: Tensor) -> float:
    """The cosine of linked words after the map, both normalised; about 0 for unrelated words."""
    import torch

    mapped_KD = fitted.mapped(origin_KD, new_vectors=NewVectors.NORMALIZED)
    goal_KD = fitted.compared(goal_KD, new_vectors=NewVectors.NORMALIZED)
    return float(torch.cosine_similarity(mapped_KD, goal_KD, dim=1).mean())
