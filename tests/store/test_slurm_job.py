"""What a Slurm job does, without Slurm: it makes a stage and leaves word of how that went."""

import pickle
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isoglot[slurm]'")
from submitit.core.utils import UncompletedJobError

from isoglot.errors import IsoglotError
from isoglot.files import lease
from isoglot.store import NOT_IDENTITY, Stage, Store, Work, slurm_job
from isoglot.store.engine import Event, Failed, Held, Made, Progressed, Reused
from isoglot.store.slurm_job import News, StageJob, news_path, read_news, write_news
from isoglot.store.store import ignore_holder

# In a job they are no errors.
pytestmark = pytest.mark.filterwarnings("always")


@dataclass(frozen=True, kw_only=True)
class Errand(Stage):
    """Reports often, warns once, and ends as it is told to."""

    kind = "errand"
    error: str = field(default="", metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        # A run that looks now is not to find what an earlier turn told.
        assert work.log_folder is not None
        assert list(work.log_folder.iterdir()) == []
        warnings.warn("this may take long", stacklevel=1)
        for done in range(100):
            work.progress(done, 200, "errands", "on foot")
        if self.error == "user":
            raise IsoglotError("no money")
        if self.error == "time":
            # As submitit does in the midst of a stage.
            raise UncompletedJobError("Job not requeued because: timed-out too many times.")
        if self.error:
            raise ZeroDivisionError
        (work.folder / "done.txt").touch()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    store = Store(tmp_path / "store")
    store.log_folder(Errand()).mkdir(parents=True)
    return store


def news(store: Store) -> News:
    return read_news(news_path(store.log_folder(Errand()), "4711"))


def test_a_stage_is_made_once(store: Store) -> None:
    job = StageJob(root=store.root, stage=Errand())
    for event in (Made(Errand().digest), Reused(Errand().digest)):
        # As it comes to the node of the cluster.
        pickle.loads(pickle.dumps(job))()
        assert news(store).event == event
    assert store.has(Errand())


def test_warnings_are_left_for_the_run_that_waits(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    StageJob(root=store.root, stage=Errand())()
    assert news(store).warnings == ("this may take long",)
    assert capsys.readouterr().err == "isoglot: this may take long\n"


def test_a_mistake_of_the_user_is_told_without_a_traceback(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        StageJob(root=store.root, stage=Errand(error="user"))()
    assert exit_.value.code == 1
    assert str(_failed(news(store).event).error) == "no money"
    assert capsys.readouterr().err.endswith("isoglot: no money\n")


def test_any_other_mistake_is_told_with_the_place_of_its_traceback(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        StageJob(root=store.root, stage=Errand(error="isoglot"))()
    log = store.log_folder(Errand()) / "4711_0_log.err"
    assert str(_failed(news(store).event).error) == f"ZeroDivisionError; the traceback is in {log}"


def test_time_that_is_never_enough_is_told(store: Store) -> None:
    with pytest.raises(UncompletedJobError):
        StageJob(root=store.root, stage=Errand(error="time"))()
    assert str(_failed(news(store).event).error).startswith("it ran out of time turn after turn: run again to go on")


def test_a_second_turn_is_not_taken_for_a_failure(store: Store) -> None:
    write_news(news_path(store.log_folder(Errand()), "4711"), News(event=Failed("a", IsoglotError("before"))))
    StageJob(root=store.root, stage=Errand())()
    assert news(store).event == Made(Errand().digest)


def test_a_job_does_not_wait_for_another_run_for_long(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_job, "PATIENCE_SECONDS", 0.1)
    with lease(store.folder(Errand()).with_name(f"{store.folder(Errand()).name}.lease"), waiting=ignore_holder):
        StageJob(root=store.root, stage=Errand())()
    assert isinstance(news(store).event, Held)


def test_reports_are_few(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Event | None] = []
    monkeypatch.setattr(slurm_job, "write_news", lambda _, news: written.append(news.event))
    StageJob(root=store.root, stage=Errand())()
    assert [type(event) for event in written] == [type(None), Progressed, Made]
    assert written[1] == Progressed(Errand().digest, 0, 200, "errands", "on foot")


@pytest.mark.parametrize(
    "event", [Progressed("a", 1.5, 2, "words", "é"), Made("a"), Reused("a"), Held("a", "host, process 1"), None]
)
def test_news_is_read_as_it_was_written(event: Event | None, tmp_path: Path) -> None:
    written = News(event=event, warnings=("one", "two"))
    write_news(tmp_path / "news.json", written)
    assert read_news(tmp_path / "news.json") == written


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"event": {"is": "Sung"}, "warnings": []}'])
def test_news_that_is_not_all_there_yet_is_none(text: str, tmp_path: Path) -> None:
    assert read_news(tmp_path / "news.json") == News()
    (tmp_path / "news.json").write_text(text)
    assert read_news(tmp_path / "news.json") == News()


def _failed(event: Event | None) -> Failed:
    assert isinstance(event, Failed)
    return event
