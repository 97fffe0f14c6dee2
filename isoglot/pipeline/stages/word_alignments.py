"""Which words of parallel sentences translate each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.words import split_lines
from isoglot.evaluation.geometry.word_alignment import Link, pharaoh_line, pharaoh_links
from isoglot.pipeline.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.text import read_lines, write_lines
from isoglot.store import Resources, Stage, Work
from isoglot.study.languages import WordSplitting

LINKS = "links.txt"


@dataclass(frozen=True, kw_only=True)
class WordAlignments(Stage):
    """Links of fast_align's model, or of a program of the user's own: a Pharaoh line for each sentence pair."""

    kind: ClassVar[str] = "word-alignments"
    parallel: AnyParallelText
    languages: tuple[str, str]
    """Source first."""
    splittings: Mapping[str, WordSplitting]
    splitter_versions: Mapping[str, str]
    """So that words found by another version of a library are other words."""
    aligner: tuple[str, ...] = ()
    """A command in the place of our model."""
    aligner_version: str = ""
    """So that links found by another build of the program are other links."""

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
    """The links of each sentence pair, places of words from 0, source first."""
    return [pharaoh_links(line) for line in read_lines(folder / LINKS)]
