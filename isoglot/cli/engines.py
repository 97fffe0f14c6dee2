"""The engine of a run: this process, several processes of this machine, or jobs of a Slurm cluster."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, WORKERS_VARIABLE, num_workers

if TYPE_CHECKING:
    from isoglot.store import Engine, PlannedStage, Store
    from isoglot.store.slurm_job import Option

MAX_JOBS = 64
SLURM_PROGRAMS = ("sbatch", "squeue", "srun", "scontrol", "scancel")


def _slurm_option(flag: str, text: str, **settings: Any) -> Any:
    return typer.Option(flag, help=text, rich_help_panel="On a Slurm cluster", **settings)


SBATCH_HELP = (
    "An option of sbatch, as in constraint=a100; gpu.NAME=VALUE for jobs with a GPU alone, cpu.NAME=VALUE for those "
    "without. Give it as often as you like."
)


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Processes of this machine, or with `slurm` jobs of the cluster whose login node it is."""

    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="Processes that make artifacts side by side. If not given: eight for each GPU where models are narrow "
            "and can share it, one for each GPU otherwise, or one for each core. 1 is this process alone.",
            metavar="N",
        ),
    ] = None
    slurm: Annotated[bool, _slurm_option("--slurm", "Make artifacts in jobs of the cluster, one job for each.")] = False
    partition: Annotated[
        str | None, _slurm_option("--partition", "Partition of the cluster that jobs run in.", metavar="NAME")
    ] = None
    account: Annotated[str | None, _slurm_option("--account", "Account that jobs are charged to.", metavar="NAME")] = (
        None
    )
    max_jobs: Annotated[
        int | None,
        _slurm_option("--max-jobs", f"Most jobs in the queue at once; {MAX_JOBS} if not given.", min=1, metavar="N"),
    ] = None
    slurm_option: Annotated[list[str] | None, _slurm_option("--slurm-option", SBATCH_HELP, metavar="NAME=VALUE")] = None

    def side_by_side(self) -> int:
        """How many processes of this machine are at work at once, where a plan has work for so many."""
        if self.slurm:
            raise IsoglotError("--within counts the time on this machine: leave it out, or leave out --slurm")
        from isoglot.hardware import usable_gpus
        from isoglot.store.local_engine import num_in_memory

        return self.workers or len(usable_gpus()) or min(num_workers(), num_in_memory())

    def chosen(self, store: "Store", planned: "Sequence[PlannedStage]", *, say: Callable[[str], None]) -> "Engine":
        """The engine, unless the options do not go together."""
        from isoglot.store.local_engine import local_engine

        if not self.slurm:
            for name in ("partition", "account", "max_jobs", "slurm_option"):
                if getattr(self, name):
                    flag = name.replace("_", "-")
                    raise IsoglotError(f"--{flag} is for jobs of a cluster: give --slurm as well")
            return local_engine(store, planned, workers=self.workers)
        if self.workers is not None:
            raise IsoglotError("--workers is for processes of this machine: with --slurm, give --max-jobs")
        own = {"partition": self.partition, "account": self.account}
        options = [*(f"{name}={value}" for name, value in own.items() if value), *(self.slurm_option or ())]
        return slurm_engine(store, max_jobs=self.max_jobs or MAX_JOBS, options=options, say=say)


def slurm_engine(store: "Store", *, max_jobs: int, options: Sequence[str], say: Callable[[str], None]) -> "Engine":
    """Jobs of the cluster, submitted with these options of sbatch."""
    from isoglot.store.local_engine import THREADS_VARIABLE
    from isoglot.store.slurm import SlurmJobs
    from isoglot.store.slurm_job import Submitter

    if find_spec("submitit") is None:
        raise IsoglotError("--slurm needs a library; get it with: pip install submitit")
    if missing := [program for program in SLURM_PROGRAMS if shutil.which(program) is None]:
        raise IsoglotError(
            f"--slurm needs {', '.join(missing)}, not found on the PATH: run it on a login node of the cluster, or "
            "leave out --slurm"
        )
    parsed: dict[str, dict[str, Option]] = {"": {}, "gpu": {}, "cpu": {}}
    for option in options:
        name, equals, value = option.partition("=")
        sort, dot, rest = name.partition(".")
        if dot and sort not in parsed:
            raise IsoglotError(f"--slurm-option {option}: {sort}. is neither gpu. nor cpu.")
        key = (rest if dot else name).strip().removeprefix("--").replace("_", "-")
        parsed[sort if dot else ""][key] = value if equals else True
    submitter = Submitter(
        options=parsed[""],
        gpu_options=parsed["gpu"],
        cpu_options=parsed["cpu"],
        has_gpus=not os.environ.get(DEVICE_VARIABLE, "").startswith("cpu"),
        variables_of_cpus=(WORKERS_VARIABLE, THREADS_VARIABLE),
    )
    return SlurmJobs(store, submitter=submitter, max_jobs=max_jobs, say=say)
