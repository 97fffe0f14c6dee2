"""The record of a finished artifact: what it is, how it was made, and what its files must be."""

import hashlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import flush
from isoglot.hardware import Hardware, hardware
from isoglot.store.canonical import Json, digest_of
from isoglot.store.stage import Amount, Stage

PACKAGES = (
    "isoglot",
    "torch",
    "numpy",
    "safetensors",
    "sacremoses",
    "jieba",
    "zstandard",
    "datasets",
    "transformers",
    "scipy",
)


def host() -> str:
    """The machine's name."""
    return os.uname().nodename


@cache
def commit() -> str | None:
    """The commit isoglot runs from, "-dirty" if its files were changed since; None if it was installed as a wheel."""
    import subprocess  # with importlib.metadata below, most of the time it would take to import this package

    checkout = Path(__file__).parents[2]
    # Without this check, an isoglot installed somewhere below another repository would show that one's commit.
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that write artifacts, without importing them."""
    import platform
    from importlib import metadata

    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


SUMMARY_NAME = "isoglot-summary.json"
"""In the folder of a summary, beside the record: which of the artifact's files are there."""


@dataclass(frozen=True, kw_only=True)
class FileSum:
    """What a file must still be when it is read."""

    bytes: int
    sha256: str


def damaged(path: Path, *, fault: str, folder: Path) -> IsoglotError:
    """The error for an artifact that is not what its record says, at one of its files."""
    is_summary = path.name == SUMMARY_NAME or any(folder.glob(SUMMARY_NAME))
    mend = "unpack it again" if is_summary else "run again to remake it"
    return IsoglotError(f"{path} {fault}: delete the folder {folder} and {mend}")


def file_sums(folder: Path, *, leave_out: Collection[str]) -> dict[str, FileSum]:
    """Every file under a folder, read once and flushed to the disk, by relative posix path in sorted order."""
    sums = {}
    for name in sorted(_names(folder)):
        if name not in leave_out:
            sums[name] = _file_sum(folder / name)
            flush(folder / name)
    return sums


def check_files(folder: Path, files: Mapping[str, FileSum], *, contents: bool) -> None:
    """Raises at the first file that is missing, of another size or, where contents are asked for, of other bytes."""
    for name, expected in files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            if size != expected.bytes:
                raise damaged(path, fault=f"has {size} bytes instead of {expected.bytes}", folder=folder)
            if contents and _file_sum(path) != expected:
                raise damaged(path, fault="is corrupted (its sha256 has changed)", folder=folder)
        except OSError as error:
            raise damaged(path, fault=f"cannot be read ({error.strerror})", folder=folder) from error


def _file_sum(path: Path) -> FileSum:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return FileSum(bytes=file.tell(), sha256=sha256)


