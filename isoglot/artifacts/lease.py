"""A lease on an artifact: two processes never make one at once, and the kernel frees the lease of a dead one."""

import fcntl
import multiprocessing.process
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from isoglot.errors import IsoglotError


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
