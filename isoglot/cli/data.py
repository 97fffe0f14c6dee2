"""The `isoglot data` command: list the data sets, get them, check what is there."""

import json
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from isoglot.cli.options import INTERRUPTED, PlainCommand, PlainGroup, named_folder, plain_console, same_command
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoglot.corpora.download.catalogue import DataFile, DataSet
    from isoglot.corpora.download.getting import Getter

DEFAULT_DATA = "data"

data_app = typer.Typer(
    name="data",
    cls=PlainGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="The data sets of the paper: what there is, fetching it, checking it.",
)
DataOption = Annotated[
    str, typer.Option("--data", envvar="ISOGLOT_DATA", help="Folder that the data sets lie in.", metavar="DIR")
]
LanguagesOption = Annotated[
    str | None, typer.Option("--languages", help="Only files of these languages, as in fr,ru.", metavar="LIST")
]


@data_app.command(name="list", cls=PlainCommand)
def list_(
    data: DataOption = DEFAULT_DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line, for each data set.")] = False,
) -> None:
    """Show every data set: what it is, its home page, licence and size, and whether it is there."""
    from isoglot.corpora.download.catalogue import DATA_SETS
    from isoglot.corpora.download.getting import clear_folder_errors
    from isoglot.report.quantities import size_in_bytes

    root = named_folder("--data", data)
    with clear_folder_errors(root):
        descriptions = [_description(data_set, root=root) for data_set in DATA_SETS]
    if as_json:
        for description in descriptions:
            print(json.dumps(description, ensure_ascii=False))
        return
    table = Table("Name", "Size", "There", box=None, header_style="bold", pad_edge=False)
    table.add_column("What, licence, home page", overflow="fold")
    for each in descriptions:
        text = f"{each['what']}{'; by hand' if each['by_hand'] else ''}\n{each['licence']}, {each['home']}"
        there = [file for file in each["files"] if file["there"]]
        unverified = ", unverified" if any(file["known"] is False for file in there) else ""
        is_whole = len(there) == len(each["files"]) and not unverified
        presence = "all" if is_whole else f"{len(there)} of {len(each['files'])}{unverified}" if there else "no"
        table.add_row(each["name"], size_in_bytes(each["bytes"]) if each["bytes"] else "", presence, text)
    console = plain_console(soft_wrap=False)
    console.print(table)
    if any(file["known"] is False for each in descriptions for file in each["files"]):
        console.print("unverified: not known to be the official files; some may be stand-ins", soft_wrap=True)
    console.print(f"Data folder: {root}. Fetch with: isoglot data get NAME --languages fr,ru", soft_wrap=True)


@data_app.command(cls=PlainCommand)
def get(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="Data sets to fetch, by their names in [bold]isoglot data list[/bold]."),
    ],
    languages: LanguagesOption = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Fetch data sets from their homes. Stop it when you like: the next run goes on from there."""
    from isoglot.corpora.download.catalogue import files_to_fetch, named_data_set
    from isoglot.corpora.download.getting import Getter, Watch

    root = named_folder("--data", data)
    codes = None if languages is None else [code.strip() for code in languages.split(",")]
    chosen = {name: named_data_set(name) for name in names}
    wanted = {name: files_to_fetch(data_set, codes) for name, data_set in chosen.items()}
    console = plain_console(soft_wrap=False)
    failures = []
    try:
        with Watch(console) as watch:
            for name, data_set in chosen.items():
                console.print(f"{name} ({data_set.licence}), {data_set.home}", soft_wrap=True)
                getter = Getter(root=root, home=data_set.home, by_hand=data_set.by_hand, observer=watch)
                failures += _failures(getter, wanted[name])
    except KeyboardInterrupt:
        console.print(f"Stopped; what was fetched is kept. Go on with: {same_command(context)}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None
    if len(failures) > 1:
        raise IsoglotError(f"{len(failures)} files could not be had:\n  " + "\n  ".join(failures))
    if failures:
        raise IsoglotError(failures[0])


@data_app.command(cls=PlainCommand)
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]", help="Data sets to check; all files that are there, if none is named."),
    ] = None,
    data: DataOption = DEFAULT_DATA,
) -> None:
    """Read the files that are there: are they whole, unchanged, and of their format?"""
    from isoglot.corpora.download.catalogue import named_data_set
    from isoglot.corpora.download.checking import files_there, problem_of
    from isoglot.corpora.download.getting import Watch, clear_folder_errors

    root = named_folder("--data", data)
    with clear_folder_errors(root):
        there = files_there(root, [named_data_set(name) for name in names] if names else None)
    if not there:
        raise IsoglotError(f"none of these files is in {root}: get them, or name their folder with --data")
    console = plain_console(soft_wrap=False)
    sound: Counter[str] = Counter()
    num_problems = 0
    with Watch(console) as watch:
        for path in there:
            show = partial(watch.progress, path.name, "checking", total=path.stat().st_size)
            problem = problem_of(path, root=root, progress=show)
            folder = path.parent.relative_to(root).as_posix()
            sound[folder] += problem is None
            if problem is not None:
                num_problems += 1
                console.print(problem, soft_wrap=True, style="red")
    for folder, count in sound.items():
        console.print(f"{folder}: {count} files in order")
    if num_problems:
        raise IsoglotError(f"{num_problems} of {len(there)} files are not in order; see above")


def _description(data_set: "DataSet", *, root: Path) -> dict[str, Any]:
    from isoglot.corpora.download.catalogue import OFFICIAL_SHA256, files_of
    from isoglot.corpora.download.checking import file_digest, recorded_digests
    from isoglot.corpora.readers.decompression import found

    settings = {name: getattr(data_set, name) for name in ("name", "what", "home", "licence", "bytes")}
    there = {file.path: found(root / file.path) for file in files_of(data_set)}
    fetched = recorded_digests(root)

    def is_known(path: str, at: Path) -> bool:
        if (official := OFFICIAL_SHA256.get(path)) is None:
            # What was fetched is not read again here; text of one's own stands in for nothing.
            return not data_set.bytes or path in fetched or at.relative_to(root).as_posix() in fetched
        with suppress(IsoglotError):
            return file_digest(at, decompressed=True) == official
        return False

    files = [
        {"path": path, "there": at and str(at), "known": None if at is None else is_known(path, at)}
        for path, at in there.items()
    ]
    return {**settings, "by_hand": data_set.by_hand or None, "files": files}


def _failures(getter: "Getter", files: "Sequence[DataFile]") -> list[str]:
    # Errors of files that could not be fetched; an unreachable server is tried for one file only.
    from isoglot.corpora.download.getting import UnreachableError

    failures: list[str] = []
    for place, file in enumerate(files, start=1):
        try:
            getter.get(file)
        except UnreachableError as error:
            more = f" (and {len(files) - place} more files)" if place < len(files) else ""
            return [*failures, f"{error}{more}"]
        except IsoglotError as error:
            failures.append(str(error))
    return failures
