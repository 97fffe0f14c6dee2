"""A stage: the frozen description of one artifact, and the function that makes it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import ClassVar, Protocol

from isoglot.store.canonical import Identified, Json, digest_of, identity_fields, json_form


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The needs of a cluster job, generously: a job that takes more than it has reserved is killed."""

    gpus: int = 0
    cpus: int = 1
    gigabytes: float = 4
    hours: float = 1
    """The whole time. A stage that can be interrupted may get it in several turns."""


class Progress(Protocol):
    """A function for reports of progress: progress(3e5, 1.2e6, "tokens", "loss 4.1")."""

    def __call__(self, done: float, total: float, unit: str, note: str = "") -> None: ...


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The size of a job, for estimates of its cost: Amount(units=1.2e6, of="tokens")."""

    units: float
    of: str


@dataclass(frozen=True, kw_only=True)
class Work:
    """The folders that a stage reads and writes."""

    folder: Path  # the folder to write into, which may have the files of an interrupted attempt
    input_folders: Mapping[str, Path]  # finished folders by digest
    progress: Progress
    log_folder: Path
    """The folder for output that is no part of the artifact, such as its speed."""

    def path(self, stage: "Stage") -> Path:
        """The finished folder of one of the inputs."""
        if stage.digest not in self.input_folders:
            raise ValueError(f"{stage.title} ({stage.folder_name}) is no input of the stage in work: make it a field")
        return self.input_folders[stage.digest]


@dataclass(frozen=True, kw_only=True)
class Stage(Identified, ABC):
    """The description of an artifact. Subclasses are frozen dataclasses of plain settings, and of stages as inputs."""

    kind: ClassVar[str]  # the first part of the artifact's folder name, such as "token-streams"
    version: ClassVar[int] = 1  # raise it when the same settings would write other bytes
    rate_settings: ClassVar[tuple[str, ...]] = ()
    """Settings that decide the speed, as in "run.shape". Estimates rest on finished stages with the same values."""
    titled: ClassVar[str] = "{self.kind}"
    """A pattern over the fields, which gives the artifact's name for people."""
    leaves: ClassVar[tuple[str, ...]] = ("*",)
    """Patterns of the files that make the artifact. Anything else in the work folder is neither recorded nor kept."""
    resumes: ClassVar[tuple[str, ...]] = ()
    """Patterns of the files that another attempt may go on from. They carry checksums; all others are removed first."""
    fills_gpu: ClassVar[bool] = False
    """Whether one such stage keeps a GPU busy, so that more at once would only share its speed."""

    @property
    def shares_gpu(self) -> bool:
        """Whether several such stages at once get more from a GPU than one after the other."""
        return True

    @abstractmethod
    def make(self, work: Work) -> None:
        """Write files under work.folder; where it is worth it, go on from an interrupted attempt."""

    def amount(self) -> Amount | None:
        """The size of the job, if it is known before."""
        return None

    def guessed_seconds(self) -> float | None:
        """For estimates before any stage of its kind has run."""
        return None

    def share_done(self, folder: Path) -> float:  # noqa: ARG002
        """The part of the job that the interrupted attempt in this folder has done for good."""
        return 0.0

    def resources(self) -> Resources:
        return Resources()

    @property
    def folder_name(self) -> str:
        return f"{self.kind}-{self.digest[:16]}"

    @property
    def title(self) -> str:
        """The artifact's name for people."""
        return self.titled.format(self=self)

    @property
    def inputs(self) -> dict[str, "Stage"]:
        """Stages whose artifacts this one needs: {"vocabulary": ..., "streams.fr": ..., "texts.0": ...}."""
        return {path: stage for name, value in identity_fields(self) for path, stage in _stages(name, value).items()}

    @property
    def settings(self) -> dict[str, Json]:
        """All fields but the inputs, as JSON."""
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
        return {path: stage.digest for path, stage in self.inputs.items()}


def _stages(name: str, value: object) -> dict[str, Stage]:
    """The stages of a field by path: the field itself, or its members if all of them are stages."""
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


@cache
def _check_class(stage: type[Stage]) -> None:
    # An inherited kind, a missing decorator, or a field in the place of a class variable would give two different
    # artifacts the same digest.
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", vars(stage).get("kind", "")):
        raise TypeError(f'{stage.__name__} needs a kind of its own, in small letters, as in kind = "token-streams"')
    if "__dataclass_fields__" not in vars(stage):
        raise TypeError(f"{stage.__name__} needs the decorator @dataclass(frozen=True, kw_only=True)")
    if taken := {each.name for each in fields(stage)} & {"kind", *dir(Stage)}:
        raise TypeError(f"{stage.__name__} has a field {min(taken)!r}, which means something else in every stage")
