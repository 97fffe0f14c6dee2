"""All that a study asks for as plain JSON, so that two reports can be held against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path

import isoglot
from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import FileText, HubText
from isoglot.store import Stage
from isoglot.store.canonical import Json
from isoglot.study.conditions import written
from isoglot.study.real_text import RealText
from isoglot.study.study import Study, Synthetic

MARK = "Departure: "


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One mark."""

    file: str
    """From the package's folder: "isoglot/study/scales.py"."""
    sentence: str


@cache
def departures() -> tuple[Departure, ...]:
    """All of them, by file and in the order they stand there."""
    package = Path(isoglot.__file__).parent
    return tuple(
        Departure(file=path.relative_to(package.parent).as_posix(), sentence=sentence)
        for path in sorted(package.rglob("*.py"))
        for sentence in marked_sentences(path.read_text(encoding="utf-8"))
    )


def marked_sentences(code: str) -> Iterator[str]:
    """The sentence of each mark, to the end of its comment."""
    sentence: list[str] = []
    for line in (*code.splitlines(), ""):
        sign, _, comment = line.strip().partition(" ")
        goes_on = sign == "#" and not comment.startswith(MARK)
        if sentence and not goes_on:
            yield " ".join(sentence)
            sentence = []
        if sign == "#" and (sentence or comment.startswith(MARK)):
            sentence.append(comment.removeprefix(MARK))


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file that the user has, or a data set of the hub."""

    name: str
    """Its path as the study names it, or the data set's name."""
    digest: str
    """ "sha256:..." of its bytes, or "revision:..." of a data set."""
    num_bytes: int | None
    """Unknown of a data set."""
    used_for: tuple[str, ...]
    """Titles of what was made from it."""


def data_files(stages: Iterable[Stage], *, study: Study) -> tuple[DataFile, ...]:
    """Every file that these stages read themselves, once, in the order that it is needed."""
    sizes: dict[tuple[str, str], int | None] = {}
    titles: dict[tuple[str, str], list[str]] = {}
    for stage in stages:
        for name, digest, num_bytes in _read_by(stage, study):
            sizes[name, digest] = num_bytes
            used_for = titles.setdefault((name, digest), [])
            if stage.title not in used_for:
                used_for.append(stage.title)
    return tuple(
        DataFile(name=name, digest=digest, num_bytes=sizes[name, digest], used_for=tuple(used_for))
        for (name, digest), used_for in titles.items()
    )


def _read_by(stage: Stage, study: Study) -> Iterator[tuple[str, str, int | None]]:
    if isinstance(stage, HubText):
        config = "" if stage.dataset.config is None else f" ({stage.dataset.config})"
        yield f"{stage.dataset.dataset}{config}", f"revision:{stage.dataset.revision}", None
    for each in fields(stage):
        for file in _files(getattr(stage, each.name)):
            path = study.text.as_written(file.path) if isinstance(study.text, RealText) else file.path
            yield path.as_posix(), f"sha256:{file.sha256}", file.num_bytes


def _files(value: object) -> Iterator[SourceFile]:
    match value:
        case SourceFile():
            yield value
        case FileText():
            yield from value.files
        case tuple():
            for member in value:
                yield from _files(member)


def study_settings(study: Study) -> dict[str, Json]:
    """Conditions of Table 1 by their names; what a study is called, and the file it was read from, ask for nothing."""
    return {
        "languages": list(study.languages),
        "conditions": [written(condition) for condition in study.conditions],
        "exhibits": list(study.exhibits),
        "tasks": list(study.tasks),
        "seeds": list(study.seeds),
        # Left out where there is none, as in reports that are older than these tables.
        **({"only": only} if (only := _only(study)) else {}),
        "scale": _plain(study.scale),
        "text": _text(study.text),
    }


def portable_origin(study: Study) -> str:
    """As the user named it, without the folders of one machine."""
    return Path(study.origin).name if Path(study.origin).is_absolute() else study.origin


def _text(text: Synthetic | RealText) -> Json:
    """Files as the study names them: where its data lie is another thing on every machine."""
    if isinstance(text, Synthetic):
        return _plain(text)
    parts = {each.name: getattr(text, each.name) for each in fields(text) if each.name != "data"}
    return _plain(parts, written=text.as_written)


def _only(study: Study) -> dict[str, Json]:
    """The filters of the study's exhibits."""
    return {
        exhibit: {key: _plain(items) for key, items in vars(narrowing).items() if items is not None}
        for exhibit, narrowing in study.only.items()
        if exhibit in (*study.exhibits, VOCABULARY)
    }


def _plain(value: object, *, written: Callable[[Path], Path] = Path) -> Json:
    """`written` gives a path as the study has it."""
    plain = partial(_plain, written=written)
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return written(value).as_posix()
        case Mapping():
            return {str(key): plain(member) for key, member in value.items()}
        case frozenset():
            return sorted((plain(member) for member in value), key=str)
        case tuple() | list():
            return [plain(member) for member in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"{value!r} of a study has no JSON form: say in isoglot/report/study_settings.py what it is")
