"""The tables of a study on real languages: its text, how words are found, and the other files it reads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from isoglot.errors import UnnamedDataError
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from isoglot.study.toml_tables import (
    Count,
    FileKey,
    Table,
    check_keys,
    checked,
    distinct,
    file_paths,
    known_name,
    made_from,
    quoted,
)


@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """Files of text, one sentence or paragraph a line, or a Wikipedia dump."""

    paths: tuple[Path, ...]

    @property
    def is_wikipedia(self) -> bool:
        return any(map(is_dump, self.paths))


def is_dump(path: Path) -> bool:
    """By its name, as in enwiki-latest-pages-articles.xml.bz2 or ...-pages-articles1.xml-p1p41242.bz2."""
    return re.search(r"\.xml(-p\d+p\d+)?(\.\w+)?$", path.name) is not None


@dataclass(frozen=True, kw_only=True)
class HubDataset:
    """A Hugging Face data set with a column of text."""

    dataset: str  # its name on the hub
    config: str | None = None  # its configuration, where it has several
    split: str = "train"  # its split
    column: str = "text"  # its column of text
    revision: str  # its commit, 40 hex digits, so that the same text comes every time


TextSource = TextFiles | HubDataset

OTHER_DOMAIN = "other-domain"
MOST_WORDS = "most_words"
LOWERCASE = "lowercase"
# Files that a pair of languages may bring, and their use.
RESOURCES = {
    "dictionary": "word translations that make extra anchors",
    "retrieval": "parallel sentences to retrieve from each other",
    "word-translation": "word pairs to score word translation by",
    "mapping": "parallel sentences to fit maps on and to compare models by",
    "word-mapping": "word pairs to fit maps on",
}
# Files that one language may bring.
LANGUAGE_RESOURCES = {
    "paraphrase": "sentences and their paraphrases line by line",
    "vectors": "word vectors, as fastText's",
}
TASKS = files("isoglot") / "evaluation" / "transfer" / "tasks"
# Files that a language may bring to a task, and their use.
SPLITS = {
    "train": "labelled examples to fine-tune on",
    "dev": "labelled examples to choose models by",
    "test": "labelled examples to score by",
}
READS_FILES_OF = {"pos": "parsing"}  # where a task has no files of its own: treebanks name parts of speech as well
# Kinds that are not listed take any number: two files, one for each language, and again two.
MOST_FILES = {"dictionary": 1, "retrieval": 2, "word-translation": 1, "word-mapping": 1, "vectors": 1}


@dataclass(frozen=True, kw_only=True)
class RealText:
    """Text that people wrote, in files that the user has."""

    main: Mapping[str, TextSource]
    other_domain: Mapping[str, TextSource]  # for the Wiki-CC row
    splittings: Mapping[str, WordSplitting]
    most_words: int | None  # the most words of each language's training text; None takes all
    # By what they are and for which languages: "dictionary.en-fr", "ner.fr.test".
    resources: Mapping[str, tuple[Path, ...]]
    data: Path  # the folder that the study's paths start from

    @cached_property
    def known_files(self) -> dict[Path, Any]:
        """Files that were hashed already, by path; whoever reads them keeps them here, as long as the study lives."""
        return {}

    def as_written(self, path: Path) -> Path:
        """A path as the study has it, wherever its data lie."""
        return path.relative_to(self.data) if path.is_relative_to(self.data) else path

    def source(self, language: str, domain: Domain) -> TextSource:
        if domain is Domain.MAIN:
            return self.main[language]
        if language not in self.other_domain:
            raise UnnamedDataError(f"text.{OTHER_DOMAIN}.{language} is missing: add a file of another domain")
        return self.other_domain[language]

    def resource(self, kind: str, *languages: str) -> tuple[Path, ...]:
        """The files of one resource of a language or a pair."""
        return self._files(_key(kind, languages), use=(RESOURCES | LANGUAGE_RESOURCES)[kind])

    def names(self, kind: str, *languages: str) -> bool:
        """Whether the study has a file for it, be that there or not."""
        return _key(kind, languages) in self.resources

    def task_files(self, task: str, *, language: str, split: str, pair: tuple[str, str]) -> tuple[Path, ...]:
        """Labelled examples of a task in one language, for a model of a pair that it belongs to."""
        # The source may have other files in a pair than elsewhere: ner.en-zh.dev counts before ner.en.dev.
        owners = ["-".join(pair), language] if language == pair[0] else [language]
        keys = [f"{each}.{owner}.{split}" for each in (task, READS_FILES_OF.get(task, task)) for owner in owners]
        given = next((key for key in keys if key in self.resources), f"{task}.{language}.{split}")
        return self._files(given, use=SPLITS[split])

    def _files(self, key: str, *, use: str) -> tuple[Path, ...]:
        if key not in self.resources:
            raise UnnamedDataError(f"resources.{key} is missing: add a file of {use}")
        return self.resources[key]


def _key(kind: str, languages: Sequence[str]) -> str:
    """The name of a resource in a study: "vectors.en", or "dictionary.en-fr"."""
    return f"{kind}.{'-'.join(languages)}"


def parse_real_text(table: Table, *, languages: tuple[str, ...], data: Path, place: FileKey) -> RealText:
    """The tables [text], [words] and [resources]; paths start from the folder `data`."""
    if "text" not in table:
        raise place.error(
            f"{quoted(languages)} have no text, and each language needs some; write a [text] table that names a file "
            "for each, or, for languages that are made up, a [synthetic] table with sentences = 40000 and a table "
            "[synthetic.languages.NAME] for each"
        )
    text, at_text = checked(table["text"], dict, place=place.at("text")), place.at("text")
    check_keys(text, (*languages, OTHER_DOMAIN, MOST_WORDS), place=at_text)
    for language in languages:
        if language not in text:
            raise at_text.at(language).error(f"{language!r} has no text; name its file here")
    at_other = at_text.at(OTHER_DOMAIN)
    other = checked(text.get(OTHER_DOMAIN, {}), dict, place=at_other)
    # Only the target's domain varies (section 4.1).
    check_keys(other, languages[1:], place=at_other)
    if (most_words := text.get(MOST_WORDS)) is not None:
        checked(most_words, Count, place=at_text.at(MOST_WORDS))
    return RealText(
        main={language: _source(text[language], data=data, place=at_text.at(language)) for language in languages},
        other_domain={name: _source(value, data=data, place=at_other.at(name)) for name, value in other.items()},
        splittings=_splittings(table.get("words", {}), languages=languages, place=place.at("words")),
        most_words=most_words,
        resources=_resources(table.get("resources", {}), languages=languages, data=data, place=place.at("resources")),
        data=data,
    )


def _source(value: object, *, data: Path, place: FileKey) -> TextSource:
    if isinstance(value, dict):
        if "dataset" not in value:
            raise place.error('should name a file, a list of files or a data set, as in { dataset = "user/name", ... }')
        if not re.fullmatch("[0-9a-f]{40}", str(value.get("revision"))):
            problem = "should be the commit, 40 hex digits, so that the same text comes every time"
            raise place.at("revision").error(problem)
        return made_from(value, HubDataset, place=place)
    names = distinct(value, str, at_least=0, place=place) if isinstance(value, list) else [value]
    files = TextFiles(paths=file_paths([*names], data=data, place=place))
    if files.is_wikipedia and not all(map(is_dump, files.paths)):
        raise place.error("names Wikipedia dumps (.xml) and other files; give one kind or the other")
    return files


def _splittings(value: object, *, languages: tuple[str, ...], place: FileKey) -> dict[str, WordSplitting]:
    table = checked(value, dict, place=place)
    check_keys(table, (*languages, LOWERCASE), place=place)
    lowercase = checked(table.get(LOWERCASE, False), bool, place=place.at(LOWERCASE))
    return {
        language: replace(_splitting(language, table.get(language), place=place.at(language)), lowercase=lowercase)
        for language in languages
    }


def _splitting(language: str, value: Any, *, place: FileKey) -> WordSplitting:
    if value is None:
        return default_splitting(language)
    if not isinstance(value, dict):
        named = [each.value for each in Splitter if each is not Splitter.COMMAND]
        return WordSplitting(splitter=Splitter(known_name(value, named, place=place)), language=language)
    check_keys(value, ("command",), place=place)
    command = checked(value.get("command"), tuple[str, ...], place=place.at("command"))
    if not command:
        raise place.at("command").error('names no command; give a list, as in ["segment.sh", "pku"]')
    return WordSplitting(splitter=Splitter.COMMAND, language=language, command=command)


def _resources(value: object, *, languages: tuple[str, ...], data: Path, place: FileKey) -> dict[str, tuple[Path, ...]]:
    pairs = tuple(f"{languages[0]}-{target}" for target in languages[1:])
    owners = dict.fromkeys(RESOURCES, pairs) | {"paraphrase": languages[:1], "vectors": languages}
    tasks = task_names()
    resources: dict[str, tuple[Path, ...]] = {}
    for kind, given in checked(value, dict, place=place).items():
        at_kind = place.at(known_name(kind, (*RESOURCES, *LANGUAGE_RESOURCES, *tasks), place=place))
        if kind in tasks:
            resources |= parse_task_files(kind, given, languages=languages, data=data, place=at_kind)
            continue
        by_owner = checked(given, dict, place=at_kind)
        what = "pairs" if kind in RESOURCES else "languages"
        check_keys(by_owner, owners[kind], place=at_kind, problem=f"the {what} of this study are")
        for owner, names in by_owner.items():
            paths, most = file_paths(names, data=data, place=at_kind.at(owner)), MOST_FILES.get(kind)
            if most is not None and len(paths) > most:
                raise at_kind.at(owner).error(f"takes no more than {most} file(s), and {len(paths)} are named")
            if most is None and len(paths) > 2 and len(paths) % 2:
                by_twos = "takes one file of both languages, or files by twos, one for each language"
                raise at_kind.at(owner).error(f"{by_twos}; {len(paths)} are named")
            resources[f"{kind}.{owner}"] = paths
    return resources


def task_names() -> tuple[str, ...]:
    """A task is a file of its own; none is imported, as tasks stand above studies."""
    names = sorted(entry.name for entry in TASKS.iterdir())
    return tuple(name.removesuffix(".py") for name in names if name.endswith(".py") and not name.startswith("_"))


def parse_task_files(
    task: str, value: object, *, languages: tuple[str, ...], data: Path, place: FileKey
) -> dict[str, tuple[Path, ...]]:
    """One task's table of [resources], which is at `place`, by key: "ner.fr.test"."""
    source, *targets = languages
    owners = (*languages, *(f"{source}-{target}" for target in targets))
    by_owner = checked(value, dict, place=place)
    check_keys(by_owner, owners, place=place, problem="the languages and pairs of this study are")
    paths = {}
    for owner, of_owner in by_owner.items():
        at_owner = place.at(owner)
        for split in (table := checked(of_owner, dict, place=at_owner)):
            if owner in targets and split in ("train", "dev"):
                raise at_owner.at(split).error(
                    f"zero-shot transfer never reads it, as models are fine-tuned and chosen in {source!r} alone "
                    "(section 3.2); drop it"
                )
        check_keys(table, ("test",) if owner in targets else SPLITS, place=at_owner)
        for split, names in table.items():
            paths[f"{task}.{owner}.{split}"] = file_paths(names, data=data, place=at_owner.at(split))
    return paths
