"""A Slurm job without Slurm: the resources it gets, and the report it leaves of the stage it makes."""

import pickle
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isoglot[slurm]'")
from submitit.core.utils import UncompletedJobError

from isoglot.errors import IsoglotError
from isoglot.files import lease
from isoglot.store import NOT_IDENTITY, Resources, Stage, Store, Work, slurm_job
from isoglot.store.engine import Failed, Held, Made, Progressed, Reused
from isoglot.store.slurm_job import JobReport, Option, StageJob, Submitter, minutes, report_path

# In a job warnings are no errors.
pytestmark = pytest.mark.filterwarnings("always")


@dataclass(frozen=True, kw_only=True)
class Errand(Stage):
    """Reports often, warns once, and ends as its field says."""

    kind = "errand"
    error: Exception | None = field(default=None, metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        assert work.log_folder is not None
        assert list(work.log_folder.iterdir()) == [], "a run that looks now must not see the report of an earlier turn"
        warnings.warn("this may take long", stacklevel=1)
        for done in range(100):
            work.progress(done, 200, "errands", "on foot")
        if self.error:
            raise self.error
        (work.folder / "done.txt").touch()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    store = Store(tmp_path / "store")
    store.log_folder(Errand()).mkdir(parents=True)
    return store


def report_of(store: Store) -> JobReport:
    return JobReport.read(report_path(store.log_folder(Errand()), "4711"))


def test_a_stage_is_made_once_whatever_an_earlier_turn_reported(store: Store, capsys: pytest.CaptureFixture) -> None:
    earlier = JobReport(event=Failed("a", IsoglotError("before")))
    earlier.write(report_path(store.log_folder(Errand()), "4711"))
    # As it comes to the node of the cluster.
    job = pickle.loads(pickle.dumps(StageJob(root=store.root, stage=Errand())))
    job()
    assert report_of(store) == JobReport(event=Made(Errand().digest), warnings=("this may take long",))
    assert capsys.readouterr().err == "isoglot: this may take long\n"
    job()
    assert report_of(store).event == Reused(Errand().digest)
    assert store.has(Errand())


@pytest.mark.parametrize(
    ("error", "raised", "sentence"),
    [
        (IsoglotError("no money"), SystemExit, "no money"),
        (ZeroDivisionError(), ZeroDivisionError, "ZeroDivisionError; the traceback is in {log}"),
        (
            UncompletedJobError("Job not requeued because: timed-out too many times."),
            UncompletedJobError,
            "it ran out of time turn after turn: run again to go on, with --slurm-option time=2-00:00:00 or so; the "
            "traceback is in {log}",
        ),
    ],
    ids=["of the user", "of isoglot", "out of time"],
)
def test_an_error_is_reported(
    store: Store, error: Exception, raised: type[BaseException], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(raised) as caught:
        StageJob(root=store.root, stage=Errand(error=error))()
    event = report_of(store).event
    assert isinstance(event, Failed)
    assert str(event.error) == sentence.format(log=store.log_folder(Errand()) / "4711_0_log.err")
    if isinstance(caught.value, SystemExit):
        assert caught.value.code == 1
        assert capsys.readouterr().err.endswith("isoglot: no money\n")


def test_a_job_does_not_wait_for_another_run_for_long(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_job, "PATIENCE_SECONDS", 0.1)
    with lease(store.folder(Errand()).with_name(f"{store.folder(Errand()).name}.lease")):
        StageJob(root=store.root, stage=Errand())()
    assert isinstance(report_of(store).event, Held)


def test_reports_are_few(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[JobReport] = []
    monkeypatch.setattr(JobReport, "write", lambda report, _: written.append(report))
    StageJob(root=store.root, stage=Errand())()
    progress = Progressed(Errand().digest, 0, 200, "errands", "on foot")
    assert [each.event for each in written] == [None, progress, Made(Errand().digest)]


def test_a_report_that_is_not_all_there_yet_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "report"
    JobReport(event=Progressed("a", 1.5, 2, "words", "é"), warnings=("one",)).write(path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert JobReport.read(path) == JobReport()
    assert JobReport.read(tmp_path / "none") == JobReport()


ON_GPU = Resources(gpus=1, cpus=8, gigabytes=30.5, hours=5.5)
ON_CPU = Resources(cpus=2, hours=0.001)


def test_a_stage_gets_the_resources_it_needs_a_day_at_a_time() -> None:
    on_gpu = {"requeue": True, "gpus-per-node": 1, "cpus-per-task": 8, "mem": "31G", "time": 330}
    assert Submitter().sbatch_options(ON_GPU) == on_gpu
    assert Submitter().sbatch_options(ON_CPU) == {"requeue": True, "cpus-per-task": 2, "mem": "4G", "time": 1}
    assert Submitter().sbatch_options(Resources(hours=100))["time"] == 24 * 60


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({"gres": "gpu:a100:1"}, "gpus-per-node"),
        ({"mem-per-cpu": "2G"}, "mem"),
        ({"cpus-per-gpu": "4"}, "cpus-per-task"),
    ],
)
def test_an_option_of_the_user_replaces_its_synonym(options: Mapping[str, Option], gone: str) -> None:
    chosen = Submitter(options=options).sbatch_options(ON_GPU)
    assert gone not in chosen
    assert chosen.items() >= options.items()


def test_options_may_be_for_one_sort_of_stage() -> None:
    submitter = Submitter(
        options={"partition": "any", "gres": "gpu:1", "time": "60"},
        gpu_options={"partition": "a100"},
        cpu_options={"constraint": "avx"},
    )
    on_gpu, on_cpu = (submitter.sbatch_options(each) for each in (ON_GPU, ON_CPU))
    ours = {"requeue": True, "time": "60"}
    assert on_gpu == ours | {"partition": "a100", "gres": "gpu:1", "cpus-per-task": 8, "mem": "31G"}
    assert on_cpu == ours | {"partition": "any", "constraint": "avx", "cpus-per-task": 2, "mem": "4G"}


def test_without_gpus_no_job_gets_one() -> None:
    chosen = Submitter(has_gpus=False, options={"gres": "gpu:1"}, cpu_options={"qos": "long"}).sbatch_options(ON_GPU)
    assert chosen.keys() == {"requeue", "cpus-per-task", "mem", "time", "qos"}


@pytest.mark.parametrize("name", ["output", "array", "dependency", "no-requeue", "Mem", "mem per cpu", ""])
def test_options_that_would_break_jobs_are_refused(name: str) -> None:
    with pytest.raises(IsoglotError, match=f"--slurm-option .?{name}"):
        Submitter(gpu_options={name: "x"})


@pytest.mark.parametrize(
    ("time", "expected"),
    [("90", 90), ("90:30", 91), ("2:30:00", 150), ("1-2", 1560), ("1-2:30", 1590), ("1-02:30:01", 1591), ("0:30", 1)],
)
def test_times_are_read_as_sbatch_reads_them(time: str, expected: int) -> None:
    assert minutes(time) == expected


@pytest.mark.parametrize("time", ["", "soon", "0", "1:2:3:4", "1-2:3:4:5", "-5", "1.5"])
def test_a_time_that_sbatch_would_not_read_is_refused(time: str) -> None:
    with pytest.raises(IsoglotError, match=f"--slurm-option time={time}: no time that sbatch knows"):
        Submitter(options={"time": time})
