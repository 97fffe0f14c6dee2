"""Two processes come to what one comes to, and outlive each other's deaths."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.model.cloze import read_model
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pretraining import torchrun
from isoglot.pretraining.run import BEST, LOG, PretrainingRun, UpdateRecord
from isoglot.pretraining.torchrun import Job, pretrain_in_processes
from isoglot.study.scales import Start
from tests.killed_processes import CHECKOUT, files_of, until
from tests.pretraining.tiny_runs import EVERYTHING, pretrained, tiny_run

UPDATES = 200
# Each of four parts of a batch draws its language: at times each process has the other's, and gradients that it lacks.
RUN = tiny_run(separate=EVERYTHING, language_draws=4, updates=UPDATES, evaluations=4, learning_rate=1e-3)
# Each process makes the first weights itself, copies included.
RUN = replace(RUN, own_parts_start=Start.EQUAL)
# A key's bias changes nothing, and Adam without this would make a step of the rounding errors in its gradient.
RUN = replace(RUN, optimization=replace(RUN.optimization, epsilon=1e-3))
LAUNCHER = """
import pickle, sys
from pathlib import Path
from isoglot.pretraining.torchrun import pretrain_in_processes
job = pickle.loads(open(sys.argv[1], "rb").read())
pretrain_in_processes(job, processes=2, report=lambda records: None, log_folder=Path(sys.argv[2]))
"""


def job_of(run: PretrainingRun, streams: dict, *, folder: Path) -> Job:
    folder.mkdir(parents=True)
    return Job(
        run=run,
        streams={language: stream.folder for language, stream in streams.items()},
        switchable={},
        folder=folder,
    )


def assert_same_model(ours: Path, theirs: Path) -> None:
    expected = read_model(theirs / BEST).state_dict()
    for name, tensor in read_model(ours / BEST).state_dict().items():
        torch.testing.assert_close(tensor, expected[name], rtol=1e-3, atol=1e-4, msg=name)


def in_training() -> dict[int, Path]:
    """Processes of this machine that train under torchrun, and the file that each reads its job from."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
        except OSError:
            continue
        if b"isoglot.pretraining.torchrun" in words and b"torch.distributed.run" not in words:
            found[int(entry.name)] = Path(os.fsdecode(words[words.index(b"isoglot.pretraining.torchrun") + 1]))
    return found


def ranks_since(before: dict[int, Path]) -> list[int]:
    """The processes of a job that was begun since."""
    return [process for process, job_file in in_training().items() if job_file not in before.values()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torchrun")


@pytest.fixture(scope="module")
def alone(place: Path, separate_streams: dict) -> list[UpdateRecord]:
    return pretrained(RUN, separate_streams, folder=place / "alone")


@pytest.fixture(scope="module")
def together(place: Path, separate_streams: dict) -> list[UpdateRecord]:
    records: list[UpdateRecord] = []
    job = job_of(RUN, separate_streams, folder=place / "together")
    pretrain_in_processes(job, processes=2, report=records.extend, log_folder=place / "logs")
    return records


def test_two_processes_learn_what_one_learns(
    place: Path, alone: list[UpdateRecord], together: list[UpdateRecord]
) -> None:
    assert [record.update for record in together] == [record.update for record in alone] == list(range(1, UPDATES + 1))
    for ours, theirs in zip(together, alone, strict=True):
        assert ours.losses == pytest.approx(theirs.losses, rel=1e-3)
        assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=1e-2)
    assert_same_model(place / "together", place / "alone")
    assert files_of(place / "together").keys() == files_of(place / "alone").keys()


@pytest.mark.campaign
@pytest.mark.usefixtures("together")
def test_when_one_is_killed_they_start_again_and_end_with_the_same_bytes(place: Path, separate_streams: dict) -> None:
    job = job_of(RUN, separate_streams, folder=place / "killed")
    killed = []
    before = in_training()

    def reap() -> None:
        until((job.folder / CHECKPOINTS / "latest.safetensors").exists, what="a checkpoint")
        killed.append(ranks_since(before)[0])
        os.kill(killed[0], signal.SIGKILL)

    reaper = threading.Thread(target=reap)
    reaper.start()
    records: list[UpdateRecord] = []
    pretrain_in_processes(job, processes=2, report=records.extend, log_folder=place / "logs")
    reaper.join()
    assert killed
    updates = [record.update for record in records]
    assert len(updates) > len(set(updates)) or updates != list(range(1, UPDATES + 1)), "it was killed too late"
    assert files_of(job.folder) == files_of(place / "together")


@pytest.mark.campaign
@pytest.mark.usefixtures("alone")
def test_another_number_of_processes_goes_on_where_killed_ones_stopped(place: Path, separate_streams: dict) -> None:
    job = job_of(RUN, separate_streams, folder=place / "fewer")
    (place / "job").write_bytes(pickle.dumps(job))
    before = in_training()
    launcher = subprocess.Popen([sys.executable, "-c", LAUNCHER, str(place / "job"), str(place / "logs")], cwd=CHECKOUT)
    until((job.folder / CHECKPOINTS / "latest.safetensors").exists, what="a checkpoint")
    ranks = ranks_since(before)
    assert len(ranks) == 2
    # On a quick machine they would be through before the half second is over after which they look for the launcher.
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    launcher.kill()
    launcher.wait()
    time.sleep(1)
    for rank in ranks:
        os.kill(rank, signal.SIGCONT)
    until(lambda: not ranks_since(before), what="the end of processes that must not go on alone")
    assert not (job.folder / LOG).exists(), "it was killed too late"
    records = pretrained(RUN, separate_streams, folder=job.folder)
    assert 1 < records[0].update <= UPDATES
    assert_same_model(job.folder, place / "alone")


@pytest.mark.campaign
def test_what_two_processes_find_of_each_other() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    found = subprocess.run(
        [*command, "-m", "tests.pretraining.two_ranks"], cwd=CHECKOUT, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr
    assert sorted(found.stdout.splitlines()) == [f"rank {rank} found all as it should be" for rank in range(2)]


@pytest.mark.campaign
def test_an_error_in_a_process_is_raised_and_ends_them_all(place: Path, streams: dict) -> None:
    job = job_of(tiny_run(learning_rate=1e25, updates=40, evaluations=1), streams, folder=place / "astray")
    before = in_training()
    with pytest.raises(IsoglotError, match=r"of the last 100 updates were left out.*lower optimization\.learning"):
        pretrain_in_processes(job, processes=2, report=lambda _: None, log_folder=place / "logs")
    until(lambda: not ranks_since(before))


@pytest.mark.campaign
def test_processes_that_die_again_and_again_are_an_error_that_names_their_log(
    place: Path, streams: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torchrun, "MAX_RESTARTS", 0)
    job = replace(job_of(tiny_run(), streams, folder=place / "dead"), micro_batch="no number")  # type: ignore[arg-type]
    with pytest.raises(
        IsoglotError, match=r"2 processes could not train dead together: some died 1 times.*torchrun\.log"
    ):
        pretrain_in_processes(job, processes=2, report=lambda _: None, log_folder=tmp_path / "logs")
    assert "Traceback" in (tmp_path / "logs" / "torchrun.log").read_text()
