"""Translations: parallel sentences and dictionaries, synthetic or read from files."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.dictionaries import DictionaryEntry, read_dictionary
from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.corpora.synthetic import dictionary, draw_meanings, realise
from isoglot.corpora.synthetic.entailment import paraphrased
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import LEAST_LINES, mismatch, repetition
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import LINES, SyntheticText, read_lines, write_lines
from isoglot.randomness import derived_seed
from isoglot.store import Stage, Work
from isoglot.study.languages import PRIME, WordSplitting, original
from isoglot.study.synthetic_languages import SyntheticLanguage, World

EXCESS = 4  # this many times too many sentences are drawn, since some repeat; most repeated ones are short
ENTRIES = "entries.jsonl"
FITTED_SHARE = 0.7


@dataclass(frozen=True, kw_only=True)
class SyntheticParallelText(Stage):
    """Meanings realised in every language; no line also stands in the training texts or in `apart_from`."""

    kind: ClassVar[str] = "parallel-text"
    leaves: ClassVar[tuple[str, ...]] = ("*.txt",)
    version: ClassVar[int] = 3
    world: World
    languages: tuple[SyntheticLanguage, ...]
    texts: tuple[SyntheticText, ...]  # the training texts of models
    apart_from: "tuple[SyntheticParallelText, ...]" = ()
    purpose: str = "parallel"  # texts of another purpose are other draws
    sentences: int

    @property
    def title(self) -> str:
        purpose = "" if self.purpose == "parallel" else f" for {self.purpose}"
        return f"parallel sentences of {' and '.join(self.names)}{purpose}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(language.name for language in self.languages)

    def make(self, work: Work) -> None:
        seed = derived_seed(self.world.seed, self.purpose)
        meanings = draw_meanings(self.world, count=EXCESS * self.sentences, seed=seed)
        columns = {each.name: realise(meanings, each, world=self.world) for each in self.languages}
        seen = {line for text in self.texts for line in read_lines(work.path(text) / LINES)}
        for other in self.apart_from:
            seen |= {line for name in other.names for line in parallel_lines(work.path(other), name)}
        _write_new_rows(columns, work.folder, seen=seen, count=self.sentences, key=f"{self.purpose}_sentences")


@dataclass(frozen=True, kw_only=True)
class SyntheticParaphrases(Stage):
    """Sentences of a synthetic language and their paraphrases."""

    kind: ClassVar[str] = "paraphrases"
    leaves: ClassVar[tuple[str, ...]] = ("*.txt",)
    titled: ClassVar[str] = "paraphrases in {self.language.name}"
    world: World
    language: SyntheticLanguage
    text: SyntheticText  # the training text of models
    sentences: int

    def make(self, work: Work) -> None:
        seed = derived_seed(self.world.seed, "paraphrases")
        meanings = draw_meanings(self.world, count=EXCESS * self.sentences, seed=seed)
        same = paraphrased(meanings, world=self.world, seed=seed)
        columns = {
            self.language.name: realise(meanings, self.language, world=self.world),
            self.language.name + PRIME: realise(same, self.language, world=self.world),
        }
        seen = set(read_lines(work.path(self.text) / LINES))
        _write_new_rows(columns, work.folder, seen=seen, count=self.sentences, key="mapping_sentences")


def _write_new_rows(columns: Mapping[str, list[str]], folder: Path, *, seen: set[str], count: int, key: str) -> None:
    # A line may stand in no text and in no earlier row: two right answers to one question would spoil retrieval.
    new_rows = []
    for lines in zip(*columns.values(), strict=True):
        if seen.isdisjoint(lines):
            new_rows.append(lines)
        seen.update(lines)
    if len(new_rows) < count:
        raise IsoglotError(
            f"of {EXCESS * count} sentences of this world only {len(new_rows)} differ from each other and from the "
            f"texts; lower synthetic.{key} or enlarge the world"
        )
    for column, name in enumerate(columns):
        write_lines(folder / f"{name}.txt", [row[column] for row in new_rows[:count]])


@dataclass(frozen=True, kw_only=True)
class ParallelFiles(Stage):
    """The user's parallel sentences: one file for both languages or one for each, any number of times."""

    kind: ClassVar[str] = "parallel-files"
    leaves: ClassVar[tuple[str, ...]] = ("*.txt",)
    titled: ClassVar[str] = (
        "parallel sentences of {self.languages[0]} and {self.languages[1]}, {self.files[0].path.name}"
    )
    files: tuple[SourceFile, ...]
    languages: tuple[str, str]

    def make(self, work: Work) -> None:
        paths = [file.path for file in self.files]
        read = [read_parallel(paths[place : place + 2], languages=self.languages) for place in range(0, len(paths), 2)]
        source, target = ([pair[side] for each in read for pair in each.pairs] for side in (0, 1))
        if len(source) >= LEAST_LINES:
            # Paraphrases may repeat many lines.
            are_paraphrases = len({*map(original, self.languages)}) == 1
            problem = mismatch(source, target) or (None if are_paraphrases else repetition(source, target))
            if problem is not None:
                raise IsoglotError(
                    f"{' and '.join(map(str, paths))}: these do not look like translations of each other: {problem}; "
                    "put line i of one and of the other together again, or name the other file"
                )
        for language, lines in zip(self.languages, (source, target), strict=True):
            write_lines(work.folder / f"{language}.txt", lines)
        for file in self.files:
            file.check_unchanged()


