"""A study made by `isoglot run --slurm` on a real cluster has the very bytes of one made without."""

import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import isoglot, started
from study_texts import TINY_STUDY

from tests.end_to_end.artifact_files import artifact_files
from tests.end_to_end.test_interruption import in_training, updates_done
from tests.slurm.one_node_cluster import OneNodeCluster, until

pytestmark = pytest.mark.campaign
UPDATES = 900
# Long enough to be stopped in the midst of it, with a checkpoint before the first second of it is over.
STUDY = TINY_STUDY.replace("updates = 80", f"updates = {UPDATES}").replace("evaluations = 4", "evaluations = 30")
WORDS = ("run", "tiny.toml", "--conditions", "default", "--seeds", "0", "--exhibits", "emergence")
PRETRAINING = "pretrained-encoder-"


@dataclass(frozen=True, kw_only=True)
class Interrupted:
    """A study whose jobs and runs were stopped again and again until it was done."""

    folder: Path
    whole: Path
    """The folder of the same study made without Slurm or a stop."""
    job_id: str
    """The job that pretrained the model."""
    updates_before_kill: int
    ctrl_c: subprocess.CompletedProcess[str]
    last: subprocess.CompletedProcess[str]

    @property
    def store(self) -> Path:
        return self.folder / "store"


@pytest.fixture(scope="module")
def elsewhere(running_cluster: OneNodeCluster) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(running_cluster.settings))
        yield


@pytest.fixture(scope="module")
def interrupted(
    running_cluster: OneNodeCluster,
    elsewhere: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Interrupted:
    cluster = running_cluster
    # A name that a shell would take apart.
    folder, whole = (tmp_path_factory.mktemp(name) for name in ("a cluster's", "whole"))
    for each in (folder, whole):
        (each / "tiny.toml").write_text(STUDY, encoding="utf-8")
    with started(*WORDS, "--slurm", folder=folder) as first:
        until(lambda: in_training(folder / "store"), what="a checkpoint")
        job_id = cluster.job_named(PRETRAINING)
        cluster.run("scancel", "--signal=KILL", f"{job_id}.0")
        until(lambda: cluster.state(job_id) == "PENDING", what="the job to be requeued")
        # Until a second run has found it.
        cluster.run("scontrol", "hold", job_id)
        (partial,) = in_training(folder / "store")
        updates = updates_done(partial)
        first.kill()
    here = isoglot(*WORDS, "--workers", "1", folder=whole)
    assert (here.returncode, here.stderr) == (0, "")
    lines: list[str] = []
    with started(*WORDS, "--slurm", folder=folder) as second:
        assert second.stdout is not None
        for line in second.stdout:
            lines.append(line)
            if f"Slurm job {job_id}, " in line:
                second.send_signal(signal.SIGINT)
                break
        output, errors = second.communicate(timeout=300)
    ctrl_c = subprocess.CompletedProcess(second.args, second.returncode, stdout="".join(lines) + output, stderr=errors)
    cluster.run("scontrol", "release", job_id)
    last = isoglot(*WORDS, "--slurm", folder=folder)
    return Interrupted(folder=folder, whole=whole, job_id=job_id, updates_before_kill=updates, ctrl_c=ctrl_c, last=last)


def test_a_killed_job_is_requeued_and_ends_in_the_same_bytes(interrupted: Interrupted) -> None:
    assert (interrupted.last.returncode, interrupted.last.stderr) == (0, "")
    assert 0 < interrupted.updates_before_kill < UPDATES
    assert artifact_files(interrupted.store) == artifact_files(interrupted.whole / "store")


def test_killed_runs_leave_jobs_that_the_next_run_follows(interrupted: Interrupted) -> None:
    """Every artifact is made by one job, though three runs asked for them."""
    for folder in (interrupted.store / "logs").iterdir():
        assert len(list(folder.glob("*_submission.sh"))) == 1, folder
    (log,) = (interrupted.store / "logs").glob(f"{PRETRAINING}*/{interrupted.job_id}_0_log.out")
    assert log.read_text().count("Loading pickle") == 2


def test_ctrl_c_leaves_jobs_and_names_the_way_to_stop_them(interrupted: Interrupted) -> None:
    assert (interrupted.ctrl_c.returncode, interrupted.ctrl_c.stderr) == (130, "")
    job_id = interrupted.job_id
    assert re.search(rf"^Slurm job {job_id} goes on, .* scancel {job_id}$", interrupted.ctrl_c.stdout, re.MULTILINE)
    assert interrupted.ctrl_c.stdout.splitlines()[-1].startswith("Stopped; all that was made is kept. Go on with: ")


@pytest.mark.usefixtures("elsewhere")
def test_a_failure_in_a_job_is_reported_by_the_command(interrupted: Interrupted) -> None:
    (model,) = interrupted.store.glob(f"{PRETRAINING}*/best/model.safetensors")
    model.write_bytes(model.read_bytes()[:-1] + b"?")
    retrievals = list(interrupted.store.glob("emergence-*"))
    for retrieval in retrievals:
        retrieval.rename(retrieval.with_name(f"was-{retrieval.name}"))
    run = isoglot(*WORDS, "--slurm", folder=interrupted.folder)
    assert run.returncode == 1
    assert re.search(r"1 failed, 0 skipped .*:\n  retrieval, pretraining, default.*best/model.safetensors", run.stderr)
    assert len(list(interrupted.store.glob("emergence-*"))) == 1
