"""Words that translate each other, made up or read."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.dictionaries import DictionaryEntry, read_dictionary
from isoglot.corpora.synthetic import dictionary
from isoglot.corpora.words import split_lines
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import read_lines, write_lines
from isoglot.store import Stage, Work
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

ENTRIES = "entries.jsonl"
FITTED_SHARE = 0.7


@dataclass(frozen=True, kw_only=True)
class SyntheticDictionary(Stage):
    """The gold dictionary of two made-up languages; all translations of a word weigh the same."""

    kind: ClassVar[str] = "dictionary"
    world: World
    languages: tuple[SyntheticLanguage, SyntheticLanguage]

    @property
    def title(self) -> str:
        return f"dictionary of {' and '.join(self.names)}"

    @property
    def names(self) -> tuple[str, str]:
        source, target = self.languages
        return source.name, target.name

    def make(self, work: Work) -> None:
        source, target = self.languages
        pairs = dictionary(source, target, world=self.world)
        _write([DictionaryEntry(source=a, target=b, weight=1.0) for a, b in pairs], work.folder)


@dataclass(frozen=True, kw_only=True)
class DictionaryFile(Stage):
    """A dictionary that the user has."""

    kind: ClassVar[str] = "dictionary-file"
    file: SourceFile
    languages: tuple[str, str]

    @property
    def title(self) -> str:
        return f"dictionary of {' and '.join(self.names)}, {self.file.path.name}"

    @property
    def names(self) -> tuple[str, str]:
        return self.languages

    def make(self, work: Work) -> None:
        _write(read_dictionary(self.file.path, languages=self.languages), work.folder)
        self.file.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class DictionaryPart(Stage):
    """Some of a dictionary's words, so that maps are not scored by what they were fitted on."""

    kind: ClassVar[str] = "dictionary-part"
    dictionary: SyntheticDictionary
    is_for_fitting: bool
    seed: int

    @property
    def title(self) -> str:
        return f"{self.dictionary.title}, to {'fit maps on' if self.is_for_fitting else 'score maps by'}"

    @property
    def names(self) -> tuple[str, str]:
        return self.dictionary.names

    def make(self, work: Work) -> None:
        entries = dictionary_entries(work.path(self.dictionary))
        # By source word: all translations of a word are on one side.
        words = list(dict.fromkeys(entry.source for entry in entries))
        random.Random(self.seed).shuffle(words)
        fitted = set(words[: round(FITTED_SHARE * len(words))])
        _write([entry for entry in entries if (entry.source in fitted) is self.is_for_fitting], work.folder)


AnyDictionary = SyntheticDictionary | DictionaryFile | DictionaryPart


def dictionary_entries(folder: Path) -> list[DictionaryEntry]:
    """The entries of a dictionary that was made, source language first."""
    rows = [json.loads(line) for line in read_lines(folder / ENTRIES)]
    return [DictionaryEntry(source=source, target=target, weight=weight) for source, target, weight in rows]


def word_pairs(
    folder: Path, names: tuple[str, str], splittings: Mapping[str, WordSplitting]
) -> Iterator[tuple[str, str, float]]:
    """The entries of a dictionary that are one word on either side, found as the words of the texts are."""
    entries = dictionary_entries(folder)
    source, target = names
    own = split_lines([entry.source for entry in entries], splittings[source])
    other = split_lines([entry.target for entry in entries], splittings[target])
    for entry, own_words, other_words in zip(entries, own, other, strict=True):
        # Departure: words change places with words; entries of several are left out.
        if len(own_words) == len(other_words) == 1:
            yield own_words[0], other_words[0], entry.weight


def _write(entries: list[DictionaryEntry], folder: Path) -> None:
    rows = [[each.source, each.target, each.weight] for each in entries]
    write_lines(folder / ENTRIES, [json.dumps(row, ensure_ascii=False) for row in rows])