AnyParallelText = SyntheticParallelText | SyntheticParaphrases | ParallelFiles


def parallel_lines(folder: Path, language: str) -> list[str]:
    """Line i means the same in every language."""
    return read_lines(folder / f"{language}.txt")


@dataclass(frozen=True, kw_only=True)
class SyntheticDictionary(Stage):
    """The gold dictionary of two synthetic languages; all translations of a word weigh the same."""

    kind: ClassVar[str] = "dictionary"
    leaves: ClassVar[tuple[str, ...]] = (ENTRIES,)
    titled: ClassVar[str] = "dictionary of {self.names[0]} and {self.names[1]}"
    world: World
    languages: tuple[SyntheticLanguage, SyntheticLanguage]

    @property
    def names(self) -> tuple[str, str]:
        return self.languages[0].name, self.languages[1].name

    def make(self, work: Work) -> None:
        pairs = dictionary(*self.languages, world=self.world)
        _write_entries([DictionaryEntry(source=a, target=b, weight=1.0) for a, b in pairs], work.folder)


@dataclass(frozen=True, kw_only=True)
class DictionaryFile(Stage):
    """The user's dictionary."""

    kind: ClassVar[str] = "dictionary-file"
    leaves: ClassVar[tuple[str, ...]] = (ENTRIES,)
    titled: ClassVar[str] = "dictionary of {self.names[0]} and {self.names[1]}, {self.file.path.name}"
    file: SourceFile
    languages: tuple[str, str]

    @property
    def names(self) -> tuple[str, str]:
        return self.languages

    def make(self, work: Work) -> None:
        _write_entries(read_dictionary(self.file.path, languages=self.languages), work.folder)
        self.file.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class DictionaryPart(Stage):
    """One part of a dictionary's words, so that maps are not scored on the words they were fitted to."""

    kind: ClassVar[str] = "dictionary-part"
    leaves: ClassVar[tuple[str, ...]] = (ENTRIES,)
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
        # Split by source word: all translations of a word are on one side.
        words = list(dict.fromkeys(entry.source for entry in entries))
        random.Random(self.seed).shuffle(words)
        fitted = set(words[: round(FITTED_SHARE * len(words))])
        _write_entries([entry for entry in entries if (entry.source in fitted) is self.is_for_fitting], work.folder)


AnyDictionary = SyntheticDictionary | DictionaryFile | DictionaryPart


def dictionary_entries(folder: Path) -> list[DictionaryEntry]:
    rows = [json.loads(line) for line in read_lines(folder / ENTRIES)]
    return [DictionaryEntry(source=source, target=target, weight=weight) for source, target, weight in rows]


def split_entries(
    folder: Path, names: tuple[str, str], splittings: Mapping[str, WordSplitting]
) -> Iterator[tuple[Sequence[str], Sequence[str], float]]:
    """The entries of a finished dictionary with their words split as those of texts are."""
    entries = dictionary_entries(folder)
    source, target = names
    own = split_lines([entry.source for entry in entries], splittings[source])
    other = split_lines([entry.target for entry in entries], splittings[target])
    return zip(own, other, (entry.weight for entry in entries), strict=True)


def word_pairs(
    folder: Path, names: tuple[str, str], splittings: Mapping[str, WordSplitting]
) -> Iterator[tuple[str, str, float]]:
    """The entries of a finished dictionary that are one word on either side."""
    for own, other, weight in split_entries(folder, names, splittings):
        # Departure: words change places with words; entries of several are left out.
        if len(own) == len(other) == 1:
            yield own[0], other[0], weight


def _write_entries(entries: list[DictionaryEntry], folder: Path) -> None:
    rows = ([each.source, each.target, each.weight] for each in entries)
    write_lines(folder / ENTRIES, [json.dumps(row, ensure_ascii=False) for row in rows])
