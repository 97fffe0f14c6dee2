"""Has Slurm take a job that makes a stage, through submitit."""

import io
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.store.slurm_job import StageJob
from isoglot.store.stage import Resources, Stage
from isoglot.store.store import Store

ENDED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED"),
        *("NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
"""States that a job does not leave by itself, unless Slurm is about to give it another turn."""
GONE = "GONE"
"""Slurm has forgotten the job."""
SECONDS_TO_ANSWER = 60
FIELDS = "%i|%T|%r|%o"
"""The name of the script comes last, as it may have any sign in it."""


class SilentSlurmError(Exception):
    """Slurm did not answer, which says nothing of any job."""


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    """A line of squeue."""

    job_id: str
    state: str
    reason: str
    """Why it does not run: "Resources"."""
    script: Path
    """As it was called when it was submitted."""

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def description(self) -> str:
        """For people: "pending (Resources)"."""
        why = f" ({self.reason})" if self.state == "PENDING" and self.reason not in ("", "None") else ""
        return self.state.lower().replace("_", " ") + why


def queued_jobs() -> dict[str, QueuedJob]:
    """This user's jobs by id, those that ended in the last minutes among them."""
    lines = _answer("squeue", "--me", "--states=all", "--noheader", f"--format={FIELDS}").splitlines()
    jobs = [_queued_job(line) for line in lines if line.count("|") >= FIELDS.count("|")]
    return {job.job_id: job for job in jobs}


def last_state(job_id: str) -> str:
    """Of a job that squeue no longer lists, where the cluster keeps accounts."""
    if shutil.which("sacct") is None:
        return GONE
    try:
        lines = _answer("sacct", f"--jobs={job_id}", "--allocations", "--noheader", "--parsable2", "--format=State")
    except SilentSlurmError:
        return GONE
    # "CANCELLED by 1000"
    return next((line.split()[0] for line in lines.splitlines() if line.strip()), GONE)


def cancel(job_id: str) -> None:
    """Have Slurm end a job; one that is not there any more is ended already."""
    subprocess.run(["scancel", job_id], capture_output=True, check=False, timeout=SECONDS_TO_ANSWER)


def _queued_job(line: str) -> QueuedJob:
    job_id, state, reason, script = (part.strip() for part in line.split("|", FIELDS.count("|")))
    return QueuedJob(job_id=job_id, state=state, reason=reason, script=Path(script))


def _answer(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_TO_ANSWER)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SilentSlurmError(str(error)) from error
    if done.returncode != 0:
        raise SilentSlurmError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


Option = str | int | bool

LONGEST_TURN_HOURS = 24.0
"""Most partitions allow a day. A stage that takes longer gets several turns, and goes on in each."""
SPARE_TURNS = 3
TURNS_AFTER_KILLS = 10
IN_OTHER_WORDS: Mapping[str, frozenset[str]] = {
    "mem": frozenset({"mem-per-cpu", "mem-per-gpu"}),
    "cpus-per-task": frozenset({"cpus-per-gpu"}),
    "gpus-per-node": frozenset({"gres", "gpus", "gpus-per-task"}),
}
"""Options of the user's that say what one of ours would."""
OF_GPUS = frozenset({"gpus-per-node", "gres", "gpus", "gpus-per-task", "mem-per-gpu", "cpus-per-gpu", "gpu-bind"})
OURS = frozenset(
    {
        *("array", "begin", "dependency", "error", "input", "job-name", "no-requeue", "nodes", "ntasks"),
        *("ntasks-per-node", "open-mode", "output", "parsable", "requeue", "signal", "test-only", "wait", "wrap"),
    }
)
OF_NO_JOB = re.compile(r"\.submission_file_[0-9a-f]{32}\.sh|[0-9a-f]{32}\.pkl")
"""Files as submitit names them before Slurm has given the job its id."""
BUSY = r"timed out|Unable to contact|temporarily unable|try again|Resource temporarily|Zero Bytes"


@dataclass(frozen=True, kw_only=True)
class Submitter:
    """How a user wants their jobs."""

    options: Mapping[str, Option] = field(default_factory=dict)
    """Of sbatch, by their long names: {"partition": "a100"}."""
    gpu_options: Mapping[str, Option] = field(default_factory=dict)
    """For stages that need a GPU alone."""
    cpu_options: Mapping[str, Option] = field(default_factory=dict)
    """For those that need none alone."""
    has_gpus: bool = True
    """False: ask for none, whatever a stage would like."""
    variables_of_cpus: tuple[str, ...] = ()
    """Of the environment, told how many processors a job has unless they are set."""

    def __post_init__(self) -> None:
        for name in [*self.options, *self.gpu_options, *self.cpu_options]:
            if name in OURS:
                raise IsoglotError(f"--slurm-option {name}: isoglot decides this itself; leave it out")
            if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
                raise IsoglotError(f"--slurm-option {name!r} is no long option of sbatch, as in constraint=a100")
        for options in (self.options, self.gpu_options, self.cpu_options):
            if "time" in options:
                minutes(str(options["time"]))

    def sbatch_options(self, resources: Resources) -> dict[str, Option]:
        """What to ask of Slurm for a stage, the user's words before the stage's own."""
        needs_gpus = self.has_gpus and resources.gpus > 0
        wanted = {**self.options, **(self.gpu_options if needs_gpus else self.cpu_options)}
        if not needs_gpus:
            wanted = {name: value for name, value in wanted.items() if name not in OF_GPUS}
        ours: dict[str, Option] = {
            "requeue": True,
            "cpus-per-task": resources.cpus,
            "mem": f"{math.ceil(resources.gigabytes)}G",
            "time": math.ceil(60 * min(resources.hours, LONGEST_TURN_HOURS)),
        }
        if needs_gpus:
            ours["gpus-per-node"] = resources.gpus
        kept = {name: value for name, value in ours.items() if wanted.keys().isdisjoint(IN_OTHER_WORDS.get(name, ()))}
        return kept | wanted

    def submit(self, stage: Stage, *, store: Store) -> str:
        """The id of a new job that makes the stage; raises SilentSlurmError if Slurm may take it later."""
        from submitit import SlurmExecutor
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        resources = stage.resources()
        options = self.sbatch_options(resources)
        turn_minutes = minutes(str(options["time"]))
        folder = store.log_folder(stage)
        _sweep(folder)
        executor = SlurmExecutor(folder, max_num_timeout=math.ceil(60 * resources.hours / turn_minutes) + SPARE_TURNS)
        cpus = options.get("cpus-per-task")
        executor.update_parameters(
            job_name=f"{stage.kind}-{stage.digest[:16]}",
            time=turn_minutes,
            # Since Slurm 22.05 srun does not take it from the job.
            srun_args=[] if cpus is None else [f"--cpus-per-task={cpus}"],
            setup=[f'export {name}="${{{name}:-{cpus or 1}}}"' for name in self.variables_of_cpus],
            teardown=AFTER_A_KILL,
            additional_parameters={name: value for name, value in options.items() if name != "time"},
        )
        try:
            # submitit prints what sbatch said, which the error has in it.
            with _outside_of_any_job(), redirect_stderr(io.StringIO()):
                return executor.submit(StageJob(root=store.root, stage=stage)).job_id
        except (FailedJobError, FailedSubmissionError) as error:
            said = " ".join(str(error).split())
            if re.search(BUSY, said, flags=re.IGNORECASE):
                # It may have taken the job all the same: by its script the next attempt knows it, and cancels it.
                raise SilentSlurmError(said) from error
            if isinstance(error, FailedJobError):
                _sweep(folder)
            raise IsoglotError(
                f"sbatch took no job for it: {said}; see --partition, --account, --max-jobs and --slurm-option"
            ) from error


def _sweep(folder: Path) -> None:
    """Remove what submissions that came to nothing left; what belongs to a job has its id, or is a link to such a file.

    Only for whoever holds the lease of the folder, as another may be about to submit.
    """
    for path in (*folder.glob(".submission_file_*.sh"), *folder.glob("*.pkl")):
        if not path.is_symlink() and OF_NO_JOB.fullmatch(path.name):
            path.unlink(missing_ok=True)


# A step that gets kill -9, by hand or by a node short of memory, does not end the job: it gets another turn.
AFTER_A_KILL = [
    "status=$?",
    f'if [ $status -eq 137 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {TURNS_AFTER_KILLS} ]; then',
    '    echo "killed: this job asks for another turn" >&2',
    '    scontrol requeue "$SLURM_JOB_ID"',
    "fi",
    "exit $status",
]


def minutes(time: str) -> int:
    """Of a time as sbatch reads it: minutes, hours:minutes:seconds, days-hours and all between."""
    days, dash, rest = time.rpartition("-")
    try:
        parts = [int(part) for part in rest.split(":")]
        if dash:
            hours, mins, seconds = [*parts, 0, 0][:3]
        else:
            hours, mins, seconds = parts if len(parts) == 3 else [0, *parts, 0][:3]
        found = math.ceil((int(days) if dash else 0) * 1440 + hours * 60 + mins + seconds / 60)
    except ValueError:
        found = 0
    if found < 1 or rest.count(":") > 2:
        raise IsoglotError(f"--slurm-option time={time}: no time that sbatch knows; as in 2-00:00:00 for two days")
    return found


@contextmanager
def _outside_of_any_job() -> Iterator[None]:
    """Where isoglot itself runs in a job, for want of a login node, that job's size is not to be the others'."""
    names = [name for name in os.environ if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name != "SLURM_CONF"]
    inherited = {name: os.environ.pop(name) for name in names} if "SLURM_JOB_ID" in names else {}
    try:
        yield
    finally:
        os.environ.update(inherited)
