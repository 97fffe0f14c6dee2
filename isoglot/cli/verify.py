"""The `isoglot verify` command: every byte of a store compared with its records, and the repair of what is damaged."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.cli.options import Folders, grouped_options, plain_console
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from isoglot.store import Stage, Store
    from isoglot.store.verifying import Fault


@grouped_options
def verify(
    folders: Folders,
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Check what this study rests on; without it, the whole store."),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Remove what is damaged, and make it again where a study is given.")
    ] = False,
) -> None:
    """Compare every byte of a store with its records, and name what is damaged or cannot be read.

    Other commands check what they read; this reads all. Exits with 1 unless everything is sound.
    """
    from isoglot.pipeline.exhibits import gap_sentences, gaps, targets
    from isoglot.store import inputs_first
    from isoglot.store.verifying import artifact_folders, remove

    console, store = plain_console(), folders.open_store()
    stages: dict[str, Stage] = {}
    places = artifact_folders(store)
    lacks: list[str] = []
    cannot_tell = False
    if study is not None:
        chosen = folders.read_study(study)
        stages = {each.folder_name: each for each in inputs_first(targets(chosen)).values()}
        lacks, cannot_tell = gap_sentences(chosen), any(each.is_named for each in gaps(chosen))
        places = [folder for folder in places if folder.name in stages]
    for sentence in lacks:
        console.print(sentence)
    if not places:
        whose = "no artifact" if study is None else f"nothing of {study}"
        raise IsoglotError(f"{whose} is in {folders.store_folder}; is {'--data' if lacks else '--store'} right?")
    faults = _read(places, console)
    for fault in faults:
        title = fault.folder.name if fault.record is None else f"{fault.folder.name} ({fault.record.title})"
        console.print(f"{'damaged' if fault.is_damage else 'not readable'}: {title}")
        for error in fault.errors:
            console.print(f"  {error}")
    damaged, unreadable = ([each for each in faults if each.is_damage is wanted] for wanted in (True, False))
    if repair:
        for fault in damaged:
            remove(store, fault)
            console.print(f"removed: {fault.strays[0] if fault.strays else fault.folder}")
        gone = [fault for fault in damaged if not fault.strays]
        damaged = _remake(gone, stages, store, console)
        if damaged and study is None:
            console.print("To make them again, run their study, or unpack the summaries among them again.")
    if damaged or unreadable:
        what = [f"{len(damaged)} are {'gone' if repair else 'damaged'}"] if damaged else []
        what += [f"{len(unreadable)} could not be read"] if unreadable else []
        fix = "" if repair or not damaged else "; repair them with --repair, best with the study they belong to"
        raise IsoglotError(f"of {len(places):,} artifacts in {folders.store_folder}, {' and '.join(what)}{fix}")
    sound = f"{len(places):,} artifacts in {folders.store_folder} are as their records say"
    if cannot_tell:
        problem = f"{sound}, but those of the parts above cannot be told without their data"
        raise IsoglotError(f"{problem}; is --data right? Without {study} the whole store is verified")
    console.print(f"All {sound}.")


def _read(places: "Sequence[Path]", console: "Console") -> "list[Fault]":
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from isoglot.machine import num_workers
    from isoglot.store.verifying import faults_in

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("", total=None)
        return faults_in(
            places, workers=num_workers(), progress=lambda done, total: bars.update(bar, completed=done, total=total)
        )


def _remake(gone: "Sequence[Fault]", stages: "dict[str, Stage]", store: "Store", console: "Console") -> "list[Fault]":
    """Make removed artifacts again; returns those that could not be made."""
    from isoglot.report.planning.progress import Watch
    from isoglot.store import run_plan

    known = [fault for fault in gone if fault.folder.parent == store.root and fault.folder.name in stages]
    # In their own right: a run of the study would make only those that some other stage still lacks.
    with Watch(console) as watch:
        outcome = run_plan([stages[fault.folder.name] for fault in known], store, watch)
    made = {stage.folder_name: store.record(stage) for stage in outcome.made}
    for fault in known:
        record = made.get(fault.folder.name)
        if record is not None and fault.record is not None and record.files != fault.record.files:
            console.print(
                f"{record.title} was made again and differs from the one before: results measured on that one stay as "
                "they are, and others will be of another making"
            )
    return [fault for fault in gone if fault.folder.name not in made]
