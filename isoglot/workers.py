"""How many processes may work side by side."""

import os

from isoglot.environment import number_in

WORKERS_VARIABLE = "ISOGLOT_WORKERS"


def num_workers() -> int:
    """One for each processor that this process may use; the environment variable ISOGLOT_WORKERS decides otherwise."""
    return number_in(WORKERS_VARIABLE, of="processes") or num_processors()


def num_processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
