"""Programs in the place of Slurm's that answer as a test wants, and an engine that calls them."""

import os
from pathlib import Path

import pytest

from isoglot.store import Store, slurm
from isoglot.store.engine import Event, Failed
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_job import JobReport, Submitter, report_path
from tests.store.toy_stages import Text

# squeue prints a file of the test's; sbatch takes the next number; all leave a line in a log.
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
    "scancel": "true",
    "srun": "true",
}


class Cluster:
    """The programs, and an engine that does not wait between its questions to them."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self.store = store
        self.events: list[Event] = []
        self.printed: list[str] = []
        self.engine = SlurmJobs(store, submitter=Submitter(), max_jobs=2, say=self.printed.append)

    def start(self, stage: Text) -> None:
        self.engine.start(stage, self.events.append)

    def set_queue(self, *states: str) -> None:
        """Have squeue list jobs 1, 2 ... in these states; jobs in the state "" are left out."""
        lines = [
            f"{number}|{state}|None|{(self.folder / f'script-{number}').read_text().strip()}\n"
            for number, state in enumerate(states, start=1)
            if state
        ]
        (self.folder / "queue").write_text("".join(lines))

    def set_report(self, stage: Text, report: JobReport, *, job_id: str = "1") -> None:
        report.write(report_path(self.store.log_folder(stage), job_id))

    def num_calls(self, program: str) -> int:
        return (self.folder / "log").read_text().split().count(program)

    def wait(self, times: int = 3) -> None:
        for _ in range(times):
            self.engine.wait()

    def error(self) -> str:
        *_, last = self.events
        assert isinstance(last, Failed)
        return str(last.error)


def stand_in_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in PROGRAMS.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\ncd {folder}\necho {name} >> log\n{text}")
        path.chmod(0o755)
    for name, text in {"queue": "", "log": "", "number": "0"}.items():
        (folder / name).write_text(text)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    for name in ("SECONDS_BETWEEN_LOOKS", "SECONDS_BETWEEN_QUESTIONS", "SECONDS_OF_GRACE"):
        monkeypatch.setattr(slurm, name, 0.0)
    return Cluster(folder, Store(tmp_path / "store"))
