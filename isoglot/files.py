"""Files that a kill cannot leave in pieces, locks between processes, and clear errors from a full disk."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import multiprocessing.process
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from isoglot.errors import IsoglotError, option

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNUSABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

# With less room than this, any error is taken for a full disk: numpy and safetensors hide the errno.
LITTLE_ROOM_BYTES = 1 << 16


def flush(path: Path) -> None:
    """Write a file, or the names in a folder, from the system's memory to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Where others may write into a folder, a link that they put there would have us write into a file of ours elsewhere.


def link_error(path: Path) -> IsoglotError:
    return IsoglotError(f"{path} is a symbolic link, and isoglot writes through none: see who made it, and delete it")


def refuse_links(path: Path, *, below: Path) -> None:
    """Raise if a path, or a folder on the way to it from another, is a link."""
    for each in (path, *path.parents):
        if each == below:
            return
        if each.is_symlink():
            raise link_error(each)


def descriptor_of(path: Path, flags: int) -> int:
    """An open file that is no link."""
    try:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise link_error(path) from error
        raise


def new_file(path: Path) -> BinaryIO:
    """An empty file to write, in place of one that is there."""
    if path.is_symlink():
        raise link_error(path)
    # Not emptied but made anew: the one that is there may have a second name elsewhere.
    path.unlink(missing_ok=True)
    return os.fdopen(descriptor_of(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb")


def file_to_extend(path: Path) -> FileIO:
    """A file to add bytes to, each written at once."""
    return FileIO(descriptor_of(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a small file so that readers see all of it or none, for one writer at a time."""
    draft = path.with_name(f"{path.name}.partial")
    with new_file(draft) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    # In this order: a rename may reach the disk before the bytes do, and a power cut would then leave an empty file.
    flush(draft)
    draft.replace(path)
    flush(path.parent)


@contextmanager
def clear_disk_errors(root: Path, *, name: str = "the store", flag: str = "store") -> Iterator[None]:
    """Turn the errors of a full or read-only disk under a root into one that names the fix."""
    try:
        yield
    except IsoglotError:
        raise
    except Exception as error:
        if sentence := _disk_sentence(error, root=root, name=name, flag=flag):
            raise IsoglotError(sentence) from error
        raise


def _disk_sentence(error: Exception, *, root: Path, name: str, flag: str) -> str | None:
    number = error.errno if isinstance(error, OSError) and _concerns(error, root=root) else None
    reason = os.strerror(number or errno.ENOSPC)
    if number in UNUSABLE:
        return (
            f"{name} {root} cannot be used ({reason}): make it a writable folder or choose another with {option(flag)}"
        )
    if number in NO_LOCKS:
        return (
            f"the file system of {name} {root} has no file locks: choose a folder on another disk with {option(flag)}"
        )
    # Under a quota numpy writes a part of an array, and only its message says so.
    is_cut_short = isinstance(error, OSError) and re.search(r"\d+ requested and \d+ written", str(error))
    if number in FULL or is_cut_short or _is_full(root):
        return f"no room left in {name} {root} ({reason}): free some and run again; what is done so far is kept"
    return None


def _concerns(error: OSError, *, root: Path) -> bool:
    # A failed write names no file, so a full disk is taken to be the store's.
    if error.filename is None:
        return error.errno in FULL
    if isinstance(error.filename, int):
        return False
    path = Path(os.fsdecode(error.filename))
    return path.is_relative_to(root) or root.is_relative_to(path)


def _is_full(root: Path) -> bool:
    with suppress(OSError):
        disk = shutil.disk_usage(root)
        # A file system of unknown size reports 0.
        return disk.total > 0 and disk.free < LITTLE_ROOM_BYTES
    return False


@dataclass(frozen=True)
class Lease:
    """A lock that is held, with the token that its file has had since."""

    path: Path
    descriptor: int
    token: str

    def check(self) -> None:
        """Raise if the lock was lost, as on a network file system whose server took this host for dead."""
        if not self.is_held:
            other = holder(self.path) or "which has ended"
            raise IsoglotError(
                f"the lock {self.path} was lost to another process ({other}): this one gives way, and nothing of its "
                "work is put into the store"
            )

    @property
    def is_held(self) -> bool:
        # Another host that has it since has written its own token, or has made a new file of this name.
        with suppress(FileNotFoundError):
            is_same = os.path.samestat(os.fstat(self.descriptor), self.path.lstat())
            return is_same and _content(self.descriptor) == self.token
        return False


@contextmanager
def lease(path: Path, *, waiting: Callable[[str], None] | None = None) -> Iterator[Lease]:
    """Hold the lock of the file at path. If another process has it, pass its name to `waiting` and wait."""
    # The lock is the kernel's (flock), so that it is free as soon as its holder dies, even by kill -9.
    # A spawned worker imports the script that started it; a script without a main guard would wait for itself.
    if getattr(multiprocessing.process.current_process(), "_inheriting", False):
        raise IsoglotError('worker processes read this script again: put what it does under if __name__ == "__main__":')
    held = _locked(path, waiting=waiting)
    descriptor = held.descriptor
    try:
        yield held
    finally:
        # The file is unlinked before it is unlocked. Otherwise a process that waits could lock it while this one
        # unlinks it, and a third could create and lock a new file of the same name: two holders at once.
        if held.is_held:
            path.unlink(missing_ok=True)
        # Closing alone would leave the lock with any process forked in the meantime.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """The name of the process that holds the lock of the file at path, if another process holds it."""
    # Open for writing too: NFS locks a file for one process alone only if that could write to it.
    with suppress(FileNotFoundError), os.fdopen(descriptor_of(path, os.O_RDWR), "r+b") as file:
        descriptor = file.fileno()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return _holder_name(descriptor)
    return None


def _locked(path: Path, *, waiting: Callable[[str], None] | None) -> Lease:
    token = f"{os.uname().nodename}, process {os.getpid()}\n{secrets.token_hex(16)}"
    while True:
        descriptor = descriptor_of(path, os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is not None:
                    waiting(_holder_name(descriptor))
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The holder before may have unlinked this file: then the lock is worth nothing, and a new file is opened.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                try:
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, token.encode(), 0)
                except BaseException:
                    path.unlink(missing_ok=True)  # a full disk must not leave the file behind
                    raise
                return Lease(path, descriptor, token)
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _holder_name(descriptor: int) -> str:
    return _content(descriptor).partition("\n")[0] or "another process"


def _content(descriptor: int) -> str:
    return os.pread(descriptor, 1024, 0).decode(errors="replace")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def parsed_json(text: str | bytes) -> Any:
    """The content of JSON that anybody may have written: however it is damaged, a ValueError says so."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists nested too deeply") from None
