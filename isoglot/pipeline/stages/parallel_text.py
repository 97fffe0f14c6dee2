"""Sentences that say the same in several languages, made up or read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.corpora.synthetic.entailment import paraphrased
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import LEAST_LINES, mismatch
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import LINES, SyntheticText, read_lines, write_lines
from isoglot.randomness import derived_seed
from isoglot.store import Stage, Work
from isoglot.study.languages import PRIME
from isoglot.study.synthetic_languages import SyntheticLanguage, World

EXCESS = 4
"""How many times too many sentences are drawn; most of what is said twice is short."""


@dataclass(frozen=True, kw_only=True)
class SyntheticParallelText(Stage):
    """Meanings realised in every language; no line of it stands in what it is to be apart from."""

    kind: ClassVar[str] = "parallel-text"
    version: ClassVar[int] = 3
    world: World
    languages: tuple[SyntheticLanguage, ...]
    texts: tuple[SyntheticText, ...]
    """What models are trained on."""
    apart_from: tuple[SyntheticParallelText, ...] = ()
    purpose: str = "parallel"
    """Texts of another purpose are other draws."""
    sentences: int

    @property
    def title(self) -> str:
        of = "" if self.purpose == "parallel" else f" for {self.purpose}"
        return f"parallel sentences of {' and '.join(self.names)}{of}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(language.name for language in self.languages)

    def make(self, work: Work) -> None:
        count = EXCESS * self.sentences
        meanings = draw_meanings(self.world, count=count, seed=derived_seed(self.world.seed, self.purpose))
        realised = [realise(meanings, language, world=self.world) for language in self.languages]
        texts = {line for text in self.texts for line in read_lines(work.path(text) / LINES)}
        for other in self.apart_from:
            texts |= {line for name in other.names for line in parallel_lines(work.path(other), name)}
        kept = _new_rows(realised, seen=texts)[: self.sentences]
        _check_enough(kept, of=count, wanted=self.sentences, key=f"{self.purpose}_sentences")
        for language, lines in zip(self.languages, realised, strict=True):
            write_lines(work.folder / f"{language.name}.txt", [lines[row] for row in kept])


def _new_rows(columns: list[list[str]], *, seen: set[str]) -> list[int]:
    """Rows none of whose lines was seen, in the texts or in a row before: two right answers would spoil retrieval."""
    known = set(seen)
    kept = []
    for row, lines in enumerate(zip(*columns, strict=True)):
        if known.isdisjoint(lines):
            kept.append(row)
        known.update(lines)
    return kept


def _check_enough(kept: list[int], *, of: int, wanted: int, key: str) -> None:
    if len(kept) < wanted:
        raise IsoglotError(
            f"of {of} sentences of this world only {len(kept)} differ from each other and from the texts; "
            f"lower synthetic.{key} or enlarge the world"
        )


@dataclass(frozen=True, kw_only=True)
class ParallelFiles(Stage):
    """Parallel sentences that the user has: one file for both languages, or one for each, as often as they like."""

    kind: ClassVar[str] = "parallel-files"
    files: tuple[SourceFile, ...]
    languages: tuple[str, str]

    @property
    def title(self) -> str:
        return f"parallel sentences of {' and '.join(self.languages)}, {self.files[0].path.name}"

    def make(self, work: Work) -> None:
        paths = [file.path for file in self.files]
        read = [read_parallel(paths[place : place + 2], languages=self.languages) for place in range(0, len(paths), 2)]
        lines = {
            language: [line for parallel in read for line in parallel.sentences[language]]
            for language in self.languages
        }
        source, target = self.languages
        if len(lines[source]) >= LEAST_LINES and (problem := mismatch(lines[source], lines[target])):
            raise IsoglotError(
                f"{' and '.join(map(str, paths))}: these do not look like translations of each other: {problem}; put "
                "line i of one and of the other together again"
            )
        for language in self.languages:
            write_lines(work.folder / f"{language}.txt", lines[language])
        for file in self.files:
            file.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class SyntheticParaphrases(Stage):
    """Sentences of a made-up language, and the same said otherwise."""

    kind: ClassVar[str] = "paraphrases"
    world: World
    language: SyntheticLanguage
    text: SyntheticText
    """What models are trained on."""
    sentences: int

    @property
    def title(self) -> str:
        return f"paraphrases in {self.language.name}"

    def make(self, work: Work) -> None:
        count, seed = EXCESS * self.sentences, derived_seed(self.world.seed, "paraphrases")
        meanings = draw_meanings(self.world, count=count, seed=seed)
        said = [
            realise(meant, self.language, world=self.world)
            for meant in (meanings, paraphrased(meanings, world=self.world, seed=seed))
        ]
        kept = _new_rows(said, seen=set(read_lines(work.path(self.text) / LINES)))[: self.sentences]
        _check_enough(kept, of=count, wanted=self.sentences, key="mapping_sentences")
        for name, lines in zip((self.language.name, self.language.name + PRIME), said, strict=True):
            write_lines(work.folder / f"{name}.txt", [lines[row] for row in kept])


AnyParallelText = SyntheticParallelText | SyntheticParaphrases | ParallelFiles


def parallel_lines(folder: Path, language: str) -> list[str]:
    """Line i says the same in every language."""
    return read_lines(folder / f"{language}.txt")
