"""The isoglot command: parse a name, call one function."""

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import isoglot
from isoglot.cli.data import data_app
from isoglot.cli.explain import explain
from isoglot.cli.export import export
from isoglot.cli.init import init
from isoglot.cli.options import (
    Folders,
    PlainCommand,
    PlainGroup,
    StudyArgument,
    StudyOptions,
    grouped_options,
    plain_console,
)
from isoglot.cli.pack import pack, unpack
from isoglot.cli.probe import probe
from isoglot.cli.report import report
from isoglot.cli.run import run
from isoglot.cli.standard_streams import watch_readers
from isoglot.cli.verify import verify
from isoglot.errors import IsoglotError, command_in_work

if TYPE_CHECKING:
    from isoglot.pipeline.measurements import Measurement
    from isoglot.study.study import Study

Form = Literal["json", "csv", "tables"]

# Commands import what they need when they are called: `isoglot --help` must answer at once.

app = typer.Typer(
    name="isoglot",
    cls=PlainGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="How does cross-lingual structure emerge in pretrained language models, and what does it need?\n\n"
    "Start with [bold]isoglot run demo[/bold]: fifteen small models on made-up languages, in minutes on a laptop.",
)
app.add_typer(data_app, name="data")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"isoglot {isoglot.__version__}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


@grouped_options
def plan(
    options: StudyOptions,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Train each size of model for some seconds, to say how long it takes here."),
    ] = False,
) -> None:
    """Show what a study needs, what is already there, and what the rest will cost. Makes nothing."""
    from isoglot.pipeline.exhibits import targets
    from isoglot.report.planning import plan_costs
    from isoglot.store import plan as plan_of

    console = plain_console()
    chosen, store = options.chosen_study(), options.open_store()
    planned = plan_of(targets(chosen), store)
    # First, since it refuses what the environment cannot mean.
    costs, need = plan_costs.costs_here(planned, store)
    if calibrate:
        costs = plan_costs.timed(costs, speed=plan_costs.speed_here, say=console.print)
        planned = plan_costs.with_measured_times(planned, costs)
    for part in plan_costs.plan_parts(planned, store):
        console.print(part)
    for line in (*plan_costs.costs_in_full(costs, need), *plan_costs.outlook(chosen, planned)):
        console.print(line)


@grouped_options
def results(
    options: StudyOptions,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line, for each measurement.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print lines with commas between fields, one for each measurement.")
    ] = False,
) -> None:
    """Print what a study has found so far, or a report that was written."""
    from isoglot.pipeline.exhibits import cells, gap_sentences
    from isoglot.pipeline.measurements import damage_sentences, measurements
    from isoglot.report.report_files import read_report_data

    if as_json and as_csv:
        raise IsoglotError("--json and --csv print the same in two ways; give one of them")
    form: Form = "json" if as_json else "csv" if as_csv else "tables"
    if (folder := options.report_folder()) is not None:
        written = read_report_data(folder)
        _print_results(written.measurements, written.study, form=form)
        return
    chosen = options.chosen_study()
    found, damage = measurements(chosen, options.open_store())
    _print_results(found, chosen, form=form)
    if damage:
        raise IsoglotError("; ".join(damage_sentences(damage)))
    for sentence in gap_sentences(chosen):
        print(sentence, file=sys.stderr)
    # By digest: two conditions may start from one and the same untrained model.
    wanted = {cell.stage.digest for cell in cells(chosen)}
    if not wanted:
        raise IsoglotError(f"{options.study}: nothing of it can be shown without the data it lacks; is --data right?")
    if lacking := len(wanted - {each.stage for each in found}):
        what = f"{lacking} of {len(wanted)} results are not in {options.store_folder} yet"
        missing = f"{what}; make them with: {options.run_command}"
        if not found:
            raise IsoglotError(missing)
        print(missing, file=sys.stderr)


def _print_results(found: "Sequence[Measurement]", study: "Study", *, form: Form) -> None:
    from isoglot.pipeline.measurements import write_csv
    from isoglot.report.report_scores import ReportScores
    from isoglot.report.tables.terminal import results as results_tables

    if form == "json":
        for each in found:
            print(each.json_line())
    elif form == "csv":
        write_csv(found, to=sys.stdout)
    elif found:
        plain_console().print(results_tables(ReportScores(found), scale=study.scale, conditions=study.conditions))


@grouped_options
def breakdown(
    study: StudyArgument,
    folders: Folders,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task of the study, as in ner.")],
    condition: Annotated[str, typer.Option("--condition", help="Condition of the model.", metavar="NAME")] = "default",
    language: Annotated[
        str | None, typer.Option("--language", help="Language of the tests, if not the first target.", metavar="CODE")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the model, if not the study's first.", metavar="N")
    ] = None,
) -> None:
    """Show a cell of Table 1 label by label: by relation, type of entity, tag, or as a table of confusions."""
    from isoglot.report.tables.breakdown import cell_breakdown

    chosen, store, words = folders.read_study(study), folders.open_store(), folders.words(study)
    for part in cell_breakdown(
        chosen, task, condition=condition, language=language, seed=seed, store=store, study_words=words
    ):
        plain_console().print(part)


def list_() -> None:
    """Name all that a study can ask for: built-in studies, conditions, exhibits, tasks, scales and languages."""
    from isoglot.report.tables.terminal import listing

    console = plain_console()
    for part in listing():
        console.print(part)


# In the order of `isoglot --help`.
for command in (run, init, plan, results, report, explain, breakdown, probe, export, pack, unpack, verify):
    app.command(cls=PlainCommand)(command)
app.command(name="list", cls=PlainCommand)(list_)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command with these words; an error that the user can fix is shown without a traceback."""
    warnings.showwarning = _show_warning
    watch_readers()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with command_in_work():
            app(words, obj=words)
    except IsoglotError as error:
        print(f"isoglot: {error}", file=sys.stderr)
        sys.exit(1)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    # Print a warning in one line, without the place in the code that Python would name.
    print(f"isoglot: {message}", file=sys.stderr)
