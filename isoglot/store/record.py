"""The record of a finished artifact: its identity, its making, and the checksums of its files."""

import json
import os
import time
from collections.abc import Container, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.files import flush, parsed_json, text_sum
from isoglot.hardware import Hardware, hardware
from isoglot.store.canonical import Json, canonical_json, digest_of
from isoglot.store.file_sums import (
    RECORD_NAME,
    SUMMARY_NAME,
    FileSum,
    Seen,
    check_files,
    damaged,
    unreadable,
)
from isoglot.store.stage import Amount, Stage

FORMAT = 3
"""Format 2 had no checksum of the record itself. That is no part of an identity, so both formats share artifacts."""
CHECKSUM = "checksum"
"""The key of the sha256 of all other fields, without which a changed digit in them would go unnoticed."""
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
    hardware: Hardware

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
        content[CHECKSUM] = text_sum(canonical_json(content))
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        flush(path)
        flush(folder)


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
        content = parsed_json(text)
        check_format(content["format"], path=path)
        checksum = content.pop(CHECKSUM, None)
        is_changed = (
            checksum != text_sum(canonical_json(content)) if checksum is not None else content["format"] >= FORMAT
        )
        content["files"] = {name: FileSum(**file) for name, file in content["files"].items()}
        content["amount"] = None if content["amount"] is None else Amount(**content["amount"])
        content["seconds"] = float(content["seconds"])
        machine = content["hardware"]
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
        names = parsed_json(path.read_bytes())["files"]
        return [name for name in names if record.files[name]]
    except OSError as error:
        raise unreadable(path, error, folder=folder) from error
    except (ValueError, TypeError, KeyError) as error:
        raise damaged(path, fault="does not say which files are there", folder=folder) from error


def check_format(number: int, *, newest: int = FORMAT, path: Path | str) -> None:
    """Refuse a file of a format that this isoglot does not know yet."""
    if number > newest:
        raise IsoglotError(f"{path} has format {number}, and this isoglot reads up to {newest}: update isoglot")
