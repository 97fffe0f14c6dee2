"""The `isoglot run` command: make what a study lacks, and its report while that goes on."""

from contextlib import suppress
from time import monotonic
from typing import Annotated

import typer

from isoglot.cli.engines import EngineOptions
from isoglot.cli.options import INTERRUPTED, StudyOptions, grouped_options, plain_console, same_command
from isoglot.cli.standard_streams import outlive_readers
from isoglot.errors import IsoglotError


@grouped_options
def run(
    context: typer.Context,
    options: StudyOptions,
    engine: EngineOptions,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            min=0.0,
            help="Minutes to stay within: if all would take longer here, the study's last exhibits that need models of "
            "their own are left out.",
            metavar="MINUTES",
        ),
    ] = None,
) -> None:
    """Make what a study still lacks, then show its results. Stop it when you like: the next run goes on from there.

    The report is there from the beginning, and shows what is found so far and what is pending.
    """
    from isoglot.hardware import machine_in_brief
    from isoglot.pipeline.exhibits import gap_sentences, targets
    from isoglot.pipeline.measurements import damage_sentences, measurements
    from isoglot.pretraining.health import check_tensorboard
    from isoglot.report.planning.plan_costs import costs_in_brief, outlook
    from isoglot.report.planning.time_limit import cut_to
    from isoglot.report.quantities import time_spent
    from isoglot.report.report_scores import ReportScores
    from isoglot.report.results import make_study
    from isoglot.report.tables.terminal import results as results_tables
    from isoglot.report.writing import write_current_report
    from isoglot.store import plan as plan_of

    console = plain_console()
    plan_command = options.command("plan", options.study)
    outlive_readers(f"isoglot: its output is read no more (a closed pipe); the run goes on, see: {plan_command}")
    chosen, store = options.chosen_study(), options.open_store()
    check_tensorboard()
    if within is not None:
        add_them = f"add what is left out with: {options.run_command}"
        workers = engine.side_by_side()
        chosen = cut_to(chosen, store, seconds=60 * within, workers=workers, add_them=add_them, say=console.print)
    wanted = targets(chosen)
    planned = plan_of(wanted, store)
    for line in outlook(chosen, planned, is_timed=within is not None):
        console.print(line)
    if not wanted:
        raise IsoglotError(f"{options.study}: nothing of it can be made without the data it lacks; is --data right?")
    for line in costs_in_brief(planned, store):
        console.print(line)
    engine_of_run = engine.chosen(store, planned, say=console.print)
    begun = monotonic()
    try:
        made = make_study(chosen, store, engine=engine_of_run, console=console)
    except KeyboardInterrupt:
        with suppress(IsoglotError):
            console.print(f"Report so far: {write_current_report(chosen, store).page}")
        console.print(f"Stopped; all that was made is kept. Go on with: {same_command(context)}")
        raise typer.Exit(INTERRUPTED) from None
    seconds, outcome = monotonic() - begun, made.outcome
    found, damage = measurements(chosen, store)
    if found:
        console.print(results_tables(ReportScores(found), scale=chosen.scale, conditions=chosen.conditions))
    troubles = [made.trouble] if made.trouble is not None else []
    # A stage that failed for the damage has named it already.
    troubles += [text for text in damage_sentences(damage) if text not in (made.trouble or "")]
    last_lines = gap_sentences(chosen)
    try:
        report = write_current_report(chosen, store, failures=made.failures_in_full)
        last_lines = [*last_lines, *filter(None, [report.headline]), f"Report: {report.page}"]
    except IsoglotError as error:
        # On a full disk, say; the failures that led to it are still reported.
        troubles.append(f"the report could not be written: {error}")
    if outcome.made:
        spent = time_spent(seconds, work=sum(store.record(stage).seconds for stage in outcome.made))
        where = "" if engine.slurm else f" on {machine_in_brief()}"
        console.print(f"Made {len(outcome.made)} artifacts in {spent}{where}, reused {len(outcome.reused)}.")
    elif not troubles:
        console.print(f"Nothing to do: all {len(outcome.reused)} artifacts are in {options.store_folder}.")
    for line in last_lines:
        console.print(line)
    if troubles:
        raise IsoglotError("\n".join(troubles))
