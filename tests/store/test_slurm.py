"""How a run handles all that a cluster does, with programs in the place of Slurm's. tests/slurm has a real Slurm."""

import os
import warnings
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Store, slurm
from isoglot.store.engine import Failed, Held, Made, Progressed, Waiting
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_job import JobReport, Submitter
from tests.store.stand_in_cluster import Cluster
from tests.store.toy_stages import Text

pytest.importorskip("submitit", reason="submitit is not installed: pip install submitit")

STAGE, OTHER, THIRD = Text(), Text(word="bush"), Text(word="third")


def test_a_job_reports_its_place_and_its_progress(cluster: Cluster) -> None:
    cluster.start(STAGE)
    cluster.set_queue("PENDING")
    cluster.wait()
    cluster.set_queue("RUNNING")
    progress = Progressed(STAGE.digest, 1, 2, "lines")
    cluster.set_report(STAGE, JobReport(event=progress))
    cluster.wait()
    cluster.set_report(STAGE, JobReport(event=Made(STAGE.digest)))
    cluster.wait()
    places = [f"Slurm job 1, {state}" for state in ("submitted", "pending", "running")]
    submitted, pending, running = (Waiting(STAGE.digest, place) for place in places)
    assert cluster.events == [submitted, pending, progress, running], "it is not in the store yet"
    cluster.store.ensure(STAGE)
    cluster.wait(1)
    assert cluster.events[-1] == Made(STAGE.digest)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("OUT_OF_MEMORY", "(out of memory): it needs more memory, as in --slurm-option mem=64G"),
        ("CANCELLED", "(cancelled): it was cancelled; run again"),
        ("COMPLETED", "(completed): it left no result; is the store on a file system that all nodes share?"),
        ("FAILED", "(failed) without a log: run again to go on from where it was"),
        ("", "(gone): Slurm has forgotten it; run again to go on from where it was"),
    ],
)
def test_an_end_without_a_report_is_an_error_with_a_fix(cluster: Cluster, state: str, words: str) -> None:
    cluster.start(STAGE)
    cluster.set_queue(state)
    log = cluster.store.log_folder(STAGE) / "1_0_log.err"
    if state != "FAILED":
        log.write_text("first\nlast\n\n")
    cluster.wait()
    assert cluster.error().startswith(f"Slurm job 1 ended {words}")
    end = f"The last line of {log} is: last" if log.exists() else f"; can its node write to {log.parent}?"
    assert cluster.error().endswith(end)
    assert cluster.num_calls("sbatch") == 1


@pytest.mark.parametrize("state", ["TIMEOUT", "NODE_FAIL", "PREEMPTED"])
def test_where_slurm_gives_no_second_turn_new_jobs_go_on(cluster: Cluster, state: str) -> None:
    cluster.start(STAGE)
    for number in (1, 2, 3):
        assert cluster.num_calls("sbatch") == number
        assert Waiting(STAGE.digest, f"Slurm job {number}, submitted") in cluster.events
        cluster.set_queue(*[state] * number)
        cluster.wait(1)
    assert cluster.error().startswith(f"Slurm job 3 ended ({state.lower().replace('_', ' ')})")
    assert cluster.num_calls("sbatch") == 3


def test_a_job_that_is_about_to_be_requeued_has_not_ended(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 60.0)
    cluster.start(STAGE)
    for state in ("RUNNING", "PREEMPTED", "COMPLETING", "PENDING"):
        cluster.set_queue(state)
        cluster.wait()
    # However long ago it first seemed to have ended.
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 1e-9)
    cluster.set_queue("PREEMPTED")
    cluster.wait(1)
    assert cluster.events[-1] == Waiting(STAGE.digest, "Slurm job 1, pending")
    assert cluster.num_calls("sbatch") == 1


