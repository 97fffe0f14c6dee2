"""Files that a kill or a power cut cannot leave in pieces, locks on them, and clear words for a disk's refusals."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing.process
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from torch import Tensor

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNUSABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

# With less than this left, whatever went wrong went wrong because of it: numpy and safetensors hide the errno.
LITTLE_ROOM_BYTES = 1 << 16


def flush(path: Path) -> None:
    """Has the system put a file, or the names in a folder, on the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a small file so that readers see all of it or none, for one writer at a time."""
    draft = path.with_name(f"{path.name}.partial")
    draft.write_bytes(content.encode() if isinstance(content, str) else content)
    flush(draft)
    draft.replace(path)
    flush(path.parent)


@contextmanager
def clear_disk_errors(root: Path) -> Iterator[None]:
    """Turns a full or read-only disk under a store's root into an error that says what to do."""
    try:
        yield
    except IsoglotError:
        raise
    except Exception as error:
        if sentence := _what_to_do(error, root=root):
            raise IsoglotError(sentence) from error
        raise


def _what_to_do(error: Exception, *, root: Path) -> str | None:
    number = error.errno if isinstance(error, OSError) and _concerns(error, root=root) else None
    reason = os.strerror(number or errno.ENOSPC)
    if number in UNUSABLE:
        return f"the store {root} cannot be used ({reason}): make it a writable folder or choose another with --store"
    if number in NO_LOCKS:
        return f"the file system of the store {root} has no file locks: choose a store on another disk with --store"
    if number in FULL or _is_cut_short(error) or _is_full(root):
        return f"no room left in the store {root} ({reason}): free some and run again; what is done so far is kept"
    return None


def _concerns(error: OSError, *, root: Path) -> bool:
    """Whether it is about the store; a failed write names no file, and only then must a full disk be taken on trust."""
    if error.filename is None:
        return error.errno in FULL
    if isinstance(error.filename, int):
        return False
    path = Path(os.fsdecode(error.filename))
    return path.is_relative_to(root) or root.is_relative_to(path)


def _is_cut_short(error: Exception) -> bool:
    """Whether numpy could write only a part of an array, as under a quota; it says so in words alone."""
    return isinstance(error, OSError) and re.search(r"\d+ requested and \d+ written", str(error)) is not None


def _is_full(root: Path) -> bool:
    try:
        status = os.statvfs(root)
    except OSError:
        return False
    # File systems that do not know their size say it is nought.
    return status.f_blocks > 0 and status.f_bavail * status.f_frsize < LITTLE_ROOM_BYTES


@contextmanager
def lease(path: Path, *, waiting: Callable[[str], None]) -> Iterator[None]:
    """Holds the lock of the file at path; if another process has it, tells `waiting` who and waits."""
    _refuse_main_run_again()
    descriptor = _locked(path, waiting=waiting)
    try:
        yield
    finally:
        # Unlinked before it is unlocked: the next holder notices and takes the new file's lock instead.
        path.unlink(missing_ok=True)
        # Closing alone would leave the lock with any process forked in the meantime.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """Who has the lock of the file at path just now, if another process has."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except BlockingIOError:
        return _name_in(descriptor)
    finally:
        os.close(descriptor)
    return None


def _refuse_main_run_again() -> None:
    """A worker process reads the script that started it; one that runs a study at once would wait for itself."""
    if getattr(multiprocessing.process.current_process(), "_inheriting", False):
        raise IsoglotError('worker processes read this script again: put what it does under if __name__ == "__main__":')


def _locked(path: Path, *, waiting: Callable[[str], None]) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting(_name_in(descriptor))
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(descriptor, path):
                _sign(descriptor, path)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _sign(descriptor: int, path: Path) -> None:
    """Write into the locked file who has it; on a full disk that fails, and no file must be left."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.uname().nodename}, process {os.getpid()}".encode(), 0)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _name_in(descriptor: int) -> str:
    return os.pread(descriptor, 1024, 0).decode(errors="replace") or "another process"


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


class WriteTensors(Protocol):
    """Puts tensors into a file, at once as `write_tensors` does or later."""

    def __call__(
        self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None
    ) -> None: ...


def write_tensors(tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Replace a file in one step; what a kill leaves besides the old one or the new one, the next writing removes."""
    from safetensors.torch import save_file  # loads torch, which commands that write no tensors do without

    # In a folder of its own: safetensors first writes beside its target, under another random name each time.
    scratch = path.with_name(path.name + ".writing")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    fresh = scratch / path.name
    save_file(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        fresh,
        metadata=dict(metadata) if metadata is not None else None,
    )
    fresh.chmod(scratch.stat().st_mode & 0o666)  # safetensors lets only its owner read it
    with fresh.open("rb") as written:
        os.fsync(written.fileno())
    fresh.replace(path)
    scratch.rmdir()
