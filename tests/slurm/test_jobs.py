"""Stages made in real jobs: whatever ends a turn, the next one goes on, and failures are reported."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from isoglot.store import Observer, Outcome, Stage, Store, run_plan, slurm
from isoglot.store.engine import Event, Progressed, Waiting
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_job import Submitter
from tests.killed_processes import CHECKOUT, until
from tests.slurm.gated_stages import HALF, TOP, TURNS, Counting, Doubled, Failing
from tests.slurm.one_node_cluster import OneNodeCluster


class Notes:
    """Keeps places in the queue and steps of progress."""

    def __init__(self) -> None:
        self.places: dict[str, list[str]] = {}
        self.steps: dict[str, list[float]] = {}

    def __call__(self, stage: Stage, event: Event) -> None:
        match event:
            case Waiting(_, where):
                self.places.setdefault(stage.title, []).append(where)
            case Progressed(_, done, total, unit, note):
                assert (total, unit, note) == (TOP, "numbers", "")
                self.steps.setdefault(stage.title, []).append(done)

    def job_of(self, title: str) -> str:
        """4711 of "Slurm job 4711, submitted"."""
        return self.places[title][0].split()[2].rstrip(",")


@pytest.fixture
def warned() -> list[str]:
    """The warnings of jobs."""
    return []


@pytest.fixture
def store(
    tmp_path: Path,
    cluster: OneNodeCluster,  # noqa: ARG001
    warned: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Store:
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    monkeypatch.setattr(slurm, "SECONDS_BETWEEN_QUESTIONS", 0.5)
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 3.0)
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: warned.append(str(message)))
    return Store(tmp_path / "store")


class StoppableJobs(SlurmJobs):
    """Jobs whose run ends when the test does."""

    is_stopped = False

    def wait(self) -> None:
        if self.is_stopped:
            raise KeyboardInterrupt
        super().wait()


@pytest.fixture
def running(store: Store) -> Iterator[Callable[[Sequence[Stage], Observer], Future[Outcome]]]:
    """Starts plans, which go on while the test does something to their jobs."""
    with ThreadPoolExecutor(1) as threads:
        engine = StoppableJobs(store, submitter=Submitter(), max_jobs=8, say=print)

        def run(targets: Sequence[Stage], observer: Observer) -> Future[Outcome]:
            return threads.submit(run_plan, targets, store, observer, engine=engine)

        yield run
        engine.is_stopped = True


def turns(stage: Stage, store: Store) -> list[int]:
    """Where each turn of a stage began."""
    path = store.log_folder(stage) / TURNS
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def test_stages_are_made_in_jobs_each_after_its_input(store: Store, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    first = Counting(name="a", gate=tmp_path / "gate")
    second = Doubled(of=first)
    engine = SlurmJobs(store, submitter=Submitter(), max_jobs=8, say=print)
    assert run_plan([second], store, engine=engine).made == (first, second)
    assert (store.folder(second) / "count.txt").read_text() == 2 * "".join(f"{number}\n" for number in range(TOP))


@pytest.mark.campaign
def test_a_stage_goes_on_whatever_ends_its_turn(
    cluster: OneNodeCluster,
    store: Store,
    running: Callable[..., Future[Outcome]],
    warned: list[str],
    tmp_path: Path,
) -> None:
    gate, notes = tmp_path / "gate", Notes()
    stages = {name: Counting(name=name, gate=gate) for name in ("a", "b", "c", "d")}
    after = Doubled(of=stages["a"])
    outcome = running([*stages.values(), after], notes)
    until(lambda: all(notes.steps.get(name, [0])[-1] == HALF for name in stages), what="all to be half done")
    jobs = {name: notes.job_of(name) for name in stages}

    # All four processors are taken, so that this job has one of the others give way.
    cluster.run("sbatch", "--partition=urgent", "--mem=1G", "--output=/dev/null", "--wrap=true")
    until(lambda: any(cluster.turns(job) for job in jobs.values()), what="one to be preempted")
    (preempted,) = (name for name, job in jobs.items() if cluster.turns(job))
    killed, requeued, signalled = (name for name in stages if name != preempted)
    cluster.run("scancel", "--signal=KILL", f"{jobs[killed]}.0")
    cluster.run("scontrol", "requeue", jobs[requeued])
    cluster.run("scancel", "--signal=USR2", jobs[signalled])
    until(lambda: all(turns(stage, store) == [0, HALF] for stage in stages.values()), what="second turns")

    gate.touch()
    made = outcome.result(timeout=300).made
    assert {stage.digest for stage in made} == {stage.digest for stage in (*stages.values(), after)}
    whole = "".join(f"{number}\n" for number in range(TOP))
    for name, stage in stages.items():
        assert (store.folder(stage) / "count.txt").read_text() == whole
        assert notes.job_of(name) == jobs[name]
        assert f"Slurm job {jobs[name]}, pending (BeginTime)" in notes.places[name]
        assert turns(stage, store) == [0, HALF]
    assert (store.folder(after) / "count.txt").read_text() == 2 * whole
    assert warned == ["counting is slow"]


@pytest.mark.campaign
def test_failures_are_reported_with_job_and_log(
    cluster: OneNodeCluster, store: Store, running: Callable[..., Future[Outcome]], tmp_path: Path
) -> None:
    notes = Notes()
    cancelled = Counting(name="cancelled", gate=tmp_path / "never")
    of_user, of_isoglot, of_slurm = (Failing(by_mistake_of=name) for name in ("user", "isoglot", "slurm"))
    after = Doubled(of=of_user)
    outcome = running([cancelled, of_isoglot, of_slurm, after], notes)
    until(lambda: notes.steps.get("cancelled", [0])[-1] == HALF, what="the job to be cancelled")
    job = notes.job_of("cancelled")
    cluster.run("scancel", job)
    ended = outcome.result(timeout=300)

    assert (ended.made, ended.skipped) == ((), (after,))
    errors = {digest: str(error) for digest, error in ended.failed.items()}
    assert errors[of_user.digest] == "words.txt:3: no word; give one"
    (log,) = store.log_folder(of_isoglot).glob("*_log.err")
    assert errors[of_isoglot.digest] == f"ZeroDivisionError: by zero; the traceback is in {log}"
    assert "ZeroDivisionError: by zero" in log.read_text()
    assert f"Slurm job {job} ended (cancelled)" in errors[cancelled.digest]
    assert "run again to go on from where it was" in errors[cancelled.digest]
    assert str(store.log_folder(cancelled) / f"{job}_0_log.err") in errors[cancelled.digest]
    # The cluster has no GPU at all.
    assert "sbatch took no job for it" in errors[of_slurm.digest]
    assert "--slurm-option" in errors[of_slurm.digest]
