"""Sentences that say the same in several languages, and words that mean the same."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.errors import IsoglotError
from isoglot.languages import SyntheticLanguage, World
from isoglot.randomness import derived_seed
from isoglot.stages.text import read_lines, write_lines
from isoglot.synthetic import dictionary, draw_meanings, realise


@dataclass(frozen=True, kw_only=True)
class SyntheticParallelText(Stage):
    """Fresh meanings realised in each language, and the gold dictionary of each pair. Nothing is trained on these."""

    kind: ClassVar[str] = "parallel-text"
    world: World
    languages: tuple[SyntheticLanguage, ...]
    sentences: int

    @property
    def title(self) -> str:
        return f"parallel sentences of {' and '.join(language.name for language in self.languages)}"

    def make(self, work: Work) -> None:
        # Drawn in excess: a sentence that says what another one says would have two right answers in retrieval.
        meanings = draw_meanings(self.world, count=2 * self.sentences, seed=derived_seed(self.world.seed, "parallel"))
        realised = [realise(meanings, language, world=self.world) for language in self.languages]
        kept = _distinct_rows(realised)[: self.sentences]
        if len(kept) < self.sentences:
            raise IsoglotError(
                f"this world says only {len(kept)} different things in {2 * self.sentences} sentences; "
                "lower synthetic.parallel_sentences or enlarge the world"
            )
        for language, lines in zip(self.languages, realised, strict=True):
            write_lines(work.folder / f"{language.name}.txt", [lines[row] for row in kept])
        for source, target in combinations(self.languages, 2):
            pairs = dictionary(source, target, world=self.world)
            write_lines(work.folder / f"{source.name}-{target.name}.tsv", [f"{a}\t{b}" for a, b in pairs])


def _distinct_rows(columns: list[list[str]]) -> list[int]:
    """Rows whose line is new in every column."""
    seen: list[set[str]] = [set() for _ in columns]
    kept = []
    for row, lines in enumerate(zip(*columns, strict=True)):
        if all(line not in known for line, known in zip(lines, seen, strict=True)):
            kept.append(row)
        for line, known in zip(lines, seen, strict=True):
            known.add(line)
    return kept


def parallel_lines(folder: Path, language: str) -> list[str]:
    """Line i says the same in every language."""
    return read_lines(folder / f"{language}.txt")


def dictionary_pairs(folder: Path, *, source: str, target: str) -> list[tuple[str, str]]:
    """Words that translate each other."""
    rows = [line.split("\t") for line in read_lines(folder / f"{source}-{target}.tsv")]
    return [(a, b) for a, b in rows]
