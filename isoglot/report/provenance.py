"""Where the numbers of a study come from: settings, files, words, vocabularies, budget, machines and departures."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import isoglot
from isoglot.corpora.download.catalogue import OFFICIAL_SHA256
from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError
from isoglot.hardware import Hardware
from isoglot.pipeline.cells import VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.sources import sources
from isoglot.pipeline.stages.models import PretrainedEncoder, stored_sizes
from isoglot.pipeline.stages.text import HubText, files_in
from isoglot.pipeline.stages.vocabulary import TokenStreams
from isoglot.store import Record, Stage, Store, inputs_first
from isoglot.store.record import commit, versions
from isoglot.study.conditions import written
from isoglot.study.real_text import RealText
from isoglot.study.scales import LEFT_OUT
from isoglot.study.study import Study
from isoglot.study.synthetic_languages import Synthetic

# The comment goes on through lines that are nothing but comment, up to the next mark.
MARKED = re.compile(r"^ *#[ ]Departure: (.*(?:\n *# (?!Departure: ).*)*)", re.MULTILINE)
SAME_MAKING = ("host", "hardware", "commit", "versions")


@dataclass(frozen=True)
class DataFile:
    """A file by its path in the study, or a data set of the hub, and the titles of all that was made from it."""

    name: str
    digest: str
    """ "sha256:..." of its bytes, or "revision:..." of a data set, whose size is unknown."""
    num_bytes: int | None
    used_for: tuple[str, ...]
    verified: bool
    """Whether isoglot knows the checksum that its publisher's file has."""


@dataclass(frozen=True)
class Words:
    """How the words of one language are found."""

    language: str
    splitter: str
    version: str
    is_lowercase: bool


@dataclass(frozen=True)
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
    """Artifacts that were made on one host with the same code, and seconds of work over all processes and attempts."""

    host: str
    hardware: Hardware
    commit: str | None
    versions: dict[str, str]
    artifacts: int
    seconds: float
    first_finished: str
    last_finished: str


@dataclass(frozen=True)
class Spent:
    """Work on all artifacts of a kind."""

    kind: str
    artifacts: int
    seconds: float


