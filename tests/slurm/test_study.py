"""A study made by `isoglot run --slurm` on a real cluster has the very bytes of one made without."""

import re
import signal
from pathlib import Path

import pytest
from commands import isoglot, started, surprising
from study_texts import TINY_STUDY

from tests.end_to_end.test_interruption import in_training, updates_done
from tests.killed_processes import artifact_files, until
from tests.slurm.one_node_cluster import OneNodeCluster

UPDATES = 900
# Long enough to be stopped in the middle, with a checkpoint within its first second.
STUDY = TINY_STUDY.replace("updates = 80", f"updates = {UPDATES}").replace("evaluations = 4", "evaluations = 30")
WORDS = ("run", "tiny.toml", "--conditions", "default", "--seeds", "0", "--exhibits", "emergence")
PRETRAINING = "pretrained-encoder-"


@pytest.mark.campaign
def test_jobs_and_runs_are_stopped_until_the_study_is_done(cluster: OneNodeCluster, tmp_path: Path) -> None:
    # A name that a shell would take apart.
    folder, whole = tmp_path / "a cluster's", tmp_path / "whole"
    store = folder / "store"
    for each in (folder, whole):
        each.mkdir()
        (each / "tiny.toml").write_text(STUDY, encoding="utf-8")

    # The job is killed and asks for another turn; the run is killed as well.
    with started(*WORDS, "--slurm", folder=folder) as first:
        until(lambda: in_training(store), what="a checkpoint")
        job_id = cluster.job_named(PRETRAINING)
        cluster.run("scancel", "--signal=KILL", f"{job_id}.0")
        until(lambda: cluster.state(job_id) == "PENDING", what="the job to be requeued")
        cluster.run("scontrol", "hold", job_id)
        (partial,) = in_training(store)
        assert 0 < updates_done(partial) < UPDATES
        first.kill()

    # A second run follows the job. Ctrl-C leaves the job and names the way to stop it.
    output = ""
    with started(*WORDS, "--slurm", folder=folder) as second:
        assert second.stdout is not None
        while f"Slurm job {job_id}, " not in output:
            output += second.stdout.readline()
        second.send_signal(signal.SIGINT)
        rest, errors = second.communicate(timeout=300)
    assert (second.returncode, surprising(errors)) == (130, "")
    assert re.search(rf"^Slurm job {job_id} goes on, .* scancel {job_id}$", rest, re.MULTILINE)
    assert rest.splitlines()[-1].startswith("Stopped; all that was made is kept. Go on with: ")

    # A third run ends with the same bytes. Each artifact was made by one job, though three runs needed it.
    cluster.run("scontrol", "release", job_id)
    third, here = isoglot(*WORDS, "--slurm", folder=folder), isoglot(*WORDS, "--workers", "1", folder=whole)
    assert (third.returncode, third.stderr, here.returncode, here.stderr) == (0, "", 0, "")
    assert artifact_files(store) == artifact_files(whole / "store")
    for logs in (store / "logs").iterdir():
        assert len(list(logs.glob("*_submission.sh"))) == 1, logs
    (log,) = (store / "logs").glob(f"{PRETRAINING}*/{job_id}_0_log.out")
    assert log.read_text().count("Loading pickle") == 2

    # A failure in a job is reported by the command.
    (model,) = store.glob(f"{PRETRAINING}*/best/model.safetensors")
    model.write_bytes(model.read_bytes()[:-1] + b"?")
    for retrieval in list(store.glob("emergence-*")):
        retrieval.rename(retrieval.with_name(f"was-{retrieval.name}"))
    failed = isoglot(*WORDS, "--slurm", folder=folder)
    assert failed.returncode == 1
    pattern = r"1 failed, 0 skipped .*:\n  retrieval, pretraining, default.*best/model.safetensors"
    assert re.search(pattern, failed.stderr)
    assert len(list(store.glob("emergence-*"))) == 1
