"""How many processes may work side by side."""

import os

from isoglot.errors import IsoglotError

WORKERS_VARIABLE = "ISOGLOT_WORKERS"


def num_workers() -> int:
    """One for each processor that this process may use; the environment variable ISOGLOT_WORKERS decides otherwise."""
    wanted = os.environ.get(WORKERS_VARIABLE)
    if not wanted:
        return num_processors()
    if not wanted.isdecimal() or int(wanted) < 1:
        raise IsoglotError(f"{WORKERS_VARIABLE}={wanted!r} is no number of processes; unset it, or give 1 or more")
    return int(wanted)


def num_processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
