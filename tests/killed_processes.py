"""Processes that get kill -9 while they work, and what they leave behind."""

import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
KILLED = -signal.SIGKILL
Fate = tuple[int, str]
"""The exit code of a process, and the content of its folder then."""
Nursed = tuple[Path, dict[str, list[list[int | str]]]]
"""A place where processes have been killed, and their fates."""


def exit_code_of(
    act: Callable[[], None],
    *,
    moment: int | None = None,
    seconds: float | None = None,
    when: Callable[[], bool] | None = None,
) -> int:
    """Act in a process that is killed at the moment-th thing it asks of the system, after some seconds, or when so."""
    child = os.fork()
    if child == 0:
        _die_at(moment)
        _exit_after(act)
    if seconds is not None or when is not None:
        end = math.inf if seconds is None else time.monotonic() + seconds
        while not _has_ended(child) and not (when is not None and when()) and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.001))
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def nursed(module: str, place: Path, *arguments: str, few: bool = False) -> Nursed:
    """Run a module that kills processes in folders of a place, a few of them or many, and prints their fates."""
    process = subprocess.run(
        [sys.executable, "-m", module, str(place), *arguments, *(["few"] if few else [])],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return place, json.loads(process.stdout)


def until(happens: Callable[[], object], *, what: str = "it", seconds: float = 300) -> None:
    """Wait until something happens, and fail with its name if it does not."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} seconds for {what}"
        time.sleep(0.002)


def state_of_training(folder: Path, *, log: str, checkpoints: str, names: Collection[str]) -> str:
    """How far a training got in its folder: begun, trained until a checkpoint, or finished."""
    if (folder / log).exists():
        return "finished"
    # For a moment the latest has become the previous one, and the new one is not there yet.
    return "trained" if any((folder / checkpoints / name).exists() for name in names) else "begun"


def descendants(process: int) -> list[int]:
    """Every process that it started, or that one of those did, and that runs."""
    running = [int(path.name) for path in Path("/proc").glob("[0-9]*") if is_running(int(path.name))]
    parents = {number: _parent(number) for number in running}
    family = [process]
    for number in family:
        family += [child for child, parent in parents.items() if parent == number]
    return family[1:]


def is_running(process: int) -> bool:
    """Whether a process runs. A zombie, which waits for its parent to read its exit code, does not."""
    try:
        return _status(process)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def artifact_files(store: Path) -> dict[str, bytes]:
    """Every file of every artifact but its record, which holds times."""
    return {
        name: content
        for name, content in files_of(store).items()
        if re.match("[^/]*-[^/]*/", name) and not name.endswith("/record.json")
    }


def _has_ended(child: int) -> bool:
    """Whether nothing is left of it but its exit code, which stays to be read."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _parent(process: int) -> int | None:
    try:
        return int(_status(process)[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _status(process: int) -> list[str]:
    """State, parent and more, which follow a name that may hold any character."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _die_at(moment: int | None) -> None:
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:  # noqa: ARG001
        if event.startswith(("open", "os.", "shutil.", "fcntl.")) and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)


def _exit_after(act: Callable[[], None]) -> None:
    try:
        act()
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)
