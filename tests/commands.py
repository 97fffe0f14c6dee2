"""The isoglot command: in this process, or as people run it, in a process of its own."""

import os
import resource
import subprocess
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from ctrl_c import hearing_ctrl_c

from isoglot.cli import main
from isoglot.store import Store
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

ISOGLOT = Path(sys.executable).with_name("isoglot")
# These would send the command elsewhere, or have it write colours into a pipe.
UNWANTED = (
    "ISOGLOT_STORE",
    "ISOGLOT_DATA",
    "ISOGLOT_WORKERS",
    "ISOGLOT_DEVICE",
    "ISOGLOT_MICRO_BATCH",
    "FORCE_COLOR",
    "PY_COLORS",
    "GITHUB_ACTIONS",
)


@dataclass(frozen=True, kw_only=True)
class Workplace:
    """A folder with a study in tiny.toml, and all of it in the store beside."""

    folder: Path
    first_output: str
    """The output of the run that made everything."""
    first_seconds: float = 0.0
    """The processor time of that run."""

    @property
    def study(self) -> Study:
        return read_study(self.folder / "tiny.toml")

    @property
    def store(self) -> Store:
        return Store(self.folder / "store")


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in UNWANTED}


def surprising(errors: str) -> str:
    """Standard error without a line that every run has here: tiny models learn nothing in their few updates."""
    return "".join(line for line in errors.splitlines(keepends=True) if ": knows no more of " not in line)


def isoglot(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command, run with these words in a folder."""
    command = [str(ISOGLOT), *words]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=600)
    done.stderr = surprising(done.stderr)
    return done


def answered(*words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which saves seconds; for tests that are not about processes, pipes or signals."""
    output, errors, status = StringIO(), StringIO(), 0
    with (
        chdir(folder),
        patch.dict(os.environ, environment() | variables, clear=True),
        redirect_stdout(output),
        redirect_stderr(errors),
        warnings.catch_warnings(),
    ):
        # As in a process of its own: pytest would make errors of warnings.
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        try:
            main(words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(list(words), status, output.getvalue(), surprising(errors.getvalue()))


def processor_seconds() -> float:
    """The processor time of all commands that have ended. Other programs, unlike with a clock, do not add to it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def started(*words: str, folder: Path, **variables: str) -> subprocess.Popen[str]:
    """The running command; the caller must end it."""
    with hearing_ctrl_c():
        return subprocess.Popen(
            [str(ISOGLOT), *words],
            cwd=folder,
            env=environment() | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
