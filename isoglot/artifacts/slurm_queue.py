"""What Slurm says of jobs: those in its queue, and those that have left it."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

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
