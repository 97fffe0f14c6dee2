"""A stage: the frozen description of one artifact, and the function that makes it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol

from isoglot.store.canonical import Identified, Json, digest_of, identity_fields, json_form


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Rather too much than too little: a job that takes more than it asked for is stopped."""

    gpus: int = 0
    cpus: int = 1
    gigabytes: float = 4
    """Of main memory."""
    hours: float = 1
    """In all; a stage that can go on from where it was stopped may get them in several turns."""


RESERVED = frozenset({"kind", "version", "digest", "make", "amount", "resources"})


class Progress(Protocol):
    """Told how far a job is: progress(3e5, 1.2e6, "tokens", "loss 4.1")."""

    def __call__(self, done: float, total: float, unit: str, note: str = "") -> None: ...


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The size of a job, for estimates of its cost: Amount(units=1.2e6, of="tokens")."""

    units: float
    of: str


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a stage is handed to make its artifact."""

    folder: Path
    """Write here. It may hold the files of an interrupted attempt."""
    input_folders: Mapping[str, Path]
    """Finished folders by digest."""
    progress: Progress
    log_folder: Path | None = None
    """Where to write what differs from one making to the next, as its speed; it is no part of the artifact."""

    def path(self, stage: "Stage") -> Path:
        """The finished folder of one of the inputs."""
        if stage.digest not in self.input_folders:
            raise ValueError(
                f"{stage.title} ({stage.digest[:16]}) is no input of the stage being made: make it a field"
            )
        return self.input_folders[stage.digest]


@dataclass(frozen=True, kw_only=True)
class Stage(Identified, ABC):
    """Subclasses are frozen keyword-only dataclasses; their fields are plain settings, or stages that are inputs."""

    kind: ClassVar[str]
    """First part of the artifact's folder name, as in "token-streams"."""
    version: ClassVar[int] = 1
    """Raise it when the same settings would write other bytes."""
    rate_settings: ClassVar[tuple[str, ...]] = ()
    """Names of settings without which the rates of two stages of the kind say little of each other."""
    fills_gpu: ClassVar[bool] = False
    """Whether one of the kind keeps a GPU busy by itself, so that many side by side would only share its speed."""

    @abstractmethod
    def make(self, work: Work) -> None:
        """Write files under work.folder, going on from an interrupted attempt where that is worth it."""

    def amount(self) -> Amount | None:
        """The size of the job, where it can be told beforehand."""
        return None

    def guessed_seconds(self) -> float | None:
        """How long it may take, for estimates before any stage of its kind has run."""
        return None

    def share_done(self, folder: Path) -> float:  # noqa: ARG002
        """What part of the job an interrupted attempt in this folder has done, and the next one need not do again."""
        return 0.0

    def resources(self) -> Resources:
        """What it needs of the node of a cluster."""
        return Resources()

    @property
    def title(self) -> str:
        """The artifact's name for people."""
        return self.kind

    @property
    def inputs(self) -> dict[str, "Stage"]:
        """Stages whose artifacts this one needs: {"vocabulary": ..., "streams.fr": ..., "texts.0": ...}."""
        return {path: stage for name, value in identity_fields(self) for path, stage in _stages(name, value).items()}

    @property
    def settings(self) -> dict[str, Json]:
        """The fields that are no inputs, as JSON."""
        return {
            name: json_form(value, at=f"{type(self).__name__}.{name}")
            for name, value in identity_fields(self)
            if not _stages(name, value)
        }

    @cached_property
    def digest(self) -> str:
        """Equal for equal kind, version, settings and inputs, on any machine."""
        _check_class(type(self))
        return digest_of(kind=self.kind, version=self.version, settings=self.settings, inputs=self.input_digests)

    @property
    def input_digests(self) -> dict[str, str]:
        """The digest of every input."""
        return {path: stage.digest for path, stage in self.inputs.items()}


def _stages(name: str, value: object) -> dict[str, Stage]:
    """A field's stages by path; none unless the field is a stage or has stages as its only members."""
    match value:
        case Stage():
            return {name: value}
        case tuple() | list():
            members = {f"{name}.{index}": member for index, member in enumerate(value)}
        case Mapping():
            members = {f"{name}.{key}": member for key, member in value.items()}
        case _:
            return {}
    stages = {path: member for path, member in members.items() if isinstance(member, Stage)}
    return stages if len(stages) == len(members) else {}


def _check_class(stage: type[Stage]) -> None:
    # An inherited kind, a missing decorator or a field in the place of a class variable would give two different
    # artifacts one digest.
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", vars(stage).get("kind", "")):
        raise TypeError(f'{stage.__name__} needs a kind of its own, in small letters, as in kind = "token-streams"')
    if "__dataclass_fields__" not in vars(stage):
        raise TypeError(f"{stage.__name__} needs the decorator @dataclass(frozen=True, kw_only=True)")
    if taken := RESERVED.intersection(each.name for each in fields(stage)):
        raise TypeError(f"{stage.__name__} has a field {min(taken)!r}, which means something else in every stage")
