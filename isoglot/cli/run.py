"""The `isoglot run` command: make what a study lacks, and its report while that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

import typer

from isoglot.cli.engines import (
    AccountOption,
    MaxJobsOption,
    PartitionOption,
    SbatchOptions,
    SlurmOption,
    chosen_engine,
)
from isoglot.cli.options import (
    DEFAULT_STORE,
    INTERRUPTED,
    ConditionsOption,
    DataOption,
    ExhibitsOption,
    SeedsOption,
    StoreOption,
    StudyArgument,
    TasksOption,
    WorkersOption,
    chosen_study,
    command,
    opened_store,
    plain_console,
    same_command,
)
from isoglot.cli.standard_streams import outlive_readers
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.store import Outcome, Stage


def run(
    context: typer.Context,
    study: StudyArgument,
    store_folder: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
    exhibits: ExhibitsOption = None,
    tasks: TasksOption = None,
    data: DataOption = None,
    workers: WorkersOption = None,
    slurm: SlurmOption = False,
    partition: PartitionOption = None,
    account: AccountOption = None,
    max_jobs: MaxJobsOption = None,
    slurm_option: SbatchOptions = None,
) -> None:
    """Make what a study still lacks, then show its results. Stop it when you like: the next run goes on from there.

    The report is there from the beginning, and shows what is found so far and what is pending.
    """
    from isoglot.pipeline.exhibits import gap_sentences, targets
    from isoglot.pipeline.measurements import measurements
    from isoglot.pretraining.health import check_tensorboard
    from isoglot.report.live_report import LiveReport, write_current_report
    from isoglot.report.plan_costs import costs_in_brief, outlook
    from isoglot.report.progress import Watch, failures_in_brief
    from isoglot.report.quantities import time_spent
    from isoglot.report.report_scores import ReportScores
    from isoglot.report.tables import results as results_tables
    from isoglot.store import Observers, run_plan
    from isoglot.store import plan as plan_of

    console = plain_console()
    progress = command("plan", study, store=store_folder)
    outlive_readers(f"isoglot: its output is read no more (a closed pipe); the run goes on, see: {progress}")
    chosen = chosen_study(study, data=data, seeds=seeds, conditions=conditions, exhibits=exhibits, tasks=tasks)
    store = opened_store(store_folder)
    check_tensorboard()
    wanted = targets(chosen)
    planned = plan_of(wanted, store)
    for line in outlook(chosen, planned):
        console.print(line)
    if not wanted:
        raise IsoglotError(f"{study}: nothing of it can be made without the data it lacks; is --data right?")
    for line in costs_in_brief(planned, store):
        console.print(line)
    engine = chosen_engine(
        store,
        planned,
        workers=workers,
        slurm=slurm,
        partition=partition,
        account=account,
        max_jobs=max_jobs,
        options=slurm_option or [],
        say=console.print,
    )
    begun = monotonic()
    try:
        with Watch(console) as watch:
            outcome = run_plan(wanted, store, Observers(watch, LiveReport(chosen, store)), engine=engine)
    except KeyboardInterrupt:
        with suppress(IsoglotError):
            console.print(f"Report so far: {write_current_report(chosen, store).page}")
        console.print(f"Stopped; all that was made is kept. Go on with: {same_command(context)}")
        raise typer.Exit(INTERRUPTED) from None
    seconds = monotonic() - begun
    found, _ = measurements(chosen, store)
    if found:
        console.print(results_tables(ReportScores(found), scale=chosen.scale, conditions=chosen.conditions))
    failures = _failures(wanted, outcome)
    troubles = [failures_in_brief(failures, num_skipped=len(outcome.skipped))] if failures else []
    last_lines = gap_sentences(chosen)
    try:
        page = write_current_report(chosen, store, failures=[": ".join(failure) for failure in failures]).page
        last_lines = [*last_lines, f"Report: {page}"]
    except IsoglotError as error:
        # On a full disk, say; the failures that led to it are still reported.
        troubles.append(f"the report could not be written: {error}")
    if outcome.made:
        spent = time_spent(seconds, work=sum(store.record(stage).seconds for stage in outcome.made))
        console.print(f"Made {len(outcome.made)} artifacts in {spent}, reused {len(outcome.reused)}.")
    elif not outcome.failed:
        console.print(f"Nothing to do: all {len(outcome.reused)} artifacts are in {store_folder}.")
    for line in last_lines:
        console.print(line)
    if troubles:
        raise IsoglotError("\n".join(troubles))


def _failures(wanted: Sequence[Stage], outcome: Outcome) -> list[tuple[str, str]]:
    """Title and cause of each."""
    from isoglot.store import inputs_first

    return [
        (stage.title, str(outcome.failed[stage.digest]))
        for stage in inputs_first(wanted).values()
        if stage.digest in outcome.failed
    ]
