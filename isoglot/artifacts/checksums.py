"""Sizes and checksums of an artifact's files."""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import flush

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
