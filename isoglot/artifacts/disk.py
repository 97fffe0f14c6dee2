"""Writes that survive a power cut, and clear words for what a disk refuses."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isoglot.errors import IsoglotError

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
