"""The data sets of the paper's study and their files: described in catalogue.toml, checksums in official.sha256."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from isoglot.corpora.download.unpacking import REWRITES
from isoglot.corpora.readers.decompression import SUFFIXES
from isoglot.errors import IsoglotError, suggestion

PAPER = ("en", "fr", "de", "ru", "zh")
TOO_LARGE_TO_FETCH_UNASKED = 5 * 10**9
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")

_FOLDER = Path(__file__).parent
# Digests of uncompressed bytes, only where we measured them on the official file. UD: release 2.3, GSDSimp 2.5.
OFFICIAL_SHA256 = {
    path: digest for digest, path in map(str.split, (_FOLDER / "official.sha256").read_text().splitlines())
}


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file, present if it lies at its path plain or compressed; the fields are those of catalogue.toml."""

    path: str
    url: str = ""
    """Empty: the file can only be put there by hand."""
    member: tuple[str, ...] = ()
    most_bytes: int = 0
    rewrite: Callable[[Iterable[str]], Iterator[str]] | None = None
    changes: bool = False
    sha256: str | None = None

    @property
    def fetched_path(self) -> str:
        """Where the bytes of the address are kept: an archive as it is, another file with its compression."""
        name = PurePosixPath(urlsplit(self.url).path)
        if self.member:
            return f"downloads/{name.name}"
        return f"{self.path}{name.suffix if name.suffix in SUFFIXES else ''}"


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A line of `isoglot data list`."""

    name: str
    what: str
    home: str
    licence: str
    bytes: int
    by_hand: str = ""
    templates: Sequence[Mapping[str, Any]]

    def files(self, language: str) -> list[DataFile]:
        return [file for template in self.templates for file in _files(template, language)]

    @property
    def languages(self) -> list[str]:
        """The languages of the paper that it has files of."""
        return [language for language in PAPER if self.files(language)]


def _files(template: Mapping[str, Any], language: str) -> Iterator[DataFile]:
    known = template.get("languages", [language])
    if language not in known or language in template.get("without", ()):
        return
    code = known[language] if isinstance(known, dict) else language
    names = {"language": language, "wiki": language.replace("-", "_"), "code": code}
    for part in template.get("parts", [""]):
        names["part"] = part.format_map(names)
        path = template["path"].format_map(names)
        yield DataFile(
            path=path,
            url=template.get("url", "").format_map(names),
            member=tuple(name.format_map(names) for name in template.get("member", ())),
            most_bytes=template.get("most_bytes", 0),
            rewrite=partial(REWRITES[template["rewrite"]], language=language) if "rewrite" in template else None,
            changes=template.get("changes", False),
            sha256=OFFICIAL_SHA256.get(path),
        )


DATA_SETS = tuple(
    DataSet(name=name, templates=description.pop("files"), **description)
    for name, description in tomllib.loads((_FOLDER / "catalogue.toml").read_text(encoding="utf-8")).items()
)


def named_data_set(name: str) -> DataSet:
    known = {data_set.name: data_set for data_set in DATA_SETS}
    if name not in known:
        hint = suggestion(name, known) or f"; there are {', '.join(known)}"
        raise IsoglotError(f"no data set is called {name!r}{hint}")
    return known[name]


def files_of(data_set: DataSet, languages: Sequence[str] | None = None) -> list[DataFile]:
    """Its files of the given languages, or of all languages of the paper, each once."""
    for language in languages or ():
        if not LANGUAGE_CODE.fullmatch(language):
            raise IsoglotError(f"--languages: {language!r} is not the code of a language, such as fr or zh-yue")
        if not data_set.files(language):
            known = ", ".join(data_set.languages)
            raise IsoglotError(f"--languages: {data_set.name} has no files of {language!r} here; try {known}")
    chosen = data_set.languages if languages is None else languages
    # A table of all languages is a file of each of them.
    return list({file.path: file for language in chosen for file in data_set.files(language)}.values())


def files_to_fetch(data_set: DataSet, languages: Sequence[str] | None) -> list[DataFile]:
    """The same files, but a set that would fill a disk must be requested by language."""
    if languages is None and data_set.bytes > TOO_LARGE_TO_FETCH_UNASKED:
        raise IsoglotError(
            f"{data_set.name} is about {data_set.bytes / 1e9:.0f} GB for {', '.join(data_set.languages)}: "
            "say which languages you want, as in --languages fr"
        )
    return files_of(data_set, languages)
