"""A Slurm job without Slurm: the resources it gets, and the report it leaves of the stage it makes."""

import pickle
import shlex
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

pytest.importorskip("submitit", reason="submitit is not installed: pip install submitit")
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


def test_reports_are_few_and_one_that_is_not_all_there_yet_is_empty(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[JobReport] = []
    with monkeypatch.context() as patch:
        patch.setattr(JobReport, "write", lambda report, _: written.append(report))
        StageJob(root=store.root, stage=Errand())()
    progress = Progressed(Errand().digest, 0, 200, "errands", "on foot")
    assert [each.event for each in written] == [None, progress, Made(Errand().digest)]
    path = tmp_path / "report"
    JobReport(event=Progressed("a", 1.5, 2, "words", "é"), warnings=("one",)).write(path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert JobReport.read(path) == JobReport()
    assert JobReport.read(tmp_path / "none") == JobReport()


ON_GPU = Resources(gpus=1, cpus=8, gigabytes=30.5, hours=5.5)
ON_CPU = Resources(cpus=2, hours=0.001)


OURS_ON_GPU = {"requeue": True, "gpus-per-node": 1, "cpus-per-task": 8, "mem": "31G", "time": 330}
OURS_ON_CPU = {"requeue": True, "cpus-per-task": 2, "mem": "4G", "time": 1}
FOR_EACH_SORT = Submitter(
    options={"partition": "any", "gres": "gpu:1", "time": "60"},
    gpu_options={"partition": "a100"},
    cpu_options={"constraint": "avx"},
)


@pytest.mark.parametrize(
    ("submitter", "resources", "gone", "added"),
    [
        (Submitter(), ON_GPU, "", {}),
        (Submitter(), ON_CPU, "", {}),
        (Submitter(), replace(ON_GPU, hours=100), "", {"time": 24 * 60}),
        (Submitter(options={"gres": "gpu:a100:1"}), ON_GPU, "gpus-per-node", {"gres": "gpu:a100:1"}),
        (Submitter(options={"mem-per-cpu": "2G"}), ON_GPU, "mem", {"mem-per-cpu": "2G"}),
        (Submitter(options={"cpus-per-gpu": "4"}), ON_GPU, "cpus-per-task", {"cpus-per-gpu": "4"}),
        (FOR_EACH_SORT, ON_GPU, "gpus-per-node", {"partition": "a100", "gres": "gpu:1", "time": "60"}),
        (FOR_EACH_SORT, ON_CPU, "", {"partition": "any", "constraint": "avx", "time": "60"}),
        (Submitter(has_gpus=False, options={"gres": "gpu:1"}), ON_GPU, "gpus-per-node", {}),
        (Submitter(has_gpus=False, cpu_options={"qos": "long"}), ON_GPU, "gpus-per-node", {"qos": "long"}),
    ],
)
def test_a_stage_gets_what_it_needs_a_day_at_a_time_unless_the_user_wants_otherwise(
    submitter: Submitter, resources: Resources, gone: str, added: Mapping[str, Option]
) -> None:
    ours = OURS_ON_GPU if resources.gpus else OURS_ON_CPU
    expected = {name: value for name, value in ours.items() if name != gone} | added
    assert submitter.sbatch_options(resources) == expected


@pytest.mark.parametrize("name", ["output", "array", "dependency", "no-requeue", "Mem", "mem per cpu", ""])
def test_options_that_would_break_jobs_are_refused(name: str) -> None:
    with pytest.raises(IsoglotError, match=f"--slurm-option .?{name}"):
        Submitter(gpu_options={name: "x"})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("comment", "two\nlines", "line break"),
        ("comment", "\x1b[31m", "control character"),
        ("cpus-per-task", "4; rm -rf ~", "number"),
        ("cpus-per-task", True, "number"),
    ],
)
def test_values_that_would_become_lines_or_commands_of_the_script_are_refused(
    name: str, value: str | bool, reason: str
) -> None:
    for options in ("options", "gpu_options", "cpu_options"):
        with pytest.raises(IsoglotError, match=rf"--slurm-option {name}=.*{reason}"):
            Submitter(**{options: {name: value}})


def test_a_value_with_spaces_and_quotes_stays_one_value(tmp_path: Path) -> None:
    from submitit.slurm.slurm import _make_sbatch_string

    comment = 'it\'s $(touch here); "two" words'
    options = Submitter(options={"comment": comment}).sbatch_options(Resources())
    script = _make_sbatch_string("true", tmp_path, additional_parameters=options)
    (line,) = [line for line in script.splitlines() if line.startswith("#SBATCH --comment=")]
    assert shlex.split(line, comments=False)[1] == f"--comment={comment}"


def test_times_are_read_as_sbatch_reads_them_and_others_are_refused() -> None:
    read = {"90": 90, "90:30": 91, "2:30:00": 150, "1-2": 1560, "1-2:30": 1590, "1-02:30:01": 1591, "0:30": 1}
    assert {time: minutes(time) for time in read} == read
    for time in ("", "soon", "0", "1:2:3:4", "1-2:3:4:5", "-5", "1.5"):
        with pytest.raises(IsoglotError, match=f"--slurm-option time={time}: no time that sbatch knows"):
            Submitter(options={"time": time})
