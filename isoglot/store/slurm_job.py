"""A Slurm job that makes one stage: its resources, its submission through submitit, and the code inside the job."""

import io
import math
import os
import pickle
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoglot.errors import IsoglotError
from isoglot.files import write_whole
from isoglot.store.engine import Event, Failed, Held, make_stage
from isoglot.store.stage import Resources, Stage
from isoglot.store.store import Store

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

OUT_OF_TIME = "it ran out of time turn after turn: run again to go on, with --slurm-option time=2-00:00:00 or so"
SECONDS_BETWEEN_REPORTS = 1.0
# For another process that has the stage: a node that went down leaves its locks for a while.
PATIENCE_SECONDS = 60.0
Option = str | int | bool
# Most partitions allow a day. A stage that takes longer gets several turns, and goes on in each.
LONGEST_TURN_HOURS = 24.0
SPARE_TURNS = 3
TURNS_AFTER_KILLS = 10
SYNONYMS: Mapping[str, frozenset[str]] = {
    "mem": frozenset({"mem-per-cpu", "mem-per-gpu"}),
    "cpus-per-task": frozenset({"cpus-per-gpu"}),
    "gpus-per-node": frozenset({"gres", "gpus", "gpus-per-task"}),
}
"""Options of the user that replace one of ours."""
GPU_OPTIONS = frozenset({"gpus-per-node", "gres", "gpus", "gpus-per-task", "mem-per-gpu", "cpus-per-gpu", "gpu-bind"})
OWN_OPTIONS = frozenset(
    {
        *("array", "begin", "dependency", "error", "input", "job-name", "no-requeue", "nodes", "ntasks"),
        *("ntasks-per-node", "open-mode", "output", "parsable", "requeue", "signal", "test-only", "wait", "wrap"),
    }
)
BUSY = r"timed out|Unable to contact|temporarily unable|try again|Resource temporarily|Zero Bytes"
# A step that was killed with kill -9, by hand or on a node short of memory, has the job ask for another turn.
AFTER_A_KILL = [
    "status=$?",
    f'if [ $status -eq 137 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {TURNS_AFTER_KILLS} ]; then',
    '    echo "killed: this job asks for another turn" >&2',
    '    scontrol requeue "$SLURM_JOB_ID"',
    "fi",
    "exit $status",
]


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """The latest event of a job in its current turn, and all its warnings."""

    event: Event | None = None
    warnings: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        write_whole(path, pickle.dumps(self))

    @classmethod
    def read(cls, path: Path) -> "JobReport":
        """The report at a path, empty if there is none. A network file system may show a file before its content."""
        try:
            report: JobReport = pickle.loads(path.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return cls()
        return report


def report_path(folder: Path, job_id: str) -> Path:
    return folder / f"{job_id}_report.pkl"


def error_log(folder: Path, job_id: str) -> Path:
    # As submitit names it, for the only task of a job.
    return folder / f"{job_id}_0_log.err"


@dataclass(frozen=True, kw_only=True)
class StageJob:
    """Makes a stage when called, in every turn of a job."""

    root: Path
    stage: Stage

    def __call__(self) -> None:
        store, job_id = Store(self.root), os.environ["SLURM_JOB_ID"]
        folder = store.log_folder(self.stage)
        reporter, patient_until = _Reporter(report_path(folder, job_id)), time.monotonic() + PATIENCE_SECONDS
        warnings.showwarning = reporter.show_warning
        make = partial(make_stage, store=store, emit=reporter.emit, seconds_between=SECONDS_BETWEEN_REPORTS)
        try:
            while isinstance(end := make(self.stage), Held) and time.monotonic() < patient_until:
                time.sleep(1)
        except Exception as error:
            from submitit.core.utils import UncompletedJobError

            is_late = isinstance(error, UncompletedJobError)
            summary = OUT_OF_TIME if is_late else f"{type(error).__name__}: {error}".removesuffix(": ")
            text = f"{summary}; the traceback is in {error_log(folder, job_id)}"
            reporter.emit(Failed(self.stage.digest, IsoglotError(text)))
            raise
        reporter.emit(end)
        if isinstance(end, Failed):
            print(f"isoglot: {end.error}", file=sys.stderr)
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
        self._path, self._report = path, JobReport()

    def emit(self, event: Event) -> None:
        self._write(replace(self._report, event=event))

    def show_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"isoglot: {message}", file=sys.stderr)
        self._write(replace(self._report, warnings=(*self._report.warnings, str(message))))

    def _write(self, report: JobReport) -> None:
        self._report = report
        # If the disk is full, the stage itself fails with a clear error, or the job's log has it.
        with suppress(OSError):
            report.write(self._path)


class SlurmBusyError(Exception):
    """Slurm did not answer, which says nothing about any job."""


