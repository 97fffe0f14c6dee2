"""Arguments and options that several commands take, and the commands that messages suggest."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.store import Store
    from isoglot.study.study import Study

StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A built-in study (see [bold]isoglot list[/bold]) or a .toml file.")
]
StudyOrReportArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A built-in study (see [bold]isoglot list[/bold]), a .toml file, or the folder of a report.",
    ),
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
ExhibitsOption = Annotated[
    str | None,
    typer.Option(
        "--exhibits", help="In place of the study's own, as in table-1,figure-7: see isoglot list.", metavar="LIST"
    ),
]
TasksOption = Annotated[
    str | None, typer.Option("--tasks", help="Tasks in place of the study's own, as in ner,parsing.", metavar="LIST")
]
DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        envvar="ISOGLOT_DATA",
        help="Folder that the paths in a study start from, in place of the study's own folder.",
        metavar="DIR",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Processes that make artifacts side by side: one for each GPU if not given, or for each core. "
        "1 is this process alone.",
        metavar="N",
    ),
]
CalibrateOption = Annotated[
    bool, typer.Option("--calibrate", help="Train each size of model for some seconds, to say how long it takes here.")
]
DEFAULT_STORE = "store"


def opened_store(folder: str) -> "Store":
    """The store that --store names."""
    from isoglot.store import Store

    return Store(named_folder("--store", folder))


def named_folder(option: str, folder: str) -> Path:
    """The folder that an option names; an empty name would be this very folder."""
    if not folder.strip():
        raise IsoglotError(f"{option} names no folder; is a variable of your shell not set?")
    return Path(folder)


def command(verb: str, study: str, *, store: str, **options: str | None) -> str:
    """A command of isoglot with these options, for people to copy."""
    words = ["isoglot", verb, study, *([] if store == DEFAULT_STORE else ["--store", store])]
    for name, value in options.items():
        words += [] if value is None else [f"--{name}", value]
    return shlex.join(words)


def same_command(context: typer.Context) -> str:
    """This command as it was given, to go on with what was stopped; `main` hands its words down."""
    return shlex.join(["isoglot", *(context.obj or [])])


def chosen_study(
    name: str,
    *,
    data: str | None,
    seeds: str | None = None,
    conditions: str | None = None,
    exhibits: str | None = None,
    tasks: str | None = None,
) -> "Study":
    """A built-in study or a file, with what its options change in it."""
    from isoglot.study.study import read_study, with_conditions, with_exhibits, with_seeds, with_tasks

    study = read_study(name, data=Path(data) if data else None)
    if seeds is not None:
        try:
            study = with_seeds(study, [int(seed) for seed in seeds.split(",")])
        except ValueError:
            raise IsoglotError(
                f"--seeds takes whole numbers with commas between them, as in 0,1,2; not {seeds!r}"
            ) from None
    if conditions is not None:
        study = with_conditions(study, [name.strip() for name in conditions.split(",")])
    if tasks is not None:
        study = with_tasks(study, [name.strip() for name in tasks.split(",")])
    if exhibits is not None:
        study = with_exhibits(study, [name.strip() for name in exhibits.split(",")])
    if not study.shown_exhibits:
        from isoglot.pipeline.exhibits import left_out_sentences

        raise IsoglotError(f"{name}: nothing is left of it: {'; '.join(left_out_sentences(study))}")
    return study


def named_report(name: str, **choices: str | None) -> Path | None:
    """The folder of a report that is named by it or by a file in it; None for a study. Reports take no choices."""
    from isoglot.report.report_files import MEASUREMENTS
    from isoglot.study.study import builtin_study_names

    path = Path(name)
    if name in builtin_study_names() or path.suffix == ".toml":
        return None
    is_file_of_one = path.is_file() and (path.parent / MEASUREMENTS).is_file()
    if not (path.is_dir() or is_file_of_one):
        return None
    for option in (option for option, words in choices.items() if words is not None):
        raise IsoglotError(f"--{option} chooses from a study, and {name} is a report, which has what it has")
    return path if path.is_dir() else path.parent


INTERRUPTED = 130
WIDTH_OF_FILES = 240


def plain_console(*, soft_wrap: bool = True) -> Console:
    """A console that takes names of files for no markup; a file or a pipe has no right margin."""
    console = Console(markup=False, highlight=False, soft_wrap=soft_wrap)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console
