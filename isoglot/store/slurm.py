"""Makes stages in jobs of a Slurm cluster, one job for each."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, lease
from isoglot.store.engine import Event, Failed, Held, Made, Progressed, Reused, Tell, Waiting
from isoglot.store.local_processes import ctrl_c_blocked
from isoglot.store.slurm_job import error_log, news_path, read_news
from isoglot.store.slurm_submission import GONE, QueuedJob, SilentSlurmError, Submitter, cancel, last_state, queued_jobs
from isoglot.store.stage import Stage
from isoglot.store.store import Store, ignore_holder

SECONDS_BETWEEN_LOOKS = 0.5
"""At files, which is cheap."""
SECONDS_BETWEEN_QUESTIONS = 5.0
"""To Slurm, one for all jobs."""
SECONDS_OF_GRACE = 10.0
"""For a network file system to show what an ended job wrote, and for Slurm to give it another turn."""
SECONDS_TO_GIVE_WAY = 60.0
RESUMABLE = frozenset({"BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "TIMEOUT"})
"""Ends that say nothing against the stage; where the cluster gives no second turn, a new job goes on from there."""
JOBS_FOR_A_STAGE = 3


@dataclass(kw_only=True)
class _Job:
    stage: Stage
    tell: Tell
    job_id: str | None = None
    """None: Slurm has not taken it yet."""
    where: str = ""
    """What was told last of its place in the queue."""
    progress: Progressed | None = None
    ended_at: float | None = None
    number: int = 1
    """Of the jobs submitted for this stage."""

    @property
    def place(self) -> str:
        return f"Slurm job {self.job_id}" if self.job_id else "not submitted yet"


class SlurmJobs:
    """At most `max_jobs` at once, waiting ones included.

    Jobs outlive the run that submitted them, as a terminal is closed sooner than a long queue is through; what is left
    behind is said with `say`, and the next run finds it and waits for it.
    """

    def __init__(self, store: Store, *, submitter: Submitter, max_jobs: int, say: Callable[[str], None]) -> None:
        if "%" in str(store.root):
            raise IsoglotError(f"the store {store.root} has a % in its name, which Slurm takes for a sign: move it")
        self._store = store
        self._submitter = submitter
        self._max_jobs = max_jobs
        self._say = say
        self._jobs: dict[str, _Job] = {}
        self._asked_at = 0.0
        self._warned: set[str] = set()
        self._gave_way: dict[str, tuple[float, str]] = {}
        """When jobs found other runs at these stages, and whose."""

    def room(self) -> int:
        return self._max_jobs - len(self._jobs)

    def takes(self, stage: Stage) -> bool:  # noqa: ARG002
        return True

    def start(self, stage: Stage, tell: Tell) -> None:
        job = self._jobs[stage.digest] = _Job(stage=stage, tell=tell)
        asked_at, holder = self._gave_way.get(stage.digest, (-SECONDS_TO_GIVE_WAY, ""))
        if time.monotonic() - asked_at < SECONDS_TO_GIVE_WAY:
            self._end(job, Held(stage.digest, holder))
        else:
            self._submit(job)

    def wait(self) -> None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        for job in list(self._jobs.values()):
            self._read_news(job)
        if self._jobs and time.monotonic() - self._asked_at >= SECONDS_BETWEEN_QUESTIONS:
            self._asked_at = time.monotonic()
            self._ask_slurm()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if left := [job.job_id for job in self._jobs.values() if job.job_id]:
            jobs = "Slurm job" + (f" {left[0]} goes" if len(left) == 1 else f"s {', '.join(left)} go")
            self._say(f"{jobs} on, and the next run will wait for what is left; to stop: scancel {' '.join(left)}")

    def _submit(self, job: _Job) -> None:
        """Have the job in the queue, unless the stage is done; one that an earlier run left there will do."""
        job.job_id, job.ended_at = None, None
        folder = self._store.log_folder(job.stage)
        try:
            if self._store.has(job.stage):
                self._end(job, Reused(job.stage.digest))
                return
            # So that no job gets into the queue that nobody knows of.
            with clear_disk_errors(self._store.root), ctrl_c_blocked():
                folder.mkdir(parents=True, exist_ok=True)
                # Two runs must not both find that nobody has submitted it.
                with lease(folder / "slurm.lease", waiting=ignore_holder):
                    job.job_id = _left_in_queue(folder) or self._submitter.submit(job.stage, store=self._store)
        except SilentSlurmError as error:
            self._tell_where(job, f"Slurm takes no job now ({error})")
        except IsoglotError as error:
            self._end(job, Failed(job.stage.digest, error))
        else:
            self._tell_where(job, f"{job.place}, submitted")

    def _read_news(self, job: _Job) -> None:
        if job.job_id is None:
            return
        news = read_news(news_path(self._store.log_folder(job.stage), job.job_id))
        for text in news.warnings:
            # Once, as in one process: a library tells every job the same when it is imported.
            if text not in self._warned:
                self._warned.add(text)
                warnings.showwarning(text, UserWarning, "", 0)
        match news.event:
            case Progressed() as event if event != job.progress:
                job.progress = event
                job.tell(event)
            case Made() | Reused() as event if self._is_there(job.stage):
                self._end(job, event)
            case Held(digest, holder) as event:
                self._gave_way[digest] = time.monotonic(), holder
                self._end(job, event)
            case Failed() as event:
                self._end(job, event)

    def _ask_slurm(self) -> None:
        try:
            queue = queued_jobs()
        except SilentSlurmError as error:
            for job in self._jobs.values():
                self._tell_where(job, f"{job.place}; Slurm does not answer ({error})")
            return
        for job in list(self._jobs.values()):
            if job.job_id is None:
                self._submit(job)
            else:
                self._take_state(job, queue.get(job.job_id))

    def _take_state(self, job: _Job, queued: QueuedJob | None) -> None:
        if queued is not None and not queued.has_ended:
            job.ended_at = None
            self._tell_where(job, f"{job.place}, {queued.description}")
            return
        now = time.monotonic()
        job.ended_at = job.ended_at or now
        if now - job.ended_at >= SECONDS_OF_GRACE:
            self._take_end(job, queued.state if queued else last_state(str(job.job_id)))

    def _take_end(self, job: _Job, state: str) -> None:
        """Of a job that has not told how it went."""
        if self._is_there(job.stage):
            self._end(job, Made(job.stage.digest))
        elif state in RESUMABLE and job.number < JOBS_FOR_A_STAGE:
            job.number += 1
            self._submit(job)
        else:
            log = error_log(self._store.log_folder(job.stage), str(job.job_id))
            self._end(job, Failed(job.stage.digest, _unexplained(str(job.job_id), state=state, log=log)))

    def _is_there(self, stage: Stage) -> bool:
        try:
            return self._store.has(stage)
        except IsoglotError:  # a network file system may show the folder before all that is in it
            return False

    def _tell_where(self, job: _Job, where: str) -> None:
        if where != job.where:
            job.where = where
            job.tell(Waiting(job.stage.digest, where))

    def _end(self, job: _Job, event: Event) -> None:
        del self._jobs[job.stage.digest]
        job.tell(event)


def _left_in_queue(folder: Path) -> str | None:
    """The job of a stage that an earlier run submitted and that has not ended yet."""
    if not any(folder.glob(".submission_file_*")):
        return None
    for queued in queued_jobs().values():
        if queued.has_ended or queued.script.parent.resolve() != folder.resolve():
            continue
        if (folder / f"{queued.job_id}_submitted.pkl").exists():
            if queued.state == "PENDING":
                # What it told in a turn before counts no more.
                news_path(folder, queued.job_id).unlink(missing_ok=True)
            return queued.job_id
        # Its run was killed before it had written down what the job is to do.
        cancel(queued.job_id)
    return None


def _unexplained(job_id: str, *, state: str, log: Path) -> IsoglotError:
    """What to say of a job that ended without a word."""
    what = f"Slurm job {job_id} ended ({state.lower().replace('_', ' ')})"
    mends = {
        "CANCELLED": "it was cancelled; run again to go on from where it was",
        "COMPLETED": "it left no result; is the store on a file system that all nodes share?",
        "OUT_OF_MEMORY": "it needs more memory, as in --slurm-option mem=64G",
        "TIMEOUT": "it needs more time, as in --slurm-option time=2-00:00:00",
        GONE: "Slurm has forgotten it; run again to go on from where it was",
    }
    mend = mends.get(state, "run again to go on from where it was")
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return IsoglotError(f"{what} without a log: {mend}; can its node write to {log.parent}?")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    return IsoglotError(f"{what}: {mend}. The last line of {log} is: {last}")