@dataclass(frozen=True, kw_only=True)
class Submitter:
    """Submits jobs with the options that a user wants."""

    options: Mapping[str, Option] = field(default_factory=dict)
    """Long options of sbatch: {"partition": "a100"}. The next two are for stages that need a GPU, or need none."""
    gpu_options: Mapping[str, Option] = field(default_factory=dict)
    cpu_options: Mapping[str, Option] = field(default_factory=dict)
    has_gpus: bool = True  # False: no job gets a GPU, whatever its stage needs
    variables_of_cpus: tuple[str, ...] = ()
    """Environment variables that get the job's number of processors, unless they are set."""

    def __post_init__(self) -> None:
        for name, value in chain(self.options.items(), self.gpu_options.items(), self.cpu_options.items()):
            if name in OWN_OPTIONS:
                raise IsoglotError(f"--slurm-option {name}: isoglot decides this itself; leave it out")
            if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
                raise IsoglotError(f"--slurm-option {name!r} is no long option of sbatch, as in constraint=a100")
            if not str(value).isprintable():
                raise IsoglotError(f"--slurm-option {name}={value!r} has a line break or another control character")
            # It becomes a part of the job's script, where all other values are quoted.
            if name == "cpus-per-task" and not str(value).isdecimal():
                raise IsoglotError(f"--slurm-option {name}={value}: should be a number, as in {name}=8")
            if name == "time":
                minutes(str(value))

    def sbatch_options(self, resources: Resources) -> dict[str, Option]:
        """The options for a stage. The user's own come before those that the stage would have."""
        needs_gpus = self.has_gpus and resources.gpus > 0
        wanted = {**self.options, **(self.gpu_options if needs_gpus else self.cpu_options)}
        if not needs_gpus:
            wanted = {name: value for name, value in wanted.items() if name not in GPU_OPTIONS}
        ours: dict[str, Option] = {
            "requeue": True,
            "cpus-per-task": resources.cpus,
            "mem": f"{math.ceil(resources.gigabytes)}G",
            "time": math.ceil(60 * min(resources.hours, LONGEST_TURN_HOURS)),
        }
        if needs_gpus:
            ours["gpus-per-node"] = resources.gpus
        kept = {name: value for name, value in ours.items() if wanted.keys().isdisjoint(SYNONYMS.get(name, ()))}
        return kept | wanted

    def submit(self, stage: Stage, *, store: Store) -> str:
        """The id of a new job that makes the stage. Raises SlurmBusyError if Slurm may take it later."""
        from submitit import SlurmExecutor
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        resources = stage.resources()
        options = self.sbatch_options(resources)
        turn_minutes = minutes(str(options.pop("time")))
        folder = store.log_folder(stage)
        # Files of failed submissions; files of a job have its id, or are links to such a file.
        for path in (*folder.glob(".submission_file_*.sh"), *folder.glob(f"{'[0-9a-f]' * 32}.pkl")):
            if not path.is_symlink():
                path.unlink(missing_ok=True)
        executor = SlurmExecutor(folder, max_num_timeout=math.ceil(60 * resources.hours / turn_minutes) + SPARE_TURNS)
        cpus = options.get("cpus-per-task")
        executor.update_parameters(
            job_name=f"{stage.kind}-{stage.digest[:16]}",
            time=turn_minutes,
            # Since Slurm 22.05, srun no longer takes this from the job.
            srun_args=[] if cpus is None else [f"--cpus-per-task={cpus}"],
            setup=[f'export {name}="${{{name}:-{cpus or 1}}}"' for name in self.variables_of_cpus],
            teardown=AFTER_A_KILL,
            additional_parameters=options,
        )
        try:
            # submitit prints the message of sbatch, which is in its error as well.
            with _outside_of_any_job(), redirect_stderr(io.StringIO()):
                return executor.submit(StageJob(root=store.root, stage=stage)).job_id
        except (FailedJobError, FailedSubmissionError) as error:
            message = " ".join(str(error).split())
            if re.search(BUSY, message, flags=re.IGNORECASE):
                # Slurm may have taken the job all the same. The next attempt finds it by its script and cancels it.
                raise SlurmBusyError(message) from error
            raise IsoglotError(
                f"sbatch took no job for it: {message}; see --partition, --account, --max-jobs and --slurm-option"
            ) from error


@contextmanager
def _outside_of_any_job() -> Iterator[None]:
    """Hide the variables of the job that isoglot itself may run in, since sbatch would copy that job's size."""
    names = [name for name in os.environ if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name != "SLURM_CONF"]
    hidden = {name: os.environ.pop(name) for name in names} if "SLURM_JOB_ID" in names else {}
    try:
        yield
    finally:
        os.environ.update(hidden)


def minutes(time: str) -> int:
    """Minutes of a time as sbatch reads it: minutes, minutes:seconds, hours:minutes:seconds, days-hours:minutes."""
    days, dash, clock = time.rpartition("-")
    parts = clock.split(":")
    if all(part.isdecimal() for part in [*parts, *([days] if dash else [])]) and len(parts) <= 3:
        # Only after days, or before two more parts, does the first part stand for hours.
        hours, mins, seconds = [*([] if dash or len(parts) == 3 else [0]), *map(int, parts), 0, 0][:3]
        if total := math.ceil(int(days or 0) * 1440 + hours * 60 + mins + seconds / 60):
            return total
    raise IsoglotError(f"--slurm-option time={time}: no time that sbatch knows; as in 2-00:00:00 for two days")
