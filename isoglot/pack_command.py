"""The `isoglot pack` and `isoglot unpack` commands: a study's results carried to another machine, without weights."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from isoglot.arguments import asked_store, asked_study
from isoglot.errors import IsoglotError
from isoglot.options import (
    DEFAULT_STORE,
    ConditionsOption,
    DataOption,
    ExhibitsOption,
    SeedsOption,
    StoreOption,
    StudyArgument,
    TasksOption,
)
from isoglot.terminal import plain_console

# As in cli.py: commands import what they need when they are called.

DEFAULT_SIZE = "1MB"
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
MOST_TITLES = 3


def pack(
    study: StudyArgument,
    to: Annotated[
        str, typer.Option("--to", help="Archive to write, as in demo.tar.xz; an older one is replaced.", metavar="FILE")
    ],
    store: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
    exhibits: ExhibitsOption = None,
    tasks: TasksOption = None,
    data: DataOption = None,
    largest_file: Annotated[
        str,
        typer.Option(
            "--largest-file",
            help="Leave out files above this size, as in 200KB or 1GB: weights and token streams, mostly. What reports "
            "read is packed whatever its size.",
            metavar="SIZE",
        ),
    ] = DEFAULT_SIZE,
) -> None:
    """Put what is made of a study into one file to carry elsewhere, without weights and other large files.

    Of an artifact that has large files a summary travels, which is enough for reports; all others travel whole.
    [bold]isoglot unpack[/bold] puts them into another store. The same artifacts give the same bytes.
    """
    from isoglot.artifacts import inputs_first
    from isoglot.artifacts.packing import write_pack
    from isoglot.exhibits import targets
    from isoglot.report.quantities import size_in_bytes

    limit = _num_bytes(largest_file)
    path = _checked_path(to)
    asked = asked_study(study, data=data, seeds=seeds, conditions=conditions, exhibits=exhibits, tasks=tasks)
    shelf = asked_store(store)
    stages = inputs_first(targets(asked))
    num_there = sum(shelf.told_folder(stage) is not None for stage in stages.values())
    if not num_there:
        raise IsoglotError(f"nothing of {study} is in {store} yet; is --store right?")
    console = plain_console()
    console.print(f"Packing {num_there:,} artifacts of {asked.name} ...")
    packed = write_pack(path, stages.values(), shelf, largest_file=limit, always=_read_by_reports())
    summaries = f", {packed.summaries:,} as a summary (their files above {largest_file} stay here)"
    console.print(f"{packed.whole:,} artifacts whole{summaries if packed.summaries else ''}.")
    if num_there < len(stages):
        console.print(f"{len(stages) - num_there:,} of {len(stages):,} artifacts of the study are not in {store}.")
    console.print(f"Wrote {to}: {size_in_bytes(packed.num_bytes)}. Put it into another store with:")
    console.print(f"  isoglot unpack {shlex.quote(path.name)} --store STORE")


def unpack(
    archives: Annotated[list[str], typer.Argument(metavar="FILE", help="Archives that isoglot pack wrote.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Put what isoglot pack wrote into a store, new or not; what is there already stays as it is.

    An archive that is damaged is refused whole. What came as a summary is told of by reports as if it were here, and
    made again only if something else is to be made from it.
    """
    from isoglot.artifacts.unpacking import unpack as unpack_into

    shelf = asked_store(store)
    console = plain_console()

    def tell_of_wait(holder: str) -> None:
        console.print(f"Waiting for another isoglot unpack into {store} ({holder}) ...")

    for archive in archives:
        done = unpack_into(Path(archive), shelf, waiting=tell_of_wait)
        summaries = f", {done.summaries:,} as a summary" if done.summaries else ""
        there = f"; {done.present:,} of them were in {store} already" if done.present else ""
        console.print(f"{archive}: {done.whole:,} artifacts whole{summaries}{there}.")
        if done.made_twice:
            titles = "; ".join(done.made_twice[:MOST_TITLES])
            more = len(done.made_twice) - MOST_TITLES
            print(
                f"isoglot: {archive}: of {len(done.made_twice):,} artifacts {store} has others, made another time, and "
                f"keeps them: {titles}{f'; and {more:,} more' if more > 0 else ''}",
                file=sys.stderr,
            )


def _read_by_reports() -> tuple[str, ...]:
    from isoglot.corpora.streams import DESCRIPTION
    from isoglot.pretraining.run import HEALTH, LOG
    from isoglot.stages.scores import SCORES

    return (SCORES, LOG, DESCRIPTION, HEALTH)


def _num_bytes(size: str) -> int:
    """ "200KB" is 200000."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", size.upper())
    unit = found[2] if found else None
    if found is None or unit is None or (unit and not unit.endswith("B")):
        raise IsoglotError(f"--largest-file takes a size, as in 200KB, 1MB or 2.5GB; not {size!r}")
    return int(float(found[1]) * UNITS[unit])


def _checked_path(to: str) -> Path:
    path = Path(to)
    if not to.strip():
        raise IsoglotError("--to names no file; is a variable of your shell not set?")
    if path.is_dir():
        raise IsoglotError(f"--to {to}: that is a folder; name a file in it, as in {path / 'demo.tar.xz'}")
    if not path.parent.is_dir():
        raise IsoglotError(f"--to {to}: there is no folder {path.parent}; make it first")
    return path
