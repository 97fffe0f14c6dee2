"""What `isoglot run --slurm` is told of a cluster, and the engine that follows from it."""

import os
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, WORKERS_VARIABLE

if TYPE_CHECKING:
    from isoglot.store import Engine, PlannedStage, Store
    from isoglot.store.slurm_submission import Option

PANEL = "On a Slurm cluster"
SlurmOption = Annotated[
    bool,
    typer.Option("--slurm", help="Make artifacts in jobs of the cluster, one job for each.", rich_help_panel=PANEL),
]
PartitionOption = Annotated[
    str | None, typer.Option("--partition", help="Where jobs run.", metavar="NAME", rich_help_panel=PANEL)
]
AccountOption = Annotated[
    str | None, typer.Option("--account", help="That jobs are charged to.", metavar="NAME", rich_help_panel=PANEL)
]
MaxJobsOption = Annotated[
    int | None,
    typer.Option(
        "--max-jobs", min=1, help="In the queue at once, 64 if not given.", metavar="N", rich_help_panel=PANEL
    ),
]
SbatchOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm-option",
        help="An option of sbatch, as in constraint=a100; gpu.NAME=VALUE for jobs with a GPU alone, cpu.NAME=VALUE for "
        "those without. Give it as often as you like.",
        metavar="NAME=VALUE",
        rich_help_panel=PANEL,
    ),
]
MAX_JOBS = 64
NEEDED = ("sbatch", "squeue", "srun", "scontrol", "scancel")


def chosen_engine(
    store: "Store",
    planned: "Sequence[PlannedStage]",
    *,
    workers: int | None,
    slurm: bool,
    partition: str | None,
    account: str | None,
    max_jobs: int | None,
    options: Sequence[str],
    say: Callable[[str], None],
) -> "Engine":
    """Processes of this machine, or jobs of the cluster whose login node it is."""
    from isoglot.engines import local_engine

    named = {"--partition": partition, "--account": account, "--max-jobs": max_jobs, "--slurm-option": options or None}
    if not slurm:
        if given := [name for name, value in named.items() if value is not None]:
            raise IsoglotError(f"{given[0]} is for jobs of a cluster: give --slurm as well")
        return local_engine(store, planned, workers=workers)
    if workers is not None:
        raise IsoglotError("--workers is for processes of this machine: with --slurm, give --max-jobs")
    own = [f"partition={partition}"] if partition else []
    own += [f"account={account}"] if account else []
    return slurm_engine(store, max_jobs=max_jobs or MAX_JOBS, options=[*own, *options], say=say)


def slurm_engine(store: "Store", *, max_jobs: int, options: Sequence[str], say: Callable[[str], None]) -> "Engine":
    """Jobs of the cluster, submitted with these options of sbatch."""
    from isoglot.engines import THREADS_VARIABLE
    from isoglot.store.slurm import SlurmJobs
    from isoglot.store.slurm_submission import Submitter

    if find_spec("submitit") is None:
        raise IsoglotError("--slurm needs submitit: pip install 'isoglot[slurm]'")
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        raise IsoglotError(
            f"--slurm needs {', '.join(missing)}, not found on the PATH: run it on a login node of the cluster, or "
            "leave out --slurm"
        )
    found = _parsed(options)
    submitter = Submitter(
        options=found[""],
        gpu_options=found["gpu"],
        cpu_options=found["cpu"],
        has_gpus=not os.environ.get(DEVICE_VARIABLE, "").startswith("cpu"),
        variables_of_cpus=(WORKERS_VARIABLE, THREADS_VARIABLE),
    )
    return SlurmJobs(store, submitter=submitter, max_jobs=max_jobs, say=say)


def _parsed(options: Sequence[str]) -> "dict[str, dict[str, Option]]":
    """{"": {"constraint": "a100", "exclusive": True}, "gpu": {...}, "cpu": {...}}"""
    found: dict[str, dict[str, Option]] = {"": {}, "gpu": {}, "cpu": {}}
    for option in options:
        name, equals, value = option.partition("=")
        sort, dot, rest = name.partition(".")
        if dot and sort not in found:
            raise IsoglotError(f"--slurm-option {option}: {sort}. is neither gpu. nor cpu.")
        key = (rest if dot else name).strip().removeprefix("--").replace("_", "-")
        found[sort if dot else ""][key] = value if equals else True
    return found