def test_a_job_may_make_its_stage_without_a_report_and_a_warning_of_all_is_shown_once(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    for job_id, stage in (("1", STAGE), ("2", OTHER)):
        cluster.start(stage)
        cluster.set_report(stage, JobReport(warnings=("slow", f"job {job_id}")), job_id=job_id)
    cluster.store.ensure(STAGE)
    cluster.set_queue("COMPLETED", "RUNNING")
    cluster.wait()
    assert Made(STAGE.digest) in cluster.events
    assert shown == ["slow", "job 1", "job 2"]


def test_slurm_may_be_silent_for_a_while(cluster: Cluster) -> None:
    cluster.start(STAGE)
    (cluster.folder / "silent").touch()
    cluster.wait()
    silent = "Slurm job 1; Slurm does not answer (squeue: error: Unable to contact slurm controller)"
    assert cluster.events[-1] == Waiting(STAGE.digest, silent)
    (cluster.folder / "silent").unlink()
    cluster.set_queue("RUNNING")
    cluster.wait()
    assert cluster.events[-1] == Waiting(STAGE.digest, "Slurm job 1, running")


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "SUSPENDED"])
def test_the_next_run_follows_the_jobs_of_an_earlier_one(cluster: Cluster, state: str) -> None:
    for stage in (STAGE, OTHER):
        cluster.start(stage)
    cluster.set_queue(state, state)
    if state == "PENDING":  # of an earlier turn, so it does not count
        cluster.set_report(STAGE, JobReport(event=Failed(STAGE.digest, IsoglotError("before"))))
    later = Cluster(cluster.folder, cluster.store)
    for stage in (OTHER, STAGE):
        later.start(stage)
    later.wait()
    places = [
        (stage, f"Slurm job {job}, {word}")
        for word in ("submitted", state.lower())
        for stage, job in ((OTHER, 2), (STAGE, 1))
    ]
    assert later.events == [Waiting(stage.digest, place) for stage, place in places]
    assert (cluster.num_calls("sbatch"), cluster.num_calls("scancel")) == (2, 0)


@pytest.mark.parametrize(("state", "cancels"), [("CANCELLED", 0), ("PENDING", 1)])
def test_the_next_run_replaces_a_job_that_will_not_make_the_stage(cluster: Cluster, state: str, cancels: int) -> None:
    cluster.start(STAGE)
    cluster.set_queue(state)
    if state == "PENDING":  # its run was killed before this was written
        (cluster.store.log_folder(STAGE) / "1_submitted.pkl").unlink()
    later = Cluster(cluster.folder, cluster.store)
    later.start(STAGE)
    assert later.events == [Waiting(STAGE.digest, "Slurm job 2, submitted")]
    assert cluster.num_calls("scancel") == cancels


def test_a_stage_of_another_run_makes_room_and_jobs_that_are_left_are_named_with_the_way_to_stop_them(
    cluster: Cluster,
) -> None:
    held = Held(STAGE.digest, "far, process 1")
    with cluster.engine:
        for stage in (STAGE, OTHER):
            assert cluster.engine.takes(stage)
            cluster.start(stage)
        assert not cluster.engine.takes(THIRD), "there are two at once at most"
        cluster.set_queue("PENDING", "PENDING")
        cluster.set_report(STAGE, JobReport(event=held))
        cluster.wait(1)
        assert held in cluster.events
        assert cluster.engine.takes(THIRD)
        cluster.start(THIRD)
    (sentence,) = cluster.printed
    assert sentence.startswith("Slurm jobs 2, 3 go on")
    assert sentence.endswith("scancel 2 3")
    assert cluster.num_calls("scancel") == 0


def test_the_size_of_the_job_that_a_run_is_in_does_not_spread(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_MEM_PER_NODE", "SLURM_CONF", "SBATCH_QOS"):
        monkeypatch.setenv(name, "7")
    cluster.start(STAGE)
    names = {line.partition("=")[0] for line in (cluster.folder / "environment").read_text().splitlines()}
    assert {name for name in names if name.startswith(("SLURM", "SBATCH"))} == {"SLURM_CONF", "SBATCH_QOS"}
    assert os.environ["SLURM_JOB_ID"] == "7"


def test_a_store_that_slurm_could_not_name_is_refused_and_so_is_what_sbatch_refuses(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(IsoglotError, match="has a % in its name"):
        SlurmJobs(Store(tmp_path / "100%"), submitter=Submitter(), max_jobs=1, say=print)
    (cluster.folder / "refusing").touch()
    cluster.start(STAGE)
    assert cluster.error().startswith(
        "sbatch took no job for it: sbatch: error: invalid partition specified: x; see --partition"
    )
    assert capfd.readouterr().err == ""


def test_a_busy_slurm_is_asked_again_and_gets_one_script_in_the_end(cluster: Cluster) -> None:
    folder = cluster.store.log_folder(STAGE)
    (cluster.folder / "busy").touch()
    cluster.start(STAGE)
    assert isinstance(cluster.events[-1], Waiting)
    assert "takes no job now (sbatch: error: Socket timed out" in cluster.events[-1].where
    (cluster.folder / "busy").touch()
    cluster.wait(1)
    assert len(list(folder.glob(".submission_file_*.sh"))) == 1, "by which a job that was taken is known"
    cluster.wait(1)
    assert cluster.events[-1] == Waiting(STAGE.digest, "Slurm job 1, submitted")
    (link,) = folder.glob(".submission_file_*.sh")
    assert {path.name for path in folder.iterdir()} == {link.name, "1_submission.sh", "1_submitted.pkl"}
