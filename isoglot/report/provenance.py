"""Where the numbers of a study come from: files, words, vocabularies, budget, machines, versions and departures."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from isoglot.corpora.streams import TokenStream
from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError
from isoglot.hardware import Hardware
from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.sources import sources
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pipeline.stages.vocabulary import TokenStreams
from isoglot.report.study_settings import DataFile, Departure, data_files, departures, portable_origin, study_settings
from isoglot.store import Record, Stage, Store, inputs_first
from isoglot.store.record import commit, versions
from isoglot.study.study import Study, Synthetic


@dataclass(frozen=True, kw_only=True)
class Words:
    """How those of one language are found."""

    language: str
    splitter: str
    version: str
    is_lowercase: bool


@dataclass(frozen=True, kw_only=True)
class VocabularySize:
    """The vocabulary of one model."""

    condition: str
    languages: tuple[str, ...]
    merges: dict[str, int]
    """Merges of the BPE of each language; a joint BPE stands there once for each language."""
    types: dict[str, int]
    """Size of the table that each language is read with, special symbols included; none before it is built."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The budget of pretraining, in tokens."""

    models: int
    models_done: int
    updates: int
    """Updates of each model."""
    batch: int
    """Windows of an update."""
    window: int
    """Tokens of a window."""
    tokens_per_model: int
    tokens: int
    tokens_done: int


@dataclass(frozen=True, kw_only=True)
class Making:
    """Artifacts that were made on one host, with the same code and libraries."""

    host: str
    hardware: Hardware | None
    """Unknown of what an older isoglot made."""
    commit: str | None
    versions: dict[str, str]
    artifacts: int
    seconds: float
    """Seconds of work, over all processes and attempts."""
    first_finished: str
    last_finished: str


@dataclass(frozen=True, kw_only=True)
class Spent:
    """On all artifacts of a kind."""

    kind: str
    artifacts: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Everything that a reader needs to make the same numbers again, or to trust them."""

    study: str
    origin: str
    """The file that was read, or the name of a built-in study."""
    settings: dict[str, Any]
    """All that the study asks for."""
    commit: str | None
    """Commit of the isoglot that wrote this report; `makings` has those of the artifacts."""
    versions: dict[str, str]
    is_made_up: bool
    """Whether the text is; then there are no data files."""
    data_files: tuple[DataFile, ...]
    words: tuple[Words, ...]
    vocabularies: tuple[VocabularySize, ...]
    budget: Budget | None
    """None where the study has no model."""
    artifacts: int
    """All artifacts of the study."""
    artifacts_done: int
    seconds: float
    """Seconds of work, spent on those that are done."""
    makings: tuple[Making, ...]
    """Most of the work first."""
    spent: tuple[Spent, ...]
    """Most of the work first."""
    departures: tuple[Departure, ...]

    def json_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def provenance(study: Study, store: Store) -> Provenance:
    """The provenance of a study, however much of it is made."""
    shown = cells(study)
    stages = inputs_first(cell.stage for cell in shown)
    records = _records(stages.values(), store)
    return Provenance(
        study=study.name,
        origin=portable_origin(study),
        settings=study_settings(study),
        commit=commit(),
        versions=dict(versions()),
        is_made_up=isinstance(study.text, Synthetic),
        data_files=data_files(stages.values(), study=study),
        words=tuple(_words(study)),
        vocabularies=_vocabularies(shown, store),
        budget=_budget(stages.values(), done=records),
        artifacts=len(stages),
        artifacts_done=len(records),
        seconds=sum((record.seconds for record in records.values()), start=0.0),
        makings=_makings(records.values()),
        spent=_spent(records.values()),
        departures=departures(),
    )


def _records(stages: Iterable[Stage], store: Store) -> dict[str, Record]:
    """Records by digest; a damaged one is left out, and reported where it is needed."""
    found = {}
    for stage in stages:
        with suppress(IsoglotError):
            if (artifact := store.lookup(stage)) is not None:
                found[stage.digest] = artifact.record
    return found


def _words(study: Study) -> Iterator[Words]:
    for language in study.languages:
        splitting = sources(study).splitting(language)
        yield Words(
            language=language,
            splitter=splitting.splitter.value,
            version=splitter_version(splitting),
            is_lowercase=splitting.lowercase,
        )


def _vocabularies(shown: Iterable[Cell], store: Store) -> tuple[VocabularySize, ...]:
    """The vocabulary of every model that a cell rests on; those of other seeds are as large."""
    found: dict[tuple[str, tuple[str, ...]], VocabularySize] = {}
    for cell in shown:
        for stage in inputs_first([cell.stage]).values():
            if isinstance(stage, TokenStreams):
                languages = tuple(stage.vocabulary.texts)
                size = found.setdefault(
                    (cell.condition, languages),
                    VocabularySize(condition=cell.condition, languages=languages, merges={}, types={}),
                )
                size.merges.setdefault(stage.language, stage.bpe.merges)
                with suppress(IsoglotError):
                    if stage.language not in size.types and (artifact := store.lookup(stage)) is not None:
                        size.types[stage.language] = TokenStream.open(artifact.folder).table_size
    return tuple(found.values())


def _budget(stages: Iterable[Stage], *, done: Container[str]) -> Budget | None:
    models = [stage for stage in stages if isinstance(stage, PretrainedEncoder)]
    if not models:
        return None
    run = models[0].run
    num_done = sum(model.digest in done for model in models)
    return Budget(
        models=len(models),
        models_done=num_done,
        updates=run.updates,
        batch=run.batch,
        window=run.window,
        tokens_per_model=run.tokens,
        tokens=len(models) * run.tokens,
        tokens_done=num_done * run.tokens,
    )


def _makings(records: Iterable[Record]) -> tuple[Making, ...]:
    alike: dict[str, list[Record]] = {}
    for record in records:
        alike.setdefault(repr((record.host, record.hardware, record.commit, record.versions)), []).append(record)
    makings = [
        Making(
            host=first.host,
            hardware=first.hardware,
            commit=first.commit,
            versions=first.versions,
            artifacts=len(found),
            seconds=sum(record.seconds for record in found),
            first_finished=min(record.finished for record in found),
            last_finished=max(record.finished for record in found),
        )
        for found in alike.values()
        for first in found[:1]
    ]
    return tuple(sorted(makings, key=lambda making: -making.seconds))


def _spent(records: Iterable[Record]) -> tuple[Spent, ...]:
    seconds: dict[str, list[float]] = {}
    for record in records:
        seconds.setdefault(record.kind, []).append(record.seconds)
    spent = [Spent(kind=kind, artifacts=len(each), seconds=sum(each)) for kind, each in seconds.items()]
    return tuple(sorted(spent, key=lambda each: -each.seconds))
