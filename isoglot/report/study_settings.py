"""Inputs of a study as plain data: its settings, the files it reads, and departures from the paper."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import isoglot
from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import FileText, HubText
from isoglot.store import Stage
from isoglot.study.conditions import written
from isoglot.study.real_text import RealText
from isoglot.study.study import Study

# The comment goes on through lines that are nothing but comment, up to the next mark.
MARKED = re.compile(r"^ *# Departure: (.*(?:\n *# (?!Departure: ).*)*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A comment of the code that says where isoglot departs from the paper."""

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
    for found in MARKED.finditer(code):
        yield re.sub(r"\n *# ", " ", found[1])


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


def data_files(stages: Iterable[Stage], study: Study) -> Iterator[DataFile]:
    """Every file that these stages read themselves, once, in the order that it is needed."""
    # Titles are keys, so that each stands there once and in order.
    titles: defaultdict[tuple[str, str, int | None], dict[str, None]] = defaultdict(dict)
    for stage in stages:
        if isinstance(stage, HubText):
            config = "" if stage.dataset.config is None else f" ({stage.dataset.config})"
            titles[f"{stage.dataset.dataset}{config}", f"revision:{stage.dataset.revision}", None][stage.title] = None
        for each in fields(stage):
            for file in _source_files(getattr(stage, each.name)):
                titles[_path_in(study, file.path), f"sha256:{file.sha256}", file.num_bytes][stage.title] = None
    for (name, digest, num_bytes), used_for in titles.items():
        yield DataFile(name=name, digest=digest, num_bytes=num_bytes, used_for=tuple(used_for))


def _source_files(value: object) -> Iterator[SourceFile]:
    match value:
        case SourceFile():
            yield value
        case FileText():
            yield from value.files
        case tuple():
            for member in value:
                yield from _source_files(member)


def portable_origin(study: Study) -> str:
    """As the user named it, without the folders of one machine."""
    return Path(study.origin).name if Path(study.origin).is_absolute() else study.origin


def _path_in(study: Study, path: Path) -> str:
    """As the study names it: where its data lie is another thing on every machine."""
    return (study.text.as_written(path) if isinstance(study.text, RealText) else path).as_posix()


def study_settings(study: Study) -> dict[str, Any]:
    """Everything that changes results, so neither the study's name nor its file; conditions of Table 1 by name."""
    only = {
        exhibit: {key: items for key, items in vars(narrowing).items() if items is not None}
        for exhibit, narrowing in study.only.items()
        if exhibit in (*study.exhibits, VOCABULARY)
    }
    settings = {
        "languages": study.languages,
        "conditions": [written(condition) for condition in study.conditions],
        "exhibits": study.exhibits,
        "tasks": study.tasks,
        "seeds": study.seeds,
        # Left out where there is none, as in reports that are older than these tables.
        **({"only": only} if only else {}),
        "scale": asdict(study.scale),
        "text": {name: value for name, value in asdict(study.text).items() if name != "data"},
    }
    # By way of text, tuples become lists and enums their values; paths are all that JSON does not know.
    as_read: dict[str, Any] = json.loads(json.dumps(settings, default=lambda path: _path_in(study, path)))
    return as_read
