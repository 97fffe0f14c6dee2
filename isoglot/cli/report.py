"""The `isoglot report` command: what a store has of a study as a page, or a report made again from its own files."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.cli.options import (
    DEFAULT_STORE,
    ConditionsOption,
    DataOption,
    ExhibitsOption,
    SeedsOption,
    StoreOption,
    StudyOrReportArgument,
    TasksOption,
    chosen_study,
    command,
    named_folder,
    named_report,
    opened_store,
    plain_console,
)
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.report.difference import Changed
    from isoglot.report.report_files import ReportContent
    from isoglot.report.writing import Other


def report(
    study: StudyOrReportArgument,
    store_folder: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
    exhibits: ExhibitsOption = None,
    tasks: TasksOption = None,
    data: DataOption = None,
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
            "--to", metavar="FOLDER", help="Write it there, whole and without links into the store: to publish it."
        ),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Write a study's report from what is made of it: a page to look at, and its numbers, tables and figures beside.

    Makes nothing else: what is not there yet stands on the page as pending. Of the folder of a report it writes the
    same page, tables and figures again, from the files beside them alone.
    """
    from isoglot.pipeline.exhibits import gap_sentences, targets
    from isoglot.report.live_report import write_current_report
    from isoglot.report.writing import rewrite_report
    from isoglot.store import State
    from isoglot.store import plan as plan_of

    copy = None if to is None else named_folder("--to", to)
    choices = {"seeds": seeds, "conditions": conditions, "exhibits": exhibits, "tasks": tasks}
    if (folder := named_report(study, **choices)) is not None:
        written = rewrite_report(folder, to=copy, against=_other(against, store_folder=store_folder, data=data))
        _print_outcome(written.page, written.changed, study=study, against=against, open_it=open_it)
        return
    store = opened_store(store_folder)
    chosen = chosen_study(study, data=data, **choices)
    making = command("run", study, store=store_folder, data=data, **choices)
    wanted = targets(chosen)
    if not wanted:
        raise IsoglotError(f"{study}: nothing of it can be shown without the data it lacks; is --data right?")
    if all(each.state is State.TO_DO for each in plan_of(wanted, store)):
        raise IsoglotError(f"nothing of {study} is in {store_folder} yet; make it with: {making}")
    # First, as a mistake in it should leave the report as it is.
    other = _other(against, store_folder=store_folder, data=data)
    current = write_current_report(chosen, store, against=other)
    page = current.page if copy is None else rewrite_report(current.page.parent, to=copy, against=other).page
    pending = f"{len(current.pending)} cells are pending; make them with: {making}"
    remarks = [*gap_sentences(chosen), *([pending] if current.pending else [])]
    _print_outcome(page, current.changed, study=study, against=against, remarks=remarks, open_it=open_it)
    if current.damage:
        raise IsoglotError("; ".join(dict.fromkeys(str(error) for error in current.damage)))


def _print_outcome(
    page: Path,
    changed: Sequence[Changed],
    *,
    study: str,
    against: str | None,
    remarks: Sequence[str] = (),
    open_it: bool,
) -> None:
    from isoglot.report.difference import difference_sentences

    console = plain_console()
    if against is not None:
        console.print(f"From {against} to {study}:")
        for line in difference_sentences(changed):
            console.print(line)
    for sentence in remarks:
        console.print(sentence)
    console.print(f"Report: {page}")
    if open_it:
        webbrowser.open(page.absolute().as_uri())


def _other(name: str | None, *, store_folder: str, data: str | None) -> Other | None:
    """The report that --against names, if it is given."""
    from isoglot.report.writing import Other

    return None if name is None else Other(name=name, content=_report_named(name, store_folder=store_folder, data=data))


def _report_named(name: str, *, store_folder: str, data: str | None) -> ReportContent:
    """A report that was written, or else that of a study as the store has it now."""
    from isoglot.pipeline.measurements import measurements
    from isoglot.report.provenance import provenance
    from isoglot.report.report_files import ReportContent, read_report

    if (folder := named_report(name)) is not None:
        return read_report(folder)
    study = chosen_study(name, data=data)
    store = opened_store(store_folder)
    found, _ = measurements(study, store)
    if not found:
        raise IsoglotError(
            f"--against {name}: nothing of it is in {store.root} yet; make it, or give the folder of a report"
        )
    return ReportContent(measurements=found, provenance=json.loads(provenance(study, store).json_text()))
