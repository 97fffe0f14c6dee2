"""The record of a finished artifact: its identity, its making, and the checksums of its files."""

import hashlib
import json
import os
import time
from collections.abc import Container, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from isoglot.errors import IsoglotError
from isoglot.files import flush
from isoglot.hardware import Hardware, hardware
from isoglot.store.canonical import Json, canonical_json, digest_of
from isoglot.store.stage import Amount, Stage

FORMAT = 3
"""Format 1 had no hardware, format 2 no checksum of the record itself. None of this is part of an identity, so all
formats share artifacts."""
CHECKSUM = "checksum"
"""The key of the sha256 of all other fields, without which a changed digit in them would go unnoticed."""
RECORD_NAME = "record.json"
SUMMARY_NAME = "isoglot-summary.json"
"""A file beside the record in the folder of a summary: it lists those files of the artifact that are there."""
PACKAGES = (
    *("isoglot", "torch", "numpy", "safetensors", "sacremoses"),
    *("jieba", "zstandard", "datasets", "transformers", "scipy"),
)


def maker() -> dict[str, Any]:
    """The code and the machine that make an artifact, as fields of its record."""
    return {"commit": commit(), "versions": versions(), "host": os.uname().nodename, "hardware": hardware()}


def commit() -> str | None:
    """The commit isoglot runs from, "-dirty" if files were changed since; None if it was installed as a wheel."""
    import subprocess  # with importlib.metadata below, most of the time it would take to import this package

    checkout = Path(__file__).parents[2]
    # Without this check, an isoglot installed somewhere below another repository would show that one's commit.
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def versions() -> dict[str, str]:
    """Versions by package, read from their metadata without importing them."""
    import platform
    from importlib import metadata

    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed


@dataclass(frozen=True, kw_only=True)
class FileSum:
    """Size and checksum of a file, which must be the same when it is read."""

    bytes: int
    sha256: str


class Seen(NamedTuple):
    """Signs that a file is the one whose bytes were read before."""

    inode: int
    bytes: int
    modified: int
    changed: int


class Everything(Container[str]):
    """Contains all names."""

    def __contains__(self, _: object) -> bool:
        return True


EVERYTHING = Everything()


def damaged(path: Path, *, fault: str, folder: Path) -> IsoglotError:
    is_summary = path.name == SUMMARY_NAME or any(folder.glob(SUMMARY_NAME))
    fix = "unpack it again" if is_summary else "run again to remake it"
    return IsoglotError(f"{path} {fault}: delete the folder {folder} and {fix}")


def file_sums(folder: Path, *, leave_out: str) -> dict[str, FileSum]:
    """Every file under a folder but one, flushed to the disk, by relative posix path in sorted order."""
    names = []
    for path in folder.rglob("*"):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            fault = "is a symbolic link" if path.is_symlink() else "is neither a file nor a folder"
            raise IsoglotError(f"{path} {fault}, which a store cannot keep: have its stage write a plain file")
        flush(path)  # a folder too, which holds the names of its files
        if path.is_file():
            names.append(path.relative_to(folder).as_posix())
    return {name: file_sum(folder / name) for name in sorted(names) if name != leave_out}


class UnreadableError(IsoglotError):
    """A file that cannot be read now, as without the permission or on a failing disk: nobody knows its bytes."""


