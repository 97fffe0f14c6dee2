"""The isoglot command: parse a name, call one function."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoglot.artifacts import Stage, Store
    from isoglot.languages import SyntheticLanguage
    from isoglot.scales import Scale
    from isoglot.study import Study

# Commands import what they need when they are called: `isoglot --help` must answer at once.

INTERRUPTED = 130
WIDTH_OF_FILES = 240

app = typer.Typer(
    name="isoglot",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="How does cross-lingual structure emerge in pretrained language models, and what does it need?\n\n"
    "Start with [bold]isoglot run demo[/bold]: five bilingual models on made-up languages, in minutes on a laptop.",
)
StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A built-in study (see [bold]isoglot list[/bold]) or a .toml file.")
]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="ISOGLOT_STORE",
        help="Folder of artifacts: what is there is not made again.",
        metavar="DIR",
    ),
]
SeedsOption = Annotated[
    str | None, typer.Option("--seeds", help="Seeds in place of the study's own, as in 0,1,2.", metavar="LIST")
]
ConditionsOption = Annotated[
    str | None,
    typer.Option("--conditions", help="Conditions in place of the study's own, as in default,sep-emb.", metavar="LIST"),
]
DEFAULT_STORE = "store"


@app.command()
def run(
    study: StudyArgument,
    store: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
) -> None:
    """Make what a study still lacks, then show its results. Stop it when you like: the next run goes on from there."""
    from isoglot.artifacts import run_plan
    from isoglot.exhibits import cells
    from isoglot.measurements import measurements
    from isoglot.report.page import write_report
    from isoglot.report.progress import Watch
    from isoglot.report.quantities import duration
    from isoglot.report.tables import results as results_tables

    console = _console()
    asked = _study(study, seeds=seeds, conditions=conditions)
    shelf = _store(store)
    targets = [cell.stage for cell in cells(asked)]
    _print_plan_line(console, asked, targets=targets, shelf=shelf)
    try:
        with Watch(console) as watch:
            outcome = run_plan(targets, shelf, watch)
    except KeyboardInterrupt:
        again = shlex.join(["isoglot", *sys.argv[1:]])
        console.print(f"Stopped; all that was made is kept. Go on with: {again}")
        raise typer.Exit(INTERRUPTED) from None
    found, _ = measurements(asked, shelf)
    if found:
        console.print(results_tables(found, scale=asked.scale))
    page = write_report(asked, found, store=shelf)
    if outcome.made:
        seconds = sum(shelf.record(stage).seconds for stage in outcome.made)
        console.print(f"Made {len(outcome.made)} artifacts in {duration(seconds)}, reused {len(outcome.reused)}.")
    elif not outcome.failed:
        console.print(f"Nothing to do: all {len(outcome.reused)} artifacts are in {store}.")
    console.print(f"Report: {page}")
    if outcome.failed:
        reasons = "; ".join(dict.fromkeys(str(error) for error in outcome.failed.values()))
        raise IsoglotError(f"{len(outcome.failed)} failed, {len(outcome.skipped)} skipped for want of them: {reasons}")


@app.command()
def plan(
    study: StudyArgument,
    store: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
) -> None:
    """Show what a study needs, what is already there, and what the rest will cost. Makes nothing."""
    from isoglot.artifacts import State
    from isoglot.artifacts import plan as plan_of
    from isoglot.exhibits import cells
    from isoglot.report.quantities import duration, short_number

    console = _console()
    asked = _study(study, seeds=seeds, conditions=conditions)
    shelf = _store(store)
    targets = [cell.stage for cell in cells(asked)]
    table = Table("Stage", "State", "Size", "Estimate", box=None, header_style="bold")
    for each in plan_of(targets, shelf):
        size = "" if each.amount is None else f"{short_number(each.amount.units)} {each.amount.of}"
        guess = "? " if each.guessed else ""
        estimate = "unknown" if each.seconds_estimate is None else guess + duration(each.seconds_estimate)
        table.add_row(each.stage.title, each.state.value, size, "" if each.state is State.DONE else estimate)
    console.print(table)
    _print_plan_line(console, asked, targets=targets, shelf=shelf)


@app.command()
def results(
    study: StudyArgument,
    store: StoreOption = DEFAULT_STORE,
    seeds: SeedsOption = None,
    conditions: ConditionsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each measurement, one a line.")] = False,
) -> None:
    """Print what a study has found so far."""
    from isoglot.exhibits import cells
    from isoglot.measurements import measurements
    from isoglot.report.tables import results as results_tables

    asked = _study(study, seeds=seeds, conditions=conditions)
    found, damage = measurements(asked, _store(store))
    if as_json:
        for each in found:
            print(each.json_line())
    elif found:
        _console().print(results_tables(found, scale=asked.scale))
    if damage:
        raise IsoglotError("; ".join(str(error) for error in damage))
    # By digest: two conditions may start from one and the same untrained model.
    wanted = len({cell.stage.digest for cell in cells(asked)})
    scored = len({each.stage for each in found if each.layer is not None})
    if scored < wanted:
        again = shlex.join(["isoglot", "run", *(word for word in sys.argv[2:] if word != "--json")])
        lack = f"{wanted - scored} of {wanted} models have no results in {store} yet; make them with: {again}"
        if not found:
            raise IsoglotError(lack)
        print(lack, file=sys.stderr)


@app.command()
def explain(
    study: StudyArgument,
    a: Annotated[str, typer.Argument(metavar="A", help="A condition, condition:seed, or the name of an artifact.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What to compare it with.")] = "default",
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Say which settings make two models, or two artifacts of the store, differ."""
    from isoglot.artifacts import differences
    from isoglot.exhibits import known_artifacts, named_artifact

    asked = _study(study, seeds=None, conditions=None)
    shelf = _store(store)
    first, second = (named_artifact(name, study=asked, store=shelf) for name in (a, b))
    found = differences(first, second, known_artifacts(asked, shelf))
    console = _console()
    if not found:
        console.print(f"{a} and {b} are one and the same artifact: {first.kind}-{first.digest[:16]}")
        return
    table = Table("Setting", a, b, box=None, header_style="bold")
    for each in found:
        table.add_row(each.path, str(each.a), str(each.b))
    console.print(table)


