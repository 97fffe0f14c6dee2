"""How many windows are read at once: as many as fit, since fewer only take longer."""

from collections.abc import Mapping
from math import ceil

from isoglot.errors import IsoglotError
from isoglot.hardware import FreeMemory, memory_share
from isoglot.machine import number_in
from isoglot.pretraining.footprint import Footprint
from isoglot.pretraining.run import PretrainingRun

MICRO_BATCH_VARIABLE = "ISOGLOT_MICRO_BATCH"
USABLE_SHARE = 0.9
"""Of free memory: predictions are a few percent off, and memory falls into pieces."""
GIGABYTE = 1e9


class TooLargeError(IsoglotError):
    """Not even one window fits."""


def micro_batch(run: PretrainingRun, *, table_sizes: Mapping[str, int], free: FreeMemory, processes: int = 1) -> int:
    """What the environment variable ISOGLOT_MICRO_BATCH says, or else what fits."""
    wanted = number_in(MICRO_BATCH_VARIABLE, of="windows")
    return wanted or fitting_micro_batch(run, table_sizes=table_sizes, free=free, processes=processes)


def fitting_micro_batch(
    run: PretrainingRun, *, table_sizes: Mapping[str, int], free: FreeMemory, processes: int = 1
) -> int:
    """All windows that could be read at once if they fit, or half of them, or a quarter, and so on."""

    def footprint(windows: int) -> Footprint:
        return Footprint.of(run, table_sizes=table_sizes, device=free.device, micro_batch=windows, processes=processes)

    # Each process has a GPU of its own, but they share the CPU's memory.
    usable = USABLE_SHARE * free.free_bytes / (processes if free.device == "cpu" else 1)
    # In halves, so that a little more or less free memory does not change what a resumed run reads at once.
    windows = footprint(run.batch).rows
    while footprint(windows).peak_bytes > usable:
        if windows == 1:
            raise TooLargeError(_too_large(footprint(1), usable=usable, free=free))
        windows = ceil(windows / 2)
    return windows


def _too_large(footprint: Footprint, *, usable: float, free: FreeMemory) -> str:
    needed, found = footprint.peak_bytes / GIGABYTE, free.free_bytes / GIGABYTE
    fewer = "give fewer --workers, " if memory_share() < 1 else ""
    return (
        f"a model of {footprint.parameters:,} parameters needs {needed:.2f} GB of the {free.device}'s memory to train "
        f"on one window of {footprint.run.window} tokens at a time, and of {found:.2f} GB that are free "
        f"{usable / GIGABYTE:.2f} can be counted on: {fewer}stop what else is running there, take another device, or "
        "lower window, merges, shape.width or shape.layers in the table [change] of the study"
    )
