"""The code inside a Slurm job: it makes one stage, and writes its progress into a file for the run that waits."""

import os
import pickle
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoglot.errors import IsoglotError
from isoglot.store.engine import Event, Failed, Held, Progressed, make_stage
from isoglot.store.stage import Stage
from isoglot.store.store import Store

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

SECONDS_BETWEEN_REPORTS = 1.0
PATIENCE_SECONDS = 60.0
"""For another process that has the stage: a node that went down leaves its locks for a while."""


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """The latest event of a job in its current turn, and all its warnings."""

    event: Event | None = None
    warnings: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        """Replace the report before; readers see either of them."""
        draft = path.with_name(f"{path.name}.partial")
        draft.write_bytes(pickle.dumps(self))
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> "JobReport":
        """The report at a path, empty if there is none. A network file system may show a file before its content."""
        try:
            report = pickle.loads(path.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return cls()
        assert isinstance(report, cls)
        return report


def report_path(folder: Path, job_id: str) -> Path:
    """The file of a job's report."""
    return folder / f"{job_id}_report.pkl"


def error_log(folder: Path, job_id: str) -> Path:
    """The file that submitit redirects the errors of a job's only task to."""
    return folder / f"{job_id}_0_log.err"


@dataclass(frozen=True, kw_only=True)
class StageJob:
    """Makes a stage when called, in the first turn of a job and in every later one."""

    root: Path
    stage: Stage

    def __call__(self) -> None:
        store, job_id = Store(self.root), os.environ["SLURM_JOB_ID"]
        folder = store.log_folder(self.stage)
        reporter = _Reporter(report_path(folder, job_id))
        warnings.showwarning = reporter.show_warning
        try:
            make_stage(self.stage, store=store, emit=reporter.emit)
            while isinstance(reporter.event, Held) and time.monotonic() < reporter.patient_until:
                time.sleep(1)
                make_stage(self.stage, store=store, emit=reporter.emit)
        except Exception as error:
            text = f"{_summary(error)}; the traceback is in {error_log(folder, job_id)}"
            reporter.emit(Failed(self.stage.digest, IsoglotError(text)))
            raise
        if isinstance(reporter.event, Failed):
            print(f"isoglot: {reporter.event.error}", file=sys.stderr)
            # sacct and mails of the cluster then call the job failed.
            sys.exit(1)

    def checkpoint(self) -> "DelayedSubmission":
        """The call for the next turn. submitit asks for it when this turn is about to end; the stage then goes on."""
        from submitit.core.utils import DelayedSubmission

        return DelayedSubmission(self)


class _Reporter:
    def __init__(self, path: Path) -> None:
        # The report of an earlier turn: a job that gets another turn has not failed.
        path.unlink(missing_ok=True)
        self._path = path
        self.event: Event | None = None
        self._warnings: tuple[str, ...] = ()
        self._next_report = 0.0
        self.patient_until = time.monotonic() + PATIENCE_SECONDS

    def emit(self, event: Event) -> None:
        self.event = event
        if isinstance(event, Held) and time.monotonic() < self.patient_until:
            return
        if isinstance(event, Progressed):
            if event.done < event.total and time.monotonic() < self._next_report:
                return
            self._next_report = time.monotonic() + SECONDS_BETWEEN_REPORTS
        self._write()

    def show_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"isoglot: {message}", file=sys.stderr)
        self._warnings = (*self._warnings, str(message))
        self._write()

    def _write(self) -> None:
        # If the disk is full, the stage itself fails with a clear error, or the job's log has it.
        with suppress(OSError):
            JobReport(event=self.event, warnings=self._warnings).write(self._path)


def _summary(error: Exception) -> str:
    from submitit.core.utils import UncompletedJobError

    if isinstance(error, UncompletedJobError):
        return "it ran out of time turn after turn: run again to go on, with --slurm-option time=2-00:00:00 or so"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
