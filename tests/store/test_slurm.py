"""What a run makes of a cluster's whims, with programs in the place of Slurm's that say what a test wants them to.

What Slurm itself does stands in tests/slurm.
"""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Store, slurm
from isoglot.store.engine import Failed, Held, Made, Progressed, Waiting
from isoglot.store.slurm import SlurmJobs
from isoglot.store.slurm_job import News, news_path, write_news
from isoglot.store.slurm_submission import Submitter
from tests.store.stand_in_cluster import STAGE, Desk
from tests.store.toy_stages import Text

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isoglot[slurm]'")


def test_a_job_tells_where_it_is_and_how_far(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    assert desk.engine.room() == 1
    desk.queue("PENDING")
    desk.wait()
    desk.queue("RUNNING")
    progress = Progressed(STAGE.digest, 1, 2, "lines")
    write_news(news_path(desk.store.log_folder(STAGE), "1"), News(event=progress))
    desk.wait()
    write_news(news_path(desk.store.log_folder(STAGE), "1"), News(event=Made(STAGE.digest)))
    desk.wait()
    places = [f"Slurm job 1, {state}" for state in ("submitted", "pending", "running")]
    submitted, pending, running = (Waiting(STAGE.digest, place) for place in places)
    assert desk.events == [submitted, pending, progress, running], "it is not in the store yet"
    desk.store.ensure(STAGE)
    desk.wait(1)
    assert desk.events[-1] == Made(STAGE.digest)
    assert desk.engine.room() == 2
    assert desk.said == []


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("OUT_OF_MEMORY", "(out of memory): it needs more memory, as in --slurm-option mem=64G"),
        ("CANCELLED", "(cancelled): it was cancelled; run again"),
        ("COMPLETED", "(completed): it left no result; is the store on a file system that all nodes share?"),
        ("FAILED", "(failed): run again to go on from where it was"),
    ],
)
def test_an_end_without_a_word_is_told_with_its_mend(desk: Desk, state: str, words: str) -> None:
    desk.engine.start(STAGE, desk.events.append)
    desk.queue(state)
    log = desk.store.log_folder(STAGE) / "1_0_log.err"
    log.write_text("first\nlast\n\n")
    desk.wait()
    assert desk.error().startswith(f"Slurm job 1 ended {words}")
    assert f"The last line of {log} is: last" in desk.error()
    assert desk.asked("sbatch") == 1


