"""The engine of a run: this process, several processes of this machine, or jobs of a Slurm cluster."""

import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isoglot.errors import IsoglotError
from isoglot.hardware import (
    SHARE_VARIABLE,
    VISIBLE_VARIABLE,
    available_ram,
    memory_share,
    sharing_environment,
    usable_gpus,
)
from isoglot.machine import (
    DEVICE_VARIABLE,
    PROCESSES_VARIABLE,
    WORKERS_VARIABLE,
    num_processors,
    num_workers,
    processes_per_model,
)

if TYPE_CHECKING:
    from isoglot.store import Engine, PlannedStage, Store
    from isoglot.store.slurm_job import Option

THREADS_VARIABLE = "OMP_NUM_THREADS"
# Memory of a worker with torch and a small model. A large model needs a GPU, and then workers are few.
WORKER_BYTES = 1 << 30
# Two train and two fine-tune or measure: as much as one GPU has room for, measured on an H200 with narrow models.
WORKERS_OF_A_GPU = 4
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
            help="Processes that make artifacts side by side. If not given: four for each GPU where models are narrow "
            "and can share it, one for each GPU otherwise, or one for each core. 1 is this process alone.",
            metavar="N",
        ),
    ] = None
    slurm: Annotated[bool, _slurm_option("--slurm", "Make artifacts in jobs of the cluster, one job for each.")] = False
    partition: Annotated[str | None, _slurm_option("--partition", "Where jobs run.", metavar="NAME")] = None
    account: Annotated[str | None, _slurm_option("--account", "The account to charge.", metavar="NAME")] = None
    max_jobs: Annotated[
        int | None, _slurm_option("--max-jobs", f"In the queue at once, {MAX_JOBS} if not given.", min=1, metavar="N")
    ] = None
    slurm_option: Annotated[list[str] | None, _slurm_option("--slurm-option", SBATCH_HELP, metavar="NAME=VALUE")] = None

    def side_by_side(self) -> int:
        """How many processes of this machine are at work at once, where a plan has work for so many."""
        if self.slurm:
            raise IsoglotError("--within counts the time on this machine: leave it out, or leave out --slurm")
        return self.workers or len(usable_gpus()) or min(num_workers(), num_in_memory())

    def chosen(self, store: "Store", planned: "Sequence[PlannedStage]", *, say: Callable[[str], None]) -> "Engine":
        """The engine, unless the options do not go together."""
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


def local_engine(store: "Store", planned: "Sequence[PlannedStage]", *, workers: int | None) -> "Engine":
    """So many worker processes, or else as many as the plan can use and this machine has room for."""
    from isoglot.store import InThisProcess
    from isoglot.store.local_processes import LocalProcesses

    useful = workers or most_side_by_side(planned)
    per_model = processes_per_model()
    # The driver's program takes a moment, so it runs only where it matters.
    gpus = usable_gpus() if useful > 1 or per_model > 1 else ()
    if gpus and len(gpus) < per_model:
        raise IsoglotError(f"{PROCESSES_VARIABLE}={per_model} asks for a GPU each, and there are {len(gpus)}")
    if per_model > 1 and not gpus:
        warnings.warn(
            f"{PROCESSES_VARIABLE}={per_model} gains nothing here: without a GPU each, processes that train one model "
            "share the processors and the memory of one",
            stacklevel=2,
        )
    processors, in_memory = num_processors(), num_in_memory()
    if workers is not None and workers > min(processors, in_memory):
        room = f"are {processors} processors" if processors <= in_memory else f"is memory for {in_memory}"
        warnings.warn(
            f"--workers {workers}: there {room}, so that {min(processors, in_memory)} would do; more take turns "
            "and leave less memory for each",
            stacklevel=2,
        )
    groups = [gpus[first : first + per_model] for first in range(0, len(gpus) - per_model + 1, per_model)]
    most = min(num_workers(), in_memory)
    if groups:
        most = max(len(groups), min(most, WORKERS_OF_A_GPU * len(groups) if can_share_gpus(planned) else 1))
    number = workers or min(useful, most)
    sharing = sharing_environment() if groups and number > len(groups) else {}
    if sharing is None and workers is None:
        number = len(groups)  # more would take turns
    if number == 1:
        return InThisProcess(store)
    gpus_of = [index % len(groups) for index in range(number)] if groups else None
    environments = [each | (sharing or {}) for each in shares(number, groups=groups)]
    return LocalProcesses(store, environments=environments, gpus=gpus_of)


def can_share_gpus(planned: "Sequence[PlannedStage]") -> bool:
    """Whether all that is left to do gains from having a GPU together."""
    from isoglot.store import State

    left = [each.stage for each in planned if each.state is not State.DONE]
    return processes_per_model() == 1 and all(stage.shares_gpu for stage in left)


def most_side_by_side(planned: "Sequence[PlannedStage]") -> int:
    """About how many stages can be in work at once: the most that wait for equally long chains of others."""
    from isoglot.store import State

    depths: dict[str, int] = {}
    for each in planned:
        if each.state is not State.DONE:
            inputs = each.stage.input_digests.values()
            depths[each.stage.digest] = 1 + max((depths.get(digest, 0) for digest in inputs), default=0)
    return max(Counter(depths.values()).values(), default=1)


def num_in_memory() -> int:
    """How many workers this machine, or this container, has memory for."""
    return max(1, int(memory_share() * available_ram()) // WORKER_BYTES)


def shares(number: int, *, groups: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """The environment of each worker: its group of GPUs, and its share of the processors and the memory."""
    share = {WORKERS_VARIABLE: str(max(1, num_workers() // number))}
    if not os.environ.get(THREADS_VARIABLE):
        share[THREADS_VARIABLE] = str(max(1, num_processors() // number))
    places = max(1, len(groups))
    environments = []
    for index in range(number):
        place = index % places
        num_there = len(range(place, number, places))
        environments.append(share | {SHARE_VARIABLE: str(memory_share() / num_there)})
        if places > 1:
            environments[-1][VISIBLE_VARIABLE] = ",".join(groups[place])
    return environments


def slurm_engine(store: "Store", *, max_jobs: int, options: Sequence[str], say: Callable[[str], None]) -> "Engine":
    """Jobs of the cluster, submitted with these options of sbatch."""
    from isoglot.store.slurm import SlurmJobs
    from isoglot.store.slurm_job import Submitter

    if find_spec("submitit") is None:
        raise IsoglotError("--slurm needs submitit: pip install 'isoglot[slurm]'")
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
