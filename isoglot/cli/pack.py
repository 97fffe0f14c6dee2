"""The `isoglot pack` and `isoglot unpack` commands: a study's results carried from machine to machine."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.cli.options import DEFAULT_STORE, Folders, StoreOption, StudyOptions, grouped_options, plain_console
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.store.unpacking import Unpacked

DEFAULT_SIZE = "1MB"
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
MOST_TITLES = 3


@grouped_options
def pack(
    options: StudyOptions,
    to: Annotated[
        str, typer.Option("--to", help="Archive to write, as in demo.tar.xz; an older one is replaced.", metavar="FILE")
    ],
    largest_file: Annotated[
        str,
        typer.Option(
            "--largest-file",
            help="Leave out files above this size, as in 200KB or 1GB: mostly weights of larger models and token "
            "streams. What reports read is packed whatever its size.",
            metavar="SIZE",
        ),
    ] = DEFAULT_SIZE,
) -> None:
    """Put what is made of a study into one file to carry elsewhere, without large files.

    Those are files above 1 MB, as the weights of larger models, unless --largest-file says otherwise. Of an artifact
    that has such files a summary travels, which is enough for reports; all others travel whole. [bold]isoglot
    unpack[/bold] puts them into another store. The same artifacts give the same bytes.
    """
    from isoglot.pipeline.exhibits import gap_sentences, left_out_sentences, targets
    from isoglot.pipeline.measurements import READ_BY_REPORTS
    from isoglot.report.quantities import size_in_bytes
    from isoglot.store import inputs_first
    from isoglot.store.packing import archive_path, write_pack

    limit = _num_bytes(largest_file)
    path = archive_path(to, option="--to")
    chosen, store = options.chosen_study(), options.open_store()
    wanted = targets(chosen)
    if not wanted:
        raise IsoglotError(f"{options.study}: nothing of it can be packed without the data it lacks; is --data right?")
    stages = inputs_first(wanted)
    num_there = sum(store.find_folder(stage) is not None for stage in stages.values())
    if not num_there:
        raise IsoglotError(f"nothing of {options.study} is in {options.store_folder} yet; is --store right?")
    console = plain_console()
    console.print(f"Packing {_counted(num_there)} of {chosen.name} ...")
    packed = write_pack(path, stages.values(), store, largest_file=limit, always=READ_BY_REPORTS)
    size = f"{limit:,} bytes" if largest_file.strip()[-1].isdigit() else largest_file
    summaries = f", {packed.summaries:,} as a summary (files above {size} stay here, but for what reports read)"
    console.print(f"{_counted(packed.whole)} whole{summaries if packed.summaries else ''}.")
    if num_lacking := len(stages) - num_there:
        verb = "is" if num_lacking == 1 else "are"
        console.print(f"{num_lacking:,} of {_counted(len(stages))} of the study {verb} not in {options.store_folder}.")
    for sentence in (*left_out_sentences(chosen), *gap_sentences(chosen)):
        console.print(sentence)
    console.print(f"Wrote {to}: {size_in_bytes(packed.num_bytes)}. Put it into another store with:")
    console.print(f"  isoglot unpack {shlex.quote(path.name)} --store STORE")


def unpack(
    archives: Annotated[list[str], typer.Argument(metavar="FILE", help="Archives that isoglot pack wrote.")],
    store_folder: StoreOption = DEFAULT_STORE,
) -> None:
    """Put what isoglot pack wrote into a store, new or not; what is there already stays as it is.

    An archive that is damaged is refused whole. A summary is enough for reports, and its artifact is
    made again only if something else is to be made from it.
    """
    from isoglot.store.unpacking import unpack as unpack_into

    store = Folders(store_folder=store_folder).open_store()
    console = plain_console()

    def show_wait(holder: str) -> None:
        console.print(f"Waiting for another isoglot unpack into {store_folder} ({holder}) ...")

    for archive in archives:
        done = unpack_into(Path(archive), store, waiting=show_wait)
        summaries = f", {done.summaries:,} as a summary" if done.summaries else ""
        verb = "was" if done.present == 1 else "were"
        there = f"; {done.present:,} of them {verb} in {store_folder} already" if done.present else ""
        console.print(f"{archive}: {_counted(done.whole)} whole{summaries}{there}.")
        if done.made_twice:
            print(f"isoglot: {archive}: {_made_twice(done, store_folder=store_folder)}", file=sys.stderr)


def _made_twice(done: "Unpacked", *, store_folder: str) -> str:
    # Artifacts that differ between archive and store, and how many results rest on them.
    number, more = len(done.made_twice), len(done.made_twice) - MOST_TITLES
    differ, stay = ("differs from the one", "stays") if number == 1 else ("differ from those", "stay")
    text = f"{_counted(number)} {differ} in {store_folder}, which {stay}: {'; '.join(done.made_twice[:MOST_TITLES])}"
    text += f"; and {more:,} more" if more > 0 else ""
    if done.on_made_twice:
        came = f"{_counted(done.on_made_twice)} that came rest{'s' if done.on_made_twice == 1 else ''}"
        text += f". {came} on the archive's own: results of different makings now stand side by side"
    return text


def _counted(count: int) -> str:
    return f"{count:,} artifact{'' if count == 1 else 's'}"


def _num_bytes(size: str) -> int:
    # "200KB" is 200000.
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B|)\s*", size.upper())
    if parts is None:
        raise IsoglotError(f"--largest-file takes a size, as in 200KB, 1MB or 2.5GB; not {size!r}")
    return int(float(parts[1]) * UNITS[parts[2]])
