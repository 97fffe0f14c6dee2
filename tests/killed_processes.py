"""Processes that get kill -9 while they work, and what they leave behind."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
KILLED = -signal.SIGKILL
Fate = tuple[int, str]
"""How a process ended, and what stands in its folder then."""
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
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    if when is not None:
        while not when():
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def nursed(module: str, place: Path) -> Nursed:
    """Run a module that kills processes in folders of a place and prints their fates."""
    process = subprocess.run(
        [sys.executable, "-m", module, str(place)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return place, json.loads(process.stdout)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _die_at(moment: int | None) -> None:
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:  # noqa: ARG001
        if event.startswith(("open", "os.", "shutil.")) and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)


def _exit_after(act: Callable[[], None]) -> None:
    try:
        act()
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)
    os._exit(0)
