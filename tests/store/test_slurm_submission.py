"""What is asked of Slurm for a stage."""

from collections.abc import Mapping

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Resources
from isoglot.store.slurm_submission import Option, Submitter, minutes

ON_GPU = Resources(gpus=1, cpus=8, gigabytes=30.5, hours=5.5)
ON_CPU = Resources(cpus=2, hours=0.001)


def test_a_stage_gets_what_it_needs() -> None:
    asked = Submitter().sbatch_options(ON_GPU)
    assert asked == {"requeue": True, "gpus-per-node": 1, "cpus-per-task": 8, "mem": "31G", "time": 330}
    assert Submitter().sbatch_options(ON_CPU) == {"requeue": True, "cpus-per-task": 2, "mem": "4G", "time": 1}


def test_a_long_stage_gets_a_day_at_a_time() -> None:
    assert Submitter().sbatch_options(Resources(hours=100))["time"] == 24 * 60


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({"gres": "gpu:a100:1"}, "gpus-per-node"),
        ({"gpus": "1"}, "gpus-per-node"),
        ({"mem-per-cpu": "2G"}, "mem"),
        ({"cpus-per-gpu": "4"}, "cpus-per-task"),
    ],
)
def test_what_the_user_says_in_other_words_is_not_said_twice(options: Mapping[str, Option], gone: str) -> None:
    asked = Submitter(options=options).sbatch_options(ON_GPU)
    assert gone not in asked
    assert asked.items() >= options.items()


def test_options_may_be_for_one_sort_of_stage() -> None:
    submitter = Submitter(
        options={"partition": "any", "gres": "gpu:1", "time": "60"},
        gpu_options={"partition": "a100"},
        cpu_options={"constraint": "avx"},
    )
    on_gpu, on_cpu = (submitter.sbatch_options(each) for each in (ON_GPU, ON_CPU))
    assert (on_gpu["partition"], on_cpu["partition"]) == ("a100", "any")
    assert (on_gpu["gres"], on_cpu["constraint"]) == ("gpu:1", "avx")
    assert "gres" not in on_cpu
    assert "constraint" not in on_gpu
    assert on_gpu["time"] == on_cpu["time"] == "60"


def test_without_gpus_none_is_asked_for() -> None:
    asked = Submitter(has_gpus=False, options={"gres": "gpu:1"}, cpu_options={"qos": "long"}).sbatch_options(ON_GPU)
    assert asked.keys() == {"requeue", "cpus-per-task", "mem", "time", "qos"}


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
def test_a_time_that_sbatch_would_not_read_is_named(time: str) -> None:
    with pytest.raises(IsoglotError, match=f"--slurm-option time={time}: no time that sbatch knows"):
        Submitter(options={"time": time})