def test_an_end_without_a_log_asks_about_the_file_system(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    desk.queue("FAILED")
    desk.wait()
    assert f"can its node write to {desk.store.log_folder(STAGE)}?" in desk.error()


@pytest.mark.parametrize("state", ["TIMEOUT", "NODE_FAIL", "PREEMPTED"])
def test_where_slurm_gives_no_second_turn_new_jobs_go_on(desk: Desk, state: str) -> None:
    desk.engine.start(STAGE, desk.events.append)
    for number in (1, 2, 3):
        assert desk.asked("sbatch") == number
        assert Waiting(STAGE.digest, f"Slurm job {number}, submitted") in desk.events
        desk.queue(*[state] * number)
        desk.wait(1)
    assert desk.error().startswith(f"Slurm job 3 ended ({state.lower().replace('_', ' ')})")
    assert desk.asked("sbatch") == 3


def test_a_job_that_is_about_to_be_requeued_has_not_ended(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 60.0)
    desk.engine.start(STAGE, desk.events.append)
    for state in ("RUNNING", "PREEMPTED", "COMPLETING", "PENDING"):
        desk.queue(state)
        desk.wait()
    # However long ago it first seemed to have ended.
    monkeypatch.setattr(slurm, "SECONDS_OF_GRACE", 1e-9)
    desk.queue("PREEMPTED")
    desk.wait(1)
    assert desk.events[-1] == Waiting(STAGE.digest, "Slurm job 1, pending")
    assert desk.asked("sbatch") == 1


@pytest.mark.parametrize(("accounts", "told"), [("CANCELLED by 1000\n", "cancelled"), ("", "gone")])
def test_accounts_tell_of_a_job_that_left_the_queue(desk: Desk, accounts: str, told: str) -> None:
    (desk.folder / "accounts").write_text(accounts)
    desk.engine.start(STAGE, desk.events.append)
    desk.wait()
    assert desk.error().startswith(f"Slurm job 1 ended ({told})")


def test_a_job_may_have_made_its_stage_without_a_word(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    desk.store.ensure(STAGE)
    desk.queue("COMPLETED")
    desk.wait()
    assert desk.events[-1] == Made(STAGE.digest)


def test_what_all_jobs_warn_of_is_shown_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    for number, stage in enumerate((STAGE, Text(word="bush")), start=1):
        desk.engine.start(stage, desk.events.append)
        write_news(news_path(desk.store.log_folder(stage), str(number)), News(warnings=("slow", f"job {number}")))
    desk.wait(1)
    assert shown == ["slow", "job 1", "job 2"]


def test_slurm_may_be_silent_for_a_while(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    (desk.folder / "silent").touch()
    desk.wait()
    silent = "Slurm job 1; Slurm does not answer (squeue: error: Unable to contact slurm controller)"
    assert desk.events[-1] == Waiting(STAGE.digest, silent)
    (desk.folder / "silent").unlink()
    desk.queue("RUNNING")
    desk.wait()
    assert desk.events[-1] == Waiting(STAGE.digest, "Slurm job 1, running")


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "SUSPENDED"])
def test_a_job_of_an_earlier_run_is_waited_for(desk: Desk, state: str) -> None:
    stages = STAGE, Text(word="bush")
    for stage in stages:
        desk.engine.start(stage, desk.events.append)
    desk.queue(state, state)
    later = Desk(desk.folder, desk.store)
    for stage in reversed(stages):
        later.engine.start(stage, later.events.append)
    places = [(event.digest, event.holder) for event in later.events if isinstance(event, Waiting)]
    assert places == [(stages[1].digest, "Slurm job 2, submitted"), (STAGE.digest, "Slurm job 1, submitted")]
    assert (desk.asked("sbatch"), desk.asked("scancel")) == (2, 0)


def test_what_an_earlier_turn_told_counts_no_more(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    desk.queue("PENDING")
    write_news(news_path(desk.store.log_folder(STAGE), "1"), News(event=Failed(STAGE.digest, IsoglotError("before"))))
    later = Desk(desk.folder, desk.store)
    later.engine.start(STAGE, later.events.append)
    later.wait()
    assert later.events[-1] == Waiting(STAGE.digest, "Slurm job 1, pending")


def _end_it(desk: Desk) -> None:
    desk.queue("CANCELLED")


def _lose_what_it_is_to_do(desk: Desk) -> None:
    desk.queue("PENDING")
    (desk.store.log_folder(STAGE) / "1_submitted.pkl").unlink()


@pytest.mark.parametrize(("happens", "cancels"), [(_end_it, 0), (_lose_what_it_is_to_do, 1)])
def test_a_job_that_will_not_make_the_stage_is_not_waited_for(
    desk: Desk, happens: Callable[[Desk], None], cancels: int
) -> None:
    desk.engine.start(STAGE, desk.events.append)
    happens(desk)
    later = Desk(desk.folder, desk.store)
    later.engine.start(STAGE, later.events.append)
    assert later.events == [Waiting(STAGE.digest, "Slurm job 2, submitted")]
    assert desk.asked("scancel") == cancels


def test_what_another_run_is_at_is_not_submitted_over_and_over(desk: Desk) -> None:
    desk.engine.start(STAGE, desk.events.append)
    held = Held(STAGE.digest, "far, process 1")
    write_news(news_path(desk.store.log_folder(STAGE), "1"), News(event=held))
    desk.wait(1)
    assert desk.events[-1] == held
    desk.engine.start(STAGE, desk.events.append)
    assert desk.events[-1] == held
    assert desk.asked("sbatch") == 1


def test_jobs_that_are_left_are_named_with_the_way_to_stop_them(desk: Desk) -> None:
    with desk.engine:
        for stage in (STAGE, Text(word="bush")):
            desk.engine.start(stage, desk.events.append)
    (sentence,) = desk.said
    assert sentence.startswith("Slurm jobs 1, 2 go on")
    assert sentence.endswith("scancel 1 2")
    assert desk.asked("scancel") == 0


def test_the_size_of_the_job_that_a_run_is_in_does_not_spread(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_MEM_PER_NODE", "SLURM_CONF", "SBATCH_QOS"):
        monkeypatch.setenv(name, "7")
    desk.engine.start(STAGE, desk.events.append)
    told = {line.partition("=")[0] for line in (desk.folder / "environment").read_text().splitlines()}
    assert {name for name in told if name.startswith(("SLURM", "SBATCH"))} == {"SLURM_CONF", "SBATCH_QOS"}
    assert os.environ["SLURM_JOB_ID"] == "7"


def test_a_store_that_slurm_could_not_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="has a % in its name"):
        SlurmJobs(Store(tmp_path / "100%"), submitter=Submitter(), max_jobs=1, say=print)
