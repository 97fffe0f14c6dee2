"""Files that a kill cannot leave in pieces, locks between processes, and clear errors from a full disk."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import multiprocessing.process
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from torch import Tensor

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


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a small file so that readers see all of it or none, for one writer at a time."""
    draft = path.with_name(f"{path.name}.partial")
    draft.write_bytes(content.encode() if isinstance(content, str) else content)
    # In this order: a rename may reach the disk before the bytes do, and a power cut would then leave an empty file.
    flush(draft)
    draft.replace(path)
    flush(path.parent)


@contextmanager
def clear_disk_errors(root: Path, *, name: str = "the store", option: str = "--store") -> Iterator[None]:
    """Turn the errors of a full or read-only disk under a root into one that names the fix."""
    try:
        yield
    except IsoglotError:
        raise
    except Exception as error:
        if sentence := _disk_sentence(error, root=root, name=name, option=option):
            raise IsoglotError(sentence) from error
        raise


def _disk_sentence(error: Exception, *, root: Path, name: str, option: str) -> str | None:
    number = error.errno if isinstance(error, OSError) and _concerns(error, root=root) else None
    reason = os.strerror(number or errno.ENOSPC)
    if number in UNUSABLE:
        return f"{name} {root} cannot be used ({reason}): make it a writable folder or choose another with {option}"
    if number in NO_LOCKS:
        return f"the file system of {name} {root} has no file locks: choose a folder on another disk with {option}"
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


@contextmanager
def lease(path: Path, *, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock of the file at path. If another process has it, pass its name to `waiting` and wait."""
    # The lock is the kernel's (flock), so that it is free as soon as its holder dies, even by kill -9.
    # A spawned worker imports the script that started it; a script without a main guard would wait for itself.
    if getattr(multiprocessing.process.current_process(), "_inheriting", False):
        raise IsoglotError('worker processes read this script again: put what it does under if __name__ == "__main__":')
    descriptor = _locked(path, waiting=waiting)
    try:
        yield
    finally:
        # The file is unlinked before it is unlocked. Otherwise a process that waits could lock it while this one
        # unlinks it, and a third could create and lock a new file of the same name: two holders at once.
        path.unlink(missing_ok=True)
        # Closing alone would leave the lock with any process forked in the meantime.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """The name of the process that holds the lock of the file at path, if another process holds it."""
    # Open for writing too: NFS locks a file for one process alone only if that could write to it.
    with suppress(FileNotFoundError), path.open("r+b") as file:
        descriptor = file.fileno()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return _holder_name(descriptor)
    return None


def _locked(path: Path, *, waiting: Callable[[str], None] | None) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
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
                    os.pwrite(descriptor, f"{os.uname().nodename}, process {os.getpid()}".encode(), 0)
                except BaseException:
                    path.unlink(missing_ok=True)  # a full disk must not leave the file behind
                    raise
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _holder_name(descriptor: int) -> str:
    return os.pread(descriptor, 1024, 0).decode(errors="replace") or "another process"


CHECKPOINTS = "checkpoints"
"""The folder of checkpoints inside the folder of what is trained."""
SUMS_NAME = ".isoglot-sums"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class WorkSums:
    """Checksums of the files that an attempt leaves in its folder, for the attempt that goes on from them."""

    # A line is added before its file is put into place, so a kill leaves a file with the sum of one of its lines. Lines
    # begin with their line break: after one that a power cut has torn, the next is whole.

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, path: Path, sha256: str) -> None:
        line = f"{sha256} {path.relative_to(self.folder).as_posix()}"
        descriptor = os.open(self.folder / SUMS_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
        try:
            os.write(descriptor, f"\n{text_sum(line)[:16]} {line}".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def by_name(self) -> dict[str, list[str]]:
        """The sums of each file, oldest first, without lines that are damaged themselves."""
        sums: dict[str, list[str]] = {}
        with suppress(FileNotFoundError):
            for line in (self.folder / SUMS_NAME).read_bytes().decode(errors="replace").split("\n"):
                seal, _, rest = line.partition(" ")
                sha256, _, name = rest.partition(" ")
                if seal == text_sum(rest)[:16]:
                    sums.setdefault(name, []).append(sha256)
        return sums

    def damaged(self, names: Iterable[str], *, latest: bool) -> str | None:
        """The first of these files that is missing, or has the sum of none of its lines; or not of its latest one."""
        sums = self.by_name()
        for name in names:
            try:
                if sha256_of(self.folder / name) in sums.get(name, [])[-1 if latest else 0 :]:
                    continue
            except FileNotFoundError:
                pass
            return name
        return None


class WriteTensors(Protocol):
    """A function that writes tensors into a file, at once like `write_tensors` or later."""

    def __call__(
        self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None
    ) -> None: ...


def write_tensors(
    tensors: Mapping[str, Tensor],
    path: Path,
    *,
    metadata: Mapping[str, str] | None = None,
    sums: WorkSums | None = None,
    previous: Path | None = None,
) -> None:
    """Replace a safetensors file in one step. The next call removes what a kill has left.

    Its checksum goes to `sums`, and the file that it replaces to `previous`.
    """
    from safetensors.torch import save_file

    # safetensors writes a draft under a random name beside its target; in its own folder the draft can be removed.
    scratch = path.with_name(path.name + ".writing")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    fresh = scratch / path.name
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(on_cpu, fresh, metadata=dict(metadata) if metadata is not None else None)
    fresh.chmod(scratch.stat().st_mode & 0o666)  # safetensors lets only the owner read it
    flush(fresh)
    if sums is not None:
        sums.add(path, sha256_of(fresh))
    if previous is not None:
        with suppress(FileNotFoundError):
            path.replace(previous)
    fresh.replace(path)
    scratch.rmdir()
