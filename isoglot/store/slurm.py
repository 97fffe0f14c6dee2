"""An engine that makes each stage in a job of a Slurm cluster."""

import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, lease
from isoglot.processes import ctrl_c_blocked
from isoglot.store.engine import Emit, Engine, Event, Failed, Held, Made, Progressed, Reused, Waiting
from isoglot.store.slurm_job import JobReport, SlurmBusyError, Submitter, error_log, report_path
from isoglot.store.stage import Stage
from isoglot.store.store import Store

SECONDS_BETWEEN_LOOKS = 0.5  # at the report files, which is cheap
SECONDS_BETWEEN_QUESTIONS = 5.0  # to squeue, each for all jobs
SECONDS_TO_ANSWER = 60
SECONDS_OF_GRACE = 10.0
"""For a network file system to show the files of an ended job, and for Slurm to requeue the job."""
FIELDS = "%i|%T|%r|%o"  # the script comes last, since its name may contain any character
RESUMABLE = frozenset({"BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "TIMEOUT"})
"""Ends that are no fault of the stage. Where Slurm does not requeue the job, a new one goes on from there."""
ENDED = RESUMABLE | {"CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "REVOKED"}
"""States that a job leaves only if Slurm requeues it."""
GONE = "GONE"
FIXES = {
    "CANCELLED": "it was cancelled; run again to go on from where it was",
    "COMPLETED": "it left no result; is the store on a file system that all nodes share?",
    "OUT_OF_MEMORY": "it needs more memory, as in --slurm-option mem=64G",
    "TIMEOUT": "it needs more time, as in --slurm-option time=2-00:00:00",
    GONE: "Slurm has forgotten it; run again to go on from where it was",
}
JOBS_FOR_A_STAGE = 3


@dataclass(kw_only=True)
class _Job:
    stage: Stage
    emit: Emit
    folder: Path
    job_id: str | None = None  # until Slurm has taken it
    where: str = ""  # its last reported place in the queue
    progress: Progressed | None = None
    ended_at: float | None = None
    number: int = 1  # among the jobs submitted for this stage

    def report_place(self, where: str) -> None:
        if where != self.where:
            self.where = where
            self.emit(Waiting(self.stage.digest, where))


class SlurmJobs(Engine):
    """At most `max_jobs` at once, waiting ones included.

    Jobs outlive the run that submitted them, since a place in a long queue is worth keeping. On leaving, the run prints
    those that go on with `say`. The next run finds and follows them.
    """

    def __init__(self, store: Store, *, submitter: Submitter, max_jobs: int, say: Callable[[str], None]) -> None:
        if "%" in str(store.root):
            raise IsoglotError(f"the store {store.root} has a % in its name, which Slurm takes for a sign: move it")
        self._store, self.submitter, self.max_jobs, self._say = store, submitter, max_jobs, say
        self._jobs: dict[str, _Job] = {}
        self._next_question = 0.0
        self._shown_warnings: set[str] = set()

    def takes(self, stage: Stage) -> bool:  # noqa: ARG002
        return len(self._jobs) < self.max_jobs

    def start(self, stage: Stage, emit: Emit) -> None:
        self._jobs[stage.digest] = _Job(stage=stage, emit=emit, folder=self._store.log_folder(stage))
        self._submit(self._jobs[stage.digest])

    def wait(self) -> None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        for job in list(self._jobs.values()):
            self._read_report(job)
        if self._jobs and time.monotonic() >= self._next_question:
            self._next_question = time.monotonic() + SECONDS_BETWEEN_QUESTIONS
            self._check_queue()

    def __exit__(self, *_: object) -> None:
        if left := [job.job_id for job in self._jobs.values() if job.job_id]:
            jobs = "Slurm job" + (f" {left[0]} goes" if len(left) == 1 else f"s {', '.join(left)} go")
            self._say(f"{jobs} on, and the next run will wait for what is left; to stop: scancel {' '.join(left)}")

    def _submit(self, job: _Job) -> None:
        """Bring the job into the queue, unless the stage is done or an earlier run has left a job for it there."""
        job.job_id = job.ended_at = None
        try:
            if self._store.has(job.stage):
                self._end(job, Reused(job.stage.digest))
                return
            # Ctrl-C between sbatch and the note of the job's id would leave a job that nobody knows of.
            with clear_disk_errors(self._store.root), ctrl_c_blocked():
                job.folder.mkdir(parents=True, exist_ok=True)
                # With the lease, two runs cannot both see an empty queue and submit.
                with lease(job.folder / "slurm.lease"):
                    job.job_id = _left_in_queue(job.folder) or self.submitter.submit(job.stage, store=self._store)
        except SlurmBusyError as error:
            job.report_place(f"Slurm takes no job now ({error})")
        except IsoglotError as error:
            self._end(job, Failed(job.stage.digest, error))
        else:
            job.report_place(f"Slurm job {job.job_id}, submitted")

    def _read_report(self, job: _Job) -> None:
        report = JobReport() if job.job_id is None else JobReport.read(report_path(job.folder, job.job_id))
        for text in report.warnings:
            # Every job repeats the warnings of the libraries it imports; they are shown once.
            if text not in self._shown_warnings:
                self._shown_warnings.add(text)
                warnings.showwarning(text, UserWarning, "", 0)
        match report.event:
            case Progressed() as event if event != job.progress:
                job.progress = event
                job.emit(event)
            case Made() | Reused() as event if self._is_there(job.stage):
                self._end(job, event)
            case Held() | Failed() as event:
                self._end(job, event)

    def _check_queue(self) -> None:
        try:
            queue = _queued_jobs()
        except SlurmBusyError as error:
            for job in self._jobs.values():
                place = f"Slurm job {job.job_id}" if job.job_id else "not submitted yet"
                job.report_place(f"{place}; Slurm does not answer ({error})")
            return
        for job in list(self._jobs.values()):
            queued = queue.get(job.job_id or "")
            if job.job_id is None:
                self._submit(job)
            elif queued and queued.state not in ENDED:
                job.ended_at = None
                why = f" ({queued.reason})" if queued.state == "PENDING" and queued.reason != "None" else ""
                job.report_place(f"Slurm job {job.job_id}, {_words(queued.state)}{why}")
            else:
                now = time.monotonic()
                job.ended_at = job.ended_at or now
                if now - job.ended_at >= SECONDS_OF_GRACE:
                    self._end_unreported(job, queued.state if queued else GONE)

    def _end_unreported(self, job: _Job, state: str) -> None:
        if self._is_there(job.stage):
            self._end(job, Made(job.stage.digest))
            return
        if state in RESUMABLE and job.number < JOBS_FOR_A_STAGE:
            job.number += 1
            self._submit(job)
            return
        log = error_log(job.folder, str(job.job_id))
        end = f"Slurm job {job.job_id} ended ({_words(state)})"
        fix = FIXES.get(state, "run again to go on from where it was")
        try:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().split("\n")
            text = f"{end}: {fix}. The last line of {log} is: {lines[-1].strip() or 'nothing'}"
        except OSError:
            text = f"{end} without a log: {fix}; can its node write to {job.folder}?"
        self._end(job, Failed(job.stage.digest, IsoglotError(text)))

    def _is_there(self, stage: Stage) -> bool:
        try:
            return self._store.has(stage)
        except IsoglotError:  # a network file system may show a folder before all that is in it
            return False

    def _end(self, job: _Job, event: Event) -> None:
        del self._jobs[job.stage.digest]
        job.emit(event)


def _words(state: str) -> str:
    return state.lower().replace("_", " ")


class _QueuedJob(NamedTuple):
    """A line of squeue: why the job does not run ("Resources"), and the path of its script when it was submitted."""

    state: str
    reason: str
    script: str


def _queued_jobs() -> dict[str, _QueuedJob]:
    """This user's jobs by id, with those that ended in the last minutes."""
    command = ["squeue", "--me", "--states=all", "--noheader", f"--format={FIELDS}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_TO_ANSWER)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmBusyError(str(error)) from error
    if done.returncode != 0:
        raise SlurmBusyError(done.stderr.strip() or f"squeue ended with {done.returncode}")
    lines = [line.split("|", FIELDS.count("|")) for line in done.stdout.splitlines()]
    return {job_id.strip(): _QueuedJob(*map(str.strip, others)) for job_id, *others in lines}


def _left_in_queue(folder: Path) -> str | None:
    """The job of a stage that an earlier run has submitted and that has not ended."""
    if not any(folder.glob(".submission_file_*")):
        return None
    for job_id, queued in _queued_jobs().items():
        if queued.state in ENDED or Path(queued.script).parent.resolve() != folder.resolve():
            continue
        if (folder / f"{job_id}_submitted.pkl").exists():
            if queued.state == "PENDING":
                # The report is of an earlier turn.
                report_path(folder, job_id).unlink(missing_ok=True)
            return job_id
        # Its run was killed before submitit had written what the job is to do.
        subprocess.run(["scancel", job_id], capture_output=True, check=False, timeout=SECONDS_TO_ANSWER)
    return None