@app.command(name="list")
def list_() -> None:
    """Name the built-in studies, the conditions of Table 1, the scales, and the languages of the built-in studies."""
    from isoglot.conditions import CONDITIONS
    from isoglot.scales import SCALES
    from isoglot.study import builtin_study_names, read_study

    console = _console()
    studies = [read_study(name) for name in builtin_study_names()]
    _print_rows(console, "Studies", {each.name: _study_line(each) for each in studies})
    _print_rows(
        console, "Conditions", {each.name: f"{each.label}, section {each.section}" for each in CONDITIONS.values()}
    )
    _print_rows(console, "Scales", {name: _scale_line(scale) for name, scale in SCALES.items()})
    made_up = {each.name: _language_line(each) for study in studies for each in study.synthetic.languages}
    _print_rows(console, "Languages", made_up)


def main() -> None:
    """Run the command; a mistake the user can mend is told in one line, without a traceback."""
    # A terminal without Greek letters must not lose a study's results.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except IsoglotError as error:
        print(f"isoglot: {error}", file=sys.stderr)
        sys.exit(1)


def _store(folder: str) -> "Store":
    from isoglot.artifacts import Store

    if not folder.strip():
        raise IsoglotError("--store names no folder; is a variable of your shell not set?")
    return Store(Path(folder))


def _console() -> Console:
    """Names of files are no markup; a file or a pipe has no right margin."""
    console = Console(markup=False, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console


def _study(name: str, *, seeds: str | None, conditions: str | None) -> "Study":
    from isoglot.study import read_study, with_conditions, with_seeds

    study = read_study(name)
    if seeds is not None:
        try:
            study = with_seeds(study, [int(seed) for seed in seeds.split(",")])
        except ValueError:
            raise IsoglotError(
                f"--seeds takes whole numbers with commas between them, as in 0,1,2; not {seeds!r}"
            ) from None
    return study if conditions is None else with_conditions(study, [name.strip() for name in conditions.split(",")])


def _print_plan_line(console: Console, study: "Study", *, targets: "Sequence[Stage]", shelf: "Store") -> None:
    from isoglot.artifacts import State
    from isoglot.artifacts import plan as plan_of
    from isoglot.report.quantities import duration, short_number

    planned = plan_of(targets, shelf)
    left = [each for each in planned if each.state is not State.DONE]
    estimates = [each.seconds_estimate for each in left]
    known = sum(estimate for estimate in estimates if estimate is not None)
    unknown = sum(estimate is None for estimate in estimates)
    tokens = sum(each.amount.units for each in left if each.amount is not None and each.amount.of == "tokens")
    line = f"{study.name}: {len(planned) - len(left)} artifacts done, {len(left)} to make"
    if left:
        line += f", {short_number(tokens)} tokens of training"
        line += f", about {duration(known)}" if known else ""
        line += ", guessed for two CPU cores" if any(each.guessed for each in left) else ""
        line += f", and {unknown} more of kinds never run in this store" if unknown else ""
    console.print(line)


def _study_line(study: "Study") -> str:
    return f"{'-'.join(study.languages)}, {len(study.conditions)} conditions, scale {study.scale.name}"


def _scale_line(scale: "Scale") -> str:
    from isoglot.report.quantities import short_number

    parameters = short_number(scale.shape.num_parameters(table_size=scale.merges))
    return (
        f"{scale.summary}: {scale.shape.layers} layers of {scale.shape.width}, {parameters} parameters with "
        f"{short_number(scale.merges)} subwords, {short_number(scale.tokens)} tokens a model"
    )


def _language_line(language: "SyntheticLanguage") -> str:
    return f"made up: {language.order.value}, adpositions {language.adpositions.value}, {language.script.value} script"


def _print_rows(console: Console, title: str, rows: dict[str, str]) -> None:
    console.print(title, style="bold")
    table = Table.grid(padding=(0, 2))
    for name, text in rows.items():
        table.add_row(f"  {name}", text)
    console.print(table)
