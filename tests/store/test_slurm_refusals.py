"""When Slurm takes no job: what is told, what is tried again, and what is left behind."""

import pytest

from isoglot.store.engine import Waiting
from tests.store.stand_in_cluster import STAGE, Desk

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isoglot[slurm]'")


def test_a_busy_slurm_is_asked_again(desk: Desk) -> None:
    (desk.folder / "busy").touch()
    desk.engine.start(STAGE, desk.events.append)
    assert isinstance(desk.events[-1], Waiting)
    assert "takes no job now (sbatch: error: Socket timed out" in desk.events[-1].holder
    desk.wait(1)
    assert desk.events[-1] == Waiting(STAGE.digest, "Slurm job 1, submitted")
    assert desk.asked("sbatch") == 2


def test_what_sbatch_refuses_is_told(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    (desk.folder / "refusing").touch()
    desk.engine.start(STAGE, desk.events.append)
    assert "sbatch took no job for it: sbatch: error: invalid partition specified: x; see --partition" in desk.error()
    assert capfd.readouterr().err == ""
    assert list(desk.store.log_folder(STAGE).iterdir()) == []


def test_however_often_slurm_takes_no_job_one_script_is_left_and_none_once_it_does(desk: Desk) -> None:
    folder = desk.store.log_folder(STAGE)
    for attempt in range(3):
        (desk.folder / "busy").touch()
        if attempt == 0:
            desk.engine.start(STAGE, desk.events.append)
        else:
            desk.wait(1)
        assert len(list(folder.glob(".submission_file_*.sh"))) == 1, "by which a job that was taken is known"
    desk.wait(1)
    assert desk.events[-1] == Waiting(STAGE.digest, "Slurm job 1, submitted")
    (link,) = folder.glob(".submission_file_*.sh")
    assert {path.name for path in folder.iterdir()} == {link.name, "1_submission.sh", "1_submitted.pkl"}


def test_what_an_earlier_job_wrote_outlives_a_refusal(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    folder = desk.store.log_folder(STAGE)
    (folder / "1_0_result.pkl").touch()
    before = {path.name for path in folder.iterdir()}
    desk.queue("TIMEOUT")
    (desk.folder / "refusing").touch()
    desk.wait()
    assert "sbatch took no job for it" in desk.error()
    assert {path.name for path in folder.iterdir()} == before
