"""The files of an artifact: their checksums, the checks against them, and what does not belong there."""

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from isoglot.errors import IsoglotError
from isoglot.files import flush

RECORD_NAME = "record.json"
SUMMARY_NAME = "isoglot-summary.json"
"""A file beside the record in the folder of a summary: it lists those files of the artifact that are there."""


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


def fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def drop_all_but(folder: Path, kept: Callable[[str], bool]) -> None:
    """Remove files by name, links without following them, and the folders that are then empty."""
    for path in sorted(folder.rglob("*"), reverse=True):  # what is in a folder comes before it
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):
                path.rmdir()
        elif not kept(path.relative_to(folder).as_posix()):
            path.unlink()


def file_sums(folder: Path, *, leaves: Sequence[str] = ("*",), leave_out: str) -> dict[str, FileSum]:
    """Every file under a folder that fits a pattern, but one; flushed to the disk, by relative path in sorted order."""
    names = []
    for path in folder.rglob("*"):
        if not path.is_dir() and not fits(path.relative_to(folder).as_posix(), leaves):
            continue
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


def check_strays(folder: Path, files: Container[str]) -> None:
    """Raise at the first file that a record does not name, such as a model planted among intermediate ones."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if not is_folder and name not in files and name not in (RECORD_NAME, SUMMARY_NAME):
            raise StrayError(path)


def unreadable(path: Path, error: OSError, *, folder: Path) -> IsoglotError:
    """A missing file is damage to its artifact; one that cannot be read may be as it was."""
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return damaged(path, fault=f"cannot be read ({error.strerror})", folder=folder)
    return UnreadableError(
        f"{path} cannot be read ({error.strerror}): see that its disk and your rights to it are sound"
    )


def sum_of(content: bytes) -> FileSum:
    return FileSum(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def file_sum(path: Path) -> FileSum:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return FileSum(bytes=file.tell(), sha256=sha256)
