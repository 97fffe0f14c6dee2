"""Where the numbers of a study come from: settings, files, words, vocabularies, budget, machines and departures."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
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
    """How the words of one language are found."""

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
    """The budget of pretraining: updates of each model, windows of an update, tokens of a window."""

    models: int
    models_done: int
    updates: int
    batch: int
    window: int
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
    """Work on all artifacts of a kind."""

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
    artifacts_done: int
    seconds: float
    """Seconds of work, spent on those that are done."""
    makings: tuple[Making, ...]
    spent: tuple[Spent, ...]
    departures: tuple[Departure, ...]

    def json_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def provenance(study: Study, store: Store) -> Provenance:
    """The provenance of a study, however much of it is made."""
    shown = cells(study)
    stages = inputs_first(cell.stage for cell in shown)
    records: dict[str, Record] = {}
    for digest, stage in stages.items():
        # A damaged record is left out, and reported where it is needed.
        with suppress(IsoglotError):
            if (artifact := store.lookup(stage)) is not None:
                records[digest] = artifact.record
    splittings = {language: sources(study).splitting(language) for language in study.languages}
    return Provenance(
        study=study.name,
        origin=portable_origin(study),
        settings=study_settings(study),
        commit=commit(),
        versions=dict(versions()),
        is_made_up=isinstance(study.text, Synthetic),
        data_files=tuple(data_files(stages.values(), study)),
        words=tuple(
            Words(
                language=language,
                splitter=each.splitter.value,
                version=splitter_version(each),
                is_lowercase=each.lowercase,
            )
            for language, each in splittings.items()
        ),
        vocabularies=_vocabularies(shown, store),
        budget=_budget(stages.values(), done=records),
        artifacts=len(stages),
        artifacts_done=len(records),
        seconds=_seconds(records.values()),
        makings=tuple(
            Making(
                host=found[0].host,
                hardware=found[0].hardware,
                commit=found[0].commit,
                versions=found[0].versions,
                artifacts=len(found),
                seconds=_seconds(found),
                first_finished=min(record.finished for record in found),
                last_finished=max(record.finished for record in found),
            )
            # As text, since a dict of versions is no key.
            for found in _groups(records, lambda each: repr((each.host, each.hardware, each.commit, each.versions)))
        ),
        spent=tuple(
            Spent(kind=found[0].kind, artifacts=len(found), seconds=_seconds(found))
            for found in _groups(records, lambda each: each.kind)
        ),
        departures=departures(),
    )


def _seconds(records: Iterable[Record]) -> float:
    return sum((record.seconds for record in records), start=0.0)


def _groups(records: Mapping[str, Record], key: Callable[[Record], str]) -> list[list[Record]]:
    """Records with the same key, most of the work first."""
    alike: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        alike[key(record)].append(record)
    return sorted(alike.values(), key=_seconds, reverse=True)


def _vocabularies(shown: Iterable[Cell], store: Store) -> tuple[VocabularySize, ...]:
    """The vocabulary of every model that a cell rests on; those of other seeds are as large."""
    found: dict[tuple[str, tuple[str, ...]], VocabularySize] = {}
    for cell in shown:
        for stage in inputs_first([cell.stage]).values():
            if isinstance(stage, TokenStreams):
                condition, languages = cell.condition, tuple(stage.vocabulary.texts)
                blank = VocabularySize(condition=condition, languages=languages, merges={}, types={})
                size = found.setdefault((condition, languages), blank)
                size.merges.setdefault(stage.language, stage.bpe.merges)
                with suppress(IsoglotError):
                    if stage.language not in size.types and (artifact := store.lookup(stage)) is not None:
                        size.types[stage.language] = TokenStream.open(artifact.folder).table_size
    return tuple(found.values())


def _budget(stages: Iterable[Stage], *, done: Container[str]) -> Budget | None:
    models = [stage for stage in stages if isinstance(stage, PretrainedEncoder)]
    if not models:
        return None
    run, num_done = models[0].run, sum(model.digest in done for model in models)
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