def check_files(
    folder: Path, files: Mapping[str, FileSum], *, read: Container[str], known: MutableMapping[Path, Seen] | None = None
) -> None:
    """Raise at the first file that is missing, of another size or, if its name is in `read`, of other bytes.

    Files that `known` has as they are now have been read before. The others are added to it.
    """
    for name, expected in files.items():
        path = folder / name
        try:
            status = path.stat()
            seen = Seen(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if status.st_size != expected.bytes:
                raise damaged(path, fault=f"has {status.st_size} bytes instead of {expected.bytes}", folder=folder)
            if name not in read or (known is not None and known.get(path) == seen):
                continue
            if file_sum(path) != expected:
                raise damaged(path, fault="is corrupted (its sha256 has changed)", folder=folder)
        except OSError as error:
            raise unreadable(path, error, folder=folder) from error
        if known is not None:
            known[path] = seen


class StrayError(IsoglotError):
    """A file beside those of an artifact, which a reader might take for one of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is no file of this artifact, and may not lie there: delete it")
        self.path = path


def check_strays(folder: Path, record: "Record") -> None:
    """Raise at the first file that the record does not name, such as a model planted among intermediate ones."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if not is_folder and name not in record.files and name not in (RECORD_NAME, SUMMARY_NAME):
            raise StrayError(path)


def unreadable(path: Path, error: OSError, *, folder: Path) -> IsoglotError:
    """A missing file is damage to its artifact; one that cannot be read may be as it was."""
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return damaged(path, fault=f"cannot be read ({error.strerror})", folder=folder)
    return UnreadableError(
        f"{path} cannot be read ({error.strerror}): see that its disk and your rights to it are sound"
    )


def file_sum(path: Path) -> FileSum:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return FileSum(bytes=file.tell(), sha256=sha256)


@dataclass(frozen=True, kw_only=True)
class Record:
    """The content of record.json, which is written last into an artifact's folder."""

    format: int = FORMAT
    kind: str
    title: str
    version: int
    digest: str
    settings: dict[str, Json]
    inputs: dict[str, str]  # digests
    files: dict[str, FileSum]
    amount: Amount | None
    seconds: float  # over all interrupted attempts
    commit: str | None
    versions: dict[str, str]
    host: str
    finished: str  # UTC, ISO 8601
    hardware: Hardware | None = None  # None in records of format 1

    @classmethod
    def of(cls, stage: Stage, *, files: dict[str, FileSum], seconds: float, maker: Mapping[str, Any]) -> "Record":
        return cls(
            kind=stage.kind,
            title=stage.title,
            version=stage.version,
            digest=stage.digest,
            settings=stage.settings,
            inputs=stage.input_digests,
            files=files,
            amount=stage.amount(),
            seconds=seconds,
            finished=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
            **maker,
        )

    @property
    def input_digests(self) -> dict[str, str]:
        return self.inputs

    @property
    def folder_name(self) -> str:
        return f"{self.kind}-{self.digest[:16]}"

    def write(self, folder: Path) -> None:
        """Write record.json to the disk itself. Until the folder is renamed, a kill may leave it torn."""
        path = folder / RECORD_NAME
        content = asdict(self)
        content[CHECKSUM] = _checksum(content)
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        flush(path)
        flush(folder)


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(content).encode("ascii")).hexdigest()


def read_record(folder: Path) -> Record:
    """The record in a folder. A torn or edited record is refused, and so is one of a newer isoglot."""
    path = folder / RECORD_NAME
    try:
        return parsed_record(path.read_bytes(), path=path)
    except OSError as error:
        raise unreadable(path, error, folder=folder) from error
    except ValueError as error:
        raise damaged(path, fault=str(error), folder=folder) from error


def parsed_record(text: bytes, *, path: Path | str) -> Record:
    """The record in a text; `path` is for messages. A ValueError says what is wrong with it."""
    try:
        content = json.loads(text)
        check_format(content["format"], path=path)
        checksum = content.pop(CHECKSUM, None)
        is_changed = checksum != _checksum(content) if checksum is not None else content["format"] >= FORMAT
        content["files"] = {name: FileSum(**file) for name, file in content["files"].items()}
        content["amount"] = None if content["amount"] is None else Amount(**content["amount"])
        content["seconds"] = float(content["seconds"])
        if (machine := content.get("hardware")) is not None:
            content["hardware"] = Hardware(**machine | {"gpus": tuple(machine["gpus"])})
        record = Record(**content)
        digest = digest_of(kind=record.kind, version=record.version, settings=record.settings, inputs=record.inputs)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("is not the record of an artifact") from error
    if digest != record.digest:
        raise ValueError("was changed (its settings are not those of its digest)")
    if is_changed:
        raise ValueError("was changed (its checksum is that of other fields)")
    return record


def read_artifact(
    folder: Path,
    *,
    stage: Stage | Record,
    read: Container[str],
    is_summary: bool = False,
    known: MutableMapping[Path, Seen] | None = None,
) -> Record:
    """The record of a stage's artifact, after a check of the sizes of its files and the bytes of those to `read`."""
    record = read_record(folder)
    if record.digest != stage.digest:
        raise damaged(folder / RECORD_NAME, fault=f"is of another artifact ({record.digest[:16]})", folder=folder)
    # A summary has only some of an artifact's files.
    names = summarised_files(folder, record) if is_summary else record.files
    check_files(folder, {name: record.files[name] for name in names}, read=read, known=known)
    return record


def summarised_files(folder: Path, record: Record) -> list[str]:
    """The names of those files of an artifact that its summary in this folder has."""
    path = folder / SUMMARY_NAME
    try:
        names = json.loads(path.read_bytes())["files"]
        return [name for name in names if record.files[name]]
    except OSError as error:
        raise unreadable(path, error, folder=folder) from error
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(path, fault="does not say which files are there", folder=folder) from error


def check_format(number: int, *, path: Path | str) -> None:
    """Refuse a file of a format that this isoglot does not know yet."""
    if number > FORMAT:
        raise IsoglotError(f"{path} has format {number}, and this isoglot reads up to {FORMAT}: update isoglot")
