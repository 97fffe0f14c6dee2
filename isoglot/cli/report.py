"""The `isoglot report` command: what a store has of a study as a page, or a report made again from its own files."""

import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.cli.options import Folders, StudyOptions, grouped_options, named_folder, named_report, plain_console
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.report.writing import Other


@grouped_options
def report(
    options: StudyOptions,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="B",
            help="Another study in the same store, or the folder of any report, to say what differs from it.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FOLDER",
            help="Folder to write a whole report to, without links into the store, as for publishing it.",
        ),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Write a study's report from what is made of it: a page to look at, and its numbers, tables and figures beside.

    Makes nothing else: what is not there yet stands on the page as pending. Of the folder of a report it writes the
    same page, tables and figures again, from the files beside them alone.
    """
    from isoglot.pipeline.exhibits import gap_sentences, targets
    from isoglot.report.difference import difference_sentences
    from isoglot.report.growth.predictions import prediction_sentences
    from isoglot.report.writing import rewrite_report, write_current_report
    from isoglot.store import State
    from isoglot.store import plan as plan_of

    copy = None if to is None else named_folder("--to", to)
    study, folder, console = options.study, options.report_folder(), plain_console()
    remarks: list[str] = []
    damage: Sequence[str] = ()
    other = None
    if folder is not None:
        other = _other(against, folders=options)
        written = rewrite_report(folder, to=copy, against=other)
        page = written.page
    else:
        store, chosen = options.open_store(), options.chosen_study()
        wanted = targets(chosen)
        if not wanted:
            raise IsoglotError(f"{study}: nothing of it can be shown without the data it lacks; is --data right?")
        making = f"make it with: {options.run_command}"
        if all(each.state is State.TO_DO for each in plan_of(wanted, store)):
            raise IsoglotError(f"nothing of {study} is in {options.store_folder} yet; {making}")
        # First, as a mistake in it should leave the report as it is.
        other = _other(against, folders=options)
        written = current = write_current_report(chosen, store, against=other)
        page, damage = current.page, current.damage
        if copy is not None:
            page = rewrite_report(page.parent, to=copy, against=other).page
        pending = f"{len(current.pending)} cells are pending; make them with: {options.run_command}"
        remarks = [*gap_sentences(chosen), *([pending] if current.pending else [])]
    if other is not None:
        predicted, differing = prediction_sentences(written.predicted), difference_sentences(written.changed)
        lacks = [other.lacks] if other.lacks else []
        remarks = [f"From {against} to {study}:", *predicted, *differing, *lacks, *remarks]
    for line in (*remarks, f"Report: {page}"):
        console.print(line)
    if open_it:
        webbrowser.open(page.absolute().as_uri())
    if damage:
        raise IsoglotError("; ".join(damage))


def _other(name: str | None, *, folders: Folders) -> "Other | None":
    # The report to compare with, if one is named: a written one, or a study as the store has it now.
    from isoglot.pipeline.exhibits import cells
    from isoglot.pipeline.measurements import measurements, pending_cells
    from isoglot.report.provenance import provenance
    from isoglot.report.report_files import ReportContent, read_report
    from isoglot.report.writing import Other

    if name is None:
        return None
    if (folder := named_report(name)) is not None:
        return Other(name=name, content=read_report(folder))
    try:
        study, store = folders.read_study(name), folders.open_store()
    except IsoglotError as error:
        fix = "" if Path(name).exists() else "; or give the folder of a report"
        raise IsoglotError(f"--against {error}{fix}") from error
    found, _ = measurements(study, store)
    if not found:
        raise IsoglotError(
            f"--against {name}: nothing of it is in {store.root} yet; make it, or give the folder of a report"
        )
    settings = json.loads(provenance(study, store).json_text())
    lacking = len(pending_cells(study, store))
    lacks = f"{name}: {lacking} of its {len(cells(study))} cells are not in {store.root} yet" if lacking else ""
    return Other(name=name, content=ReportContent(measurements=found, provenance=settings), lacks=lacks)