def _names(folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                yield path.relative_to(folder).as_posix()
            elif stat.S_ISDIR(mode):
                flush(path)
            else:
                fault = "is a symbolic link" if stat.S_ISLNK(mode) else "is neither a file nor a folder"
                raise IsoglotError(f"{path} {fault}, which a store cannot keep: have its stage write a plain file")


FORMAT = 2
"""1 had no hardware. Neither this nor the hardware is part of an identity: artifacts of both are the same."""
RECORD_NAME = "record.json"


@dataclass(frozen=True, kw_only=True)
class Record:
    """record.json, written last into an artifact's folder."""

    format: int
    kind: str
    title: str
    version: int
    digest: str
    settings: dict[str, Json]
    inputs: dict[str, str]
    """Digests of the artifacts it was made from."""
    files: dict[str, FileSum]
    amount: Amount | None
    seconds: float
    """Spent in making it, over all interrupted attempts."""
    commit: str | None
    versions: dict[str, str]
    host: str
    finished: str
    """UTC, ISO 8601."""
    hardware: Hardware | None = None
    """Of the host, where the record says so."""

    @classmethod
    def of(cls, stage: Stage, *, files: dict[str, FileSum], seconds: float) -> "Record":
        """The record of a stage whose files have just been written."""
        return cls(
            format=FORMAT,
            kind=stage.kind,
            title=stage.title,
            version=stage.version,
            digest=stage.digest,
            settings=stage.settings,
            inputs=stage.input_digests,
            files=files,
            amount=stage.amount(),
            seconds=seconds,
            commit=commit(),
            versions=versions(),
            host=host(),
            finished=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
            hardware=hardware(),
        )

    @property
    def input_digests(self) -> dict[str, str]:
        """As a stage calls them."""
        return self.inputs

    @property
    def folder_name(self) -> str:
        """Where the store keeps the artifact."""
        return folder_name(kind=self.kind, digest=self.digest)

    def write(self, folder: Path) -> None:
        """Writes record.json to the disk itself; until the folder is renamed it may be found torn."""
        path = folder / RECORD_NAME
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        flush(path)
        flush(folder)


def folder_name(*, kind: str, digest: str) -> str:
    """The name of an artifact's folder in the store."""
    return f"{kind}-{digest[:16]}"


def read_record(folder: Path) -> Record:
    """The record in a folder, refused if it is torn, was changed by hand or comes from a newer isoglot."""
    path = folder / RECORD_NAME
    try:
        return parsed_record(path.read_bytes(), path=path)
    except OSError as error:
        raise damaged(path, fault=f"cannot be read ({error.strerror})", folder=folder) from error
    except ValueError as error:
        raise damaged(path, fault=str(error), folder=folder) from error


def parsed_record(text: bytes, *, path: Path | str) -> Record:
    """The record at a path, wherever that is; a ValueError says what is wrong with it."""
    try:
        content = json.loads(text)
        check_format(content["format"], path=path)
        content["files"] = {name: FileSum(**file) for name, file in content["files"].items()}
        content["amount"] = None if content["amount"] is None else Amount(**content["amount"])
        content["seconds"] = float(content["seconds"])
        content["hardware"] = Hardware.of_json(content.get("hardware"))
        record = Record(**content)
        digest = digest_of(kind=record.kind, version=record.version, settings=record.settings, inputs=record.inputs)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("is not the record of an artifact") from error
    if digest != record.digest:
        raise ValueError("was changed (its settings are not those of its digest)")
    return record


def read_artifact(folder: Path, *, stage: Stage, contents: bool) -> Record:
    """The record of a stage's artifact once its files are found as they should be: sizes, and contents if asked."""
    record = _record_of(stage, folder)
    check_files(folder, record.files, contents=contents)
    return record


def read_summary(folder: Path, *, stage: Stage | Record, contents: bool) -> Record:
    """The same of an artifact of which not all files came here."""
    record = _record_of(stage, folder)
    check_files(folder, {name: record.files[name] for name in summarised_files(folder, record)}, contents=contents)
    return record


def summarised_files(folder: Path, record: Record) -> list[str]:
    """Those of an artifact's files that a summary of it has."""
    path = folder / SUMMARY_NAME
    try:
        names = json.loads(path.read_bytes())["files"]
        return [name for name in names if record.files[name]]
    except OSError as error:
        raise damaged(path, fault=f"cannot be read ({error.strerror})", folder=folder) from error
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(path, fault="does not say which files are there", folder=folder) from error


def _record_of(stage: Stage | Record, folder: Path) -> Record:
    record = read_record(folder)
    if record.digest != stage.digest:
        raise damaged(folder / RECORD_NAME, fault=f"is of another artifact ({record.digest[:16]})", folder=folder)
    return record


def check_format(number: int, *, path: Path | str) -> None:
    """Refuses files of a format this isoglot does not know yet."""
    if number > FORMAT:
        raise IsoglotError(f"{path} has format {number}, and this isoglot reads up to {FORMAT}: update isoglot")
