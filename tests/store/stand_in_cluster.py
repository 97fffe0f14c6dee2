"""Programs in the place of Slurm's that say what a test wants them to, and an engine that asks them."""

import os
from pathlib import Path

import pytest

from isoglot.store import Store, slurm
from isoglot.store.engine import Event, Failed
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_submission import Submitter
from tests.store.toy_stages import Text

# squeue and sacct read what the test has written for them; sbatch takes the next number; all leave a line in a log.
PROGRAMS = {
    "sbatch": """
        if [ -e busy ]; then rm busy; echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1; fi
        if [ -e refusing ]; then echo 'sbatch: error: invalid partition specified: x' >&2; exit 1; fi
        number=$(($(cat number) + 1)); echo $number > number; echo "$1" > script-$number
        env > environment
        echo "Submitted batch job $number"
    """,
    "squeue": """
        if [ -e silent ]; then echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1; fi
        cat queue
    """,
    "sacct": "cat accounts",
    "scancel": "true",
    "srun": "true",
}


class Desk:
    """An engine and the programs it asks."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self.store = store
        self.events: list[Event] = []
        self.said: list[str] = []
        self.engine = SlurmJobs(store, submitter=Submitter(), max_jobs=2, say=self.said.append)

    def queue(self, *states: str) -> None:
        """As of now, jobs 1, 2 ... are in these states; an empty one is of a job that squeue does not list."""
        lines = [
            f"{number}|{state}|None|{(self.folder / f'script-{number}').read_text().strip()}\n"
            for number, state in enumerate(states, start=1)
            if state
        ]
        (self.folder / "queue").write_text("".join(lines))

    def asked(self, program: str) -> int:
        return (self.folder / "log").read_text().split().count(program)

    def wait(self, times: int = 3) -> None:
        for _ in range(times):
            self.engine.wait()

    def error(self) -> str:
        *_, last = self.events
        assert isinstance(last, Failed)
        return str(last.error)


STAGE = Text()


def desk_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """One in whose PATH the programs are, and that does not wait."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in PROGRAMS.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\ncd {folder}\necho {name} >> log\n{text}")
        path.chmod(0o755)
    for name, text in {"queue": "", "accounts": "", "log": "", "number": "0"}.items():
        (folder / name).write_text(text)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    for name, seconds in {"LOOKS": 0.0, "QUESTIONS": 0.0}.items():
        monkeypatch.setattr(slurm, f"SECONDS_BETWEEN_{name}", seconds)
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 0.0)
    return Desk(folder, Store(tmp_path / "store"))
