"""The `isoglot report` command: what a store has of a study as a page, and what differs from another report."""

from __future__ import annotations

import json
import shlex
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from isoglot.artifacts import Store
    from isoglot.report.report_files import ReportContent

# As in cli.py: commands import what they need when they are called.


def report(
    study: StudyArgument,
    store: StoreOption = DEFAULT_STORE,
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
    open_it: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
) -> None:
    """Write a study's report from what is made of it: a page to look at, and its numbers, tables and figures beside.

    Makes nothing else: what is not there yet stands on the page as pending.
    """
    from isoglot.artifacts import State
    from isoglot.artifacts import plan as plan_of
    from isoglot.exhibits import gap_sentences, targets
    from isoglot.report.current import write_current_report
    from isoglot.report.difference import difference, difference_sentences
    from isoglot.report.page import Other
    from isoglot.report.report_files import read_report

    console = plain_console()
    asked = asked_study(study, data=data, seeds=seeds, conditions=conditions, exhibits=exhibits, tasks=tasks)
    shelf = asked_store(store)
    wanted = targets(asked)
    if not wanted:
        raise IsoglotError(f"{study}: nothing of it can be shown without the data it lacks; is --data right?")
    if all(each.state is State.TO_DO for each in plan_of(wanted, shelf)):
        raise IsoglotError(f"nothing of {study} is in {store} yet; make it with: {_making()}")
    # First, as a mistake in it should leave the report as it is.
    other = None if against is None else _report_named(against, store=shelf, data=data)
    compared = None if other is None or against is None else Other(name=against, content=other)
    written = write_current_report(asked, shelf, against=compared)
    if other is not None:
        console.print(f"From {against} to {study}:")
        for line in difference_sentences(difference(other, read_report(written.page.parent))):
            console.print(line)
    for sentence in gap_sentences(asked):
        console.print(sentence)
    if written.pending:
        console.print(f"{len(written.pending)} cells are pending; make them with: {_making()}")
    console.print(f"Report: {written.page}")
    if open_it:
        webbrowser.open(written.page.as_uri())
    if written.damage:
        raise IsoglotError("; ".join(dict.fromkeys(str(error) for error in written.damage)))


def _report_named(name: str, *, store: Store, data: str | None) -> ReportContent:
    """A report that was written, by its folder or a file in it, or else that of a study as the store has it now."""
    from isoglot.measurements import measurements
    from isoglot.report.provenance import provenance
    from isoglot.report.report_files import MEASUREMENTS, ReportContent, read_report
    from isoglot.study import builtin_study_names

    path = Path(name)
    for folder in (path, path.parent):
        if path.suffix != ".toml" and path.exists() and (folder / MEASUREMENTS).is_file():
            return read_report(folder)
    if path.is_dir() and name not in builtin_study_names():
        return read_report(path)  # says what is wanting there
    study = asked_study(name, data=data)
    found, _ = measurements(study, store)
    if not found:
        raise IsoglotError(
            f"--against {name}: nothing of it is in {store.root} yet; make it, or give the folder of a report"
        )
    return ReportContent(measurements=found, provenance=json.loads(provenance(study, store).json_text()))


def _making() -> str:
    """The command that makes what the words of this one ask for."""
    words = iter(sys.argv[2:])
    kept = []
    for word in words:
        if word == "--against":
            next(words, None)
        elif word != "--open" and not word.startswith("--against="):
            kept.append(word)
    return shlex.join(["isoglot", "run", *kept])