@dataclass(frozen=True)
class Departure:
    """A comment of the code that says where isoglot departs from the paper; its file as "isoglot/study/scales.py"."""

    file: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Everything that a reader needs to make the same numbers again, or to trust them."""

    study: str
    origin: str
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
    artifacts: int
    artifacts_done: int
    seconds: float
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
            if (artifact := store.lookup(stage, read=())) is not None:
                records[digest] = artifact.record
    splittings = [(language, sources(study).splitting(language)) for language in study.languages]
    return Provenance(
        study=study.name,
        origin=portable_origin(study),
        settings=study_settings(study),
        commit=commit(),
        versions=dict(versions()),
        is_made_up=isinstance(study.text, Synthetic),
        data_files=_data_files(stages.values(), study),
        words=tuple(Words(of, each.splitter.value, splitter_version(each), each.lowercase) for of, each in splittings),
        vocabularies=_vocabularies(shown, store),
        budget=_budget(stages.values(), done=records),
        artifacts=len(stages),
        artifacts_done=len(records),
        seconds=_seconds(records.values()),
        makings=tuple(map(_making, _alike(records, *SAME_MAKING))),
        spent=tuple(Spent(alike[0].kind, len(alike), _seconds(alike)) for alike in _alike(records, "kind")),
        departures=departures(),
    )


def _seconds(records: Iterable[Record]) -> float:
    return sum((record.seconds for record in records), start=0.0)


def _alike(records: Mapping[str, Record], *names: str) -> list[list[Record]]:
    """Records that agree in these fields, most of the work first."""
    groups: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        # As text, since a dict of versions is no key.
        groups[repr([getattr(record, name) for name in names])].append(record)
    return sorted(groups.values(), key=_seconds, reverse=True)


def _making(alike: Sequence[Record]) -> Making:
    return Making(
        **{name: getattr(alike[0], name) for name in SAME_MAKING},
        artifacts=len(alike),
        seconds=_seconds(alike),
        first_finished=min(record.finished for record in alike),
        last_finished=max(record.finished for record in alike),
    )


def _vocabularies(shown: Iterable[Cell], store: Store) -> tuple[VocabularySize, ...]:
    """The vocabulary of every model that a cell rests on."""
    # Those of other seeds are as large, so that the first one counts.
    found: dict[tuple[str, tuple[str, ...]], VocabularySize] = {}
    for cell in shown:
        for stage in inputs_first([cell.stage]).values():
            if isinstance(stage, TokenStreams):
                key = (cell.condition, tuple(stage.vocabulary.texts))
                size = found.setdefault(key, VocabularySize(*key, merges={}, types={}))
                size.merges.setdefault(stage.language, stage.bpe.merges)
                if stage.language not in size.types:
                    with suppress(IsoglotError):
                        size.types.update(stored_sizes({stage.language: stage}, store))
    return tuple(found.values())


def _budget(stages: Iterable[Stage], *, done: Container[str]) -> Budget | None:
    """None where the study has no model."""
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


def _data_files(stages: Iterable[Stage], study: Study) -> tuple[DataFile, ...]:
    """Every file that these stages read themselves, once, in the order that it is needed."""
    # Titles are keys, so that each stands there once and in order.
    titles: defaultdict[tuple[str, str, int | None], dict[str, None]] = defaultdict(dict)
    for stage in stages:
        if isinstance(stage, HubText):
            config = "" if stage.dataset.config is None else f" ({stage.dataset.config})"
            titles[f"{stage.dataset.dataset}{config}", f"revision:{stage.dataset.revision}", None][stage.title] = None
        for each in fields(stage):
            for file in files_in(getattr(stage, each.name)):
                titles[_path_in(study, file.path), f"sha256:{file.sha256}", file.num_bytes][stage.title] = None
    official = {f"sha256:{digest}" for digest in OFFICIAL_SHA256.values()}
    return tuple(DataFile(*key, tuple(used_for), verified=key[1] in official) for key, used_for in titles.items())


def portable_origin(study: Study) -> str:
    """As the user named it, without the folders of one machine."""
    return Path(study.origin).name if Path(study.origin).is_absolute() else study.origin


def _path_in(study: Study, path: Path) -> str:
    # As the study names it: where its data lie is another thing on every machine.
    return (study.text.as_written(path) if isinstance(study.text, RealText) else path).as_posix()


def study_settings(study: Study) -> dict[str, Any]:
    """Everything that changes results, so neither the study's name nor its file; conditions of Table 1 by name."""
    only = {exhibit: parts for exhibit, parts in study.only.items() if exhibit in (*study.exhibits, VOCABULARY)}
    settings = {
        **{name: getattr(study, name) for name in ("languages", "conditions", "exhibits", "tasks", "seeds")},
        "conditions": [written(condition) for condition in study.conditions],
        # Left out where there is none, as in reports that are older than these tables.
        **({"only": only} if only else {}),
        "scale": {name: value for name, value in asdict(study.scale).items() if LEFT_OUT.get(name) != value},
        "text": {name: value for name, value in asdict(study.text).items() if name != "data"},
    }
    # By way of text, tuples become lists and enums their values; paths are all that JSON does not know.
    return dict(json.loads(json.dumps(settings, default=lambda path: _path_in(study, path))))


@cache
def departures() -> tuple[Departure, ...]:
    """All of them, by file and in the order they stand there."""
    package = Path(isoglot.__file__).parent
    return tuple(
        Departure(path.relative_to(package.parent).as_posix(), sentence)
        for path in sorted(package.rglob("*.py"))
        for sentence in marked_sentences(path.read_text(encoding="utf-8"))
    )


def marked_sentences(code: str) -> list[str]:
    """The sentence of each mark, to the end of its comment."""
    return [re.sub(r"\n *# ", " ", found[1]) for found in MARKED.finditer(code)]
