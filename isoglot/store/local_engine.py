"""How many worker processes a plan gets on this machine, and which part of the machine each of them may use."""

import os
import warnings
from collections import Counter
from collections.abc import Sequence

from isoglot.errors import IsoglotError, option
from isoglot.hardware import (
    SHARE_VARIABLE,
    VISIBLE_VARIABLE,
    available_ram,
    memory_share,
    sharing_environment,
    usable_gpus,
)
from isoglot.machine import (
    PROCESSES_VARIABLE,
    WORKERS_VARIABLE,
    num_processors,
    num_workers,
    processes_per_model,
)
from isoglot.store.engine import Engine, InThisProcess
from isoglot.store.local_processes import LocalProcesses
from isoglot.store.plan import PlannedStage, State
from isoglot.store.store import Store

THREADS_VARIABLE = "OMP_NUM_THREADS"
# Memory of a worker with torch and a small model. A large model needs a GPU, and then workers are few.
WORKER_BYTES = 1 << 30
# Two train, the others fine-tune or measure, which leaves most of a GPU idle (docs/performance.md, "Narrow models").
WORKERS_OF_A_GPU = 8


def local_engine(store: Store, planned: Sequence[PlannedStage], *, workers: int | None) -> Engine:
    """So many worker processes, or else as many as the plan can use and this machine has room for."""
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
            f"{option('workers', workers)}: there {room}, so that {min(processors, in_memory)} would do; more take "
            "turns and leave less memory for each",
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


def can_share_gpus(planned: Sequence[PlannedStage]) -> bool:
    """Whether all that is left to do gains from having a GPU together."""
    left = [each.stage for each in planned if each.state is not State.DONE]
    return processes_per_model() == 1 and all(stage.shares_gpu for stage in left)


def most_side_by_side(planned: Sequence[PlannedStage]) -> int:
    """About how many stages can be in work at once: the most that wait for equally long chains of others."""
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
