"""Texts to probe languages by: parallel sentences and a dictionary a pair, from files or from a study's store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.corpora.download.catalogue import named_data_set
from isoglot.corpora.readers.decompression import found
from isoglot.corpora.readers.dictionaries import DictionaryEntry, read_dictionary
from isoglot.errors import IsoglotError, MissingDataError, option
from isoglot.evaluation.geometry.parallel_lines import TEST_EVERY, ParallelLines, read_parallel_lines
from isoglot.pipeline.sources import if_given, sources
from isoglot.pipeline.stages.translations import dictionary_entries, parallel_lines
from isoglot.store import Store
from isoglot.store.file_sums import EVERYTHING
from isoglot.store.store import BRING_WHOLE
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.word_translation import WordPair

Pair = tuple[str, str]
NAMELESS: Pair = ("A", "B")
"""Two files whose languages nobody named."""
# Sets of the catalogue that have parallel sentences, the one with most of them first.
PARALLEL_SETS = ("xnli", "tatoeba", "pud")
OWN_PARALLEL, OWN_DICTIONARY, MUSE = "parallel/{}-{}.{}", "dictionaries/{}-{}.txt", "eval/muse/{}-{}.txt"


@dataclass(frozen=True, kw_only=True)
class PairText:
    """The texts that two languages are probed by."""

    languages: Pair
    lines: ParallelLines
    entries: Sequence[WordPair]
    """A dictionary, the first language's word first."""
    origin: str

    @property
    def fit_and_test(self) -> tuple[list[WordPair], list[WordPair]]:
        """Every fifth source word is a test, with all its translations; maps are fitted on the others."""
        words = dict.fromkeys(source for source, _ in self.entries)
        tests = {*list(words)[TEST_EVERY - 1 :: TEST_EVERY]}
        # Words spelled alike have one vector where the table is shared, and finding it shows no structure.
        alike = {a for a, b in self.entries if a == b}
        fit = [each for each in self.entries if each[0] not in tests]
        return fit, [each for each in self.entries if each[0] in tests and alike.isdisjoint(each)]


def read_pair_text(
    languages: Pair,
    *,
    data: Path | None,
    parallel: tuple[Path, Path] | None = None,
    dictionary: Path | None = None,
    anyway: bool = False,
) -> PairText:
    """From files that are named, or else found in the data folder; a dictionary that is missing there is noted."""
    paths = parallel or _parallel_files(languages, data=data)
    lines = read_parallel_lines(*paths, anyway=anyway)
    entries, origin, order = [], " and ".join(map(str, paths)), languages
    # The user's own in either order, as the sentences.
    for place, pair in ((OWN_DICTIONARY, languages), (MUSE, languages), (OWN_DICTIONARY, languages[::-1])):
        if dictionary is None and data and (dictionary := found(data / place.format(*pair))):
            order = pair
    if dictionary is None:
        lines = replace(lines, notes=(*lines.notes, _no_dictionary(languages, data=data)))
    else:
        origin += f"; {dictionary}"
        entries = _entries(read_dictionary(dictionary, languages=order), is_turned=order != languages)
    return PairText(languages=languages, lines=lines, entries=entries, origin=origin)


def study_text(name: str, languages: Pair, *, store: Store, data: Path | None, study: Study | None = None) -> PairText:
    """The parallel sentences and the dictionary that the study of one of isoglot's models was measured by."""
    study = study or read_study(name.partition(":")[0], data=data)
    pair = next((pair for pair in study.pairs if {*pair} == {*languages}), None)
    problem = f"{name}: {store.root} has no sentences of {study.name} in {' and '.join(languages)}"
    fix = f"for others name {option('parallel')} or {option('data')}"
    if pair is None:
        pairs = ", ".join("-".join(each) for each in study.pairs)
        raise IsoglotError(f"{problem}; its pairs are {pairs}; {fix}")
    try:
        sentences = sources(study).parallel(pair)
    except MissingDataError as error:
        raise IsoglotError(f"{name}: the sentences of {study.name} cannot be told: {error}; {fix}") from error
    text = store.lookup(sentences, read=EVERYTHING)
    if text is None:
        raise IsoglotError(f"{problem} yet; make them with isoglot run, or {fix}")
    listed = if_given(lambda: sources(study).word_translation(pair))
    words = None if listed is None else store.lookup(listed, read=EVERYTHING)
    for stage, found_there in ((sentences, text), (listed, words)):
        if stage is not None and found_there is not None and not store.has(stage):
            raise IsoglotError(f"{name}: {store.root} has only a summary of '{stage.title}'; {BRING_WHOLE}, or {fix}")
    a, b = (tuple(parallel_lines(text.folder, language)) for language in languages)
    entries = [] if words is None else _entries(dictionary_entries(words.folder), is_turned=pair != languages)
    return PairText(
        languages=languages,
        lines=ParallelLines(a=a, b=b, texts=tuple(range(len(a)))),
        entries=entries,
        origin=f"the sentences and the dictionary of {study.name} in {store.root}",
    )


def _parallel_files(languages: Pair, *, data: Path | None) -> tuple[Path, Path]:
    if data is None:
        raise MissingDataError(
            f"{option('data')} or {option('parallel')} is needed: sentences that models are probed by"
        )
    a, b = languages
    candidates = [tuple(OWN_PARALLEL.format(*pair, each) for each in languages) for pair in ((a, b), (b, a))]
    for name in PARALLEL_SETS:
        of_a, of_b = ([file.path for file in named_data_set(name).files(language)] for language in languages)
        # Each language's Tatoeba has English sentences of its own, which stand second among its files.
        if name == "tatoeba" and "en" in languages and (of_a or of_b):
            candidates.append((of_b[1], of_b[0]) if a == "en" else (of_a[0], of_a[1]))
        elif name != "tatoeba" and of_a and of_b:
            candidates.append((of_a[0], of_b[0]))
    for path_a, path_b in candidates:
        if (file_a := found(data / path_a)) and (file_b := found(data / path_b)):
            return file_a, file_b
    own = " and ".join(candidates[0])
    known = next((name for name in PARALLEL_SETS if named_data_set(name).files(b)), None)
    fetch = f", or fetch some with: isoglot data get {known} --languages {a},{b} --data {data}" if known else ""
    problem = f"{data}: no parallel sentences of {a} and {b}"
    raise MissingDataError(
        f"{problem}; put a sentence a line into {own} there{fetch}, or name two files with {option('parallel')}"
    )


def _entries(listed: Sequence[DictionaryEntry], *, is_turned: bool) -> list[WordPair]:
    entries = ((each.source.lower(), each.target.lower()) for each in listed)
    return [(target, source) for source, target in entries] if is_turned else [*entries]


def _no_dictionary(languages: Pair, *, data: Path | None) -> str:
    if languages == NAMELESS:
        return f"Words are not probed, as no dictionary is named with {option('dictionary')}."
    own = f"put it into {OWN_DICTIONARY.format(*languages)} of the data folder, two words a line"
    other = next((each for each in languages if each != "en"), "en")
    fetch = ""
    if "en" in languages and named_data_set("muse").files(other):
        command = f"isoglot data get muse --languages {other}" + (f" --data {data}" if data else "")
        fetch = f" or fetch MUSE's with {command},"
    missing = f"Words are not probed, as there is no dictionary of {languages[0]} and {languages[1]}"
    return f"{missing}: {own},{fetch} or name a file with {option('dictionary')}."
