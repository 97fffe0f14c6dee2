"""Sentences that say the same in several languages, and words that mean the same."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.errors import IsoglotError
from isoglot.languages import SyntheticLanguage, World
from isoglot.randomness import derived_seed
from isoglot.stages.text import LINES, SyntheticText, read_lines, write_lines
from isoglot.synthetic import dictionary, draw_meanings, realise

EXCESS = 4
"""How many times too many sentences are drawn; most of what is said twice is short."""


@dataclass(frozen=True, kw_only=True)
class SyntheticParallelText(Stage):
    """Meanings realised in every language, and the gold dictionary of each pair; no line of it stands in `texts`."""

    kind: ClassVar[str] = "parallel-text"
    world: World
    languages: tuple[SyntheticLanguage, ...]
    texts: tuple[SyntheticText, ...]
    """What models are trained on."""
    sentences: int

    @property
    def title(self) -> str:
        return f"parallel sentences of {' and '.join(language.name for language in self.languages)}"

    def make(self, work: Work) -> None:
        count = EXCESS * self.sentences
        meanings = draw_meanings(self.world, count=count, seed=derived_seed(self.world.seed, "parallel"))
        realised = [realise(meanings, language, world=self.world) for language in self.languages]
        texts = {line for text in self.texts for line in read_lines(work.path(text) / LINES)}
        kept = _new_rows(realised, seen=texts)[: self.sentences]
        if len(kept) < self.sentences:
            raise IsoglotError(
                f"of {count} sentences of this world only {len(kept)} differ from each other and from the texts; "
                "lower synthetic.parallel_sentences or enlarge the world"
            )
        for language, lines in zip(self.languages, realised, strict=True):
            write_lines(work.folder / f"{language.name}.txt", [lines[row] for row in kept])
        for source, target in combinations(self.languages, 2):
            pairs = dictionary(source, target, world=self.world)
            write_lines(work.folder / f"{source.name}-{target.name}.tsv", [f"{a}\t{b}" for a, b in pairs])


def _new_rows(columns: list[list[str]], *, seen: set[str]) -> list[int]:
    """Rows none of whose lines was seen, in the texts or in a row before: two right answers would spoil retrieval."""
    known = set(seen)
    kept = []
    for row, lines in enumerate(zip(*columns, strict=True)):
        if known.isdisjoint(lines):
            kept.append(row)
        known.update(lines)
    return kept


def parallel_lines(folder: Path, language: str) -> list[str]:
    """Line i says the same in every language."""
    return read_lines(folder / f"{language}.txt")


def dictionary_pairs(folder: Path, *, source: str, target: str) -> list[tuple[str, str]]:
    """Words that translate each other."""
    rows = [line.split("\t") for line in read_lines(folder / f"{source}-{target}.tsv")]
    return [(a, b) for a, b in rows]
