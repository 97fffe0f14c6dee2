"""The files that a study was made from, by their content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import FileText, HubText
from isoglot.store import Stage
from isoglot.study.real_text import RealText
from isoglot.study.study import Study


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
    """Of all that these read themselves, each once, in the order that it is needed."""
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
