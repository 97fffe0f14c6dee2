"""The `isoglot init` command: a study file for some languages, from the data that is there."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from isoglot.cli.data import DEFAULT_DATA
from isoglot.cli.options import named_folder, plain_console
from isoglot.errors import IsoglotError


def init(
    languages: Annotated[
        list[str],
        typer.Argument(
            metavar="LANGUAGE", help="Codes of two languages or more, as in en de; the first is the source."
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", envvar="ISOGLOT_DATA", help=f"Folder to look for data in; {DEFAULT_DATA} if none.", metavar="DIR"
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale", help="Scale of the study; laptop if not given, or small where there is a GPU.", metavar="NAME"
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="File to write; en-de.toml for en and de if not given.", metavar="FILE")
    ] = None,
) -> None:
    """Write a study file for your languages from the data that is there, every key explained.

    What is missing is named, with how to get it. A file that is there is never written over.
    """
    from isoglot.corpora.download.first_study import DataFolder, study_text
    from isoglot.hardware import usable_gpus
    from isoglot.study.languages import check_name
    from isoglot.study.scales import SCALES
    from isoglot.study.study_file import parse_study
    from isoglot.study.toml_tables import FileKey, distinct, known_name

    for language in distinct(languages, str, at_least=2, place=FileKey(file="LANGUAGE")):
        check_name(language, place=FileKey(file="LANGUAGE"))
    console, name = plain_console(), "-".join(languages)
    root = named_folder("--data", data if data is not None else DEFAULT_DATA)
    if data is not None and not root.is_dir():
        raise IsoglotError(f"--data {data}: there is no such folder; name the one that your data lie in")
    path = Path(to or f"{name}.toml")
    size = SCALES[known_name(scale or ("small" if usable_gpus() else "laptop"), SCALES, place=FileKey(file="--scale"))]
    words = [str(path), "--data", str(root)]
    option = "" if data is None else f" {shlex.join(['--data', data])}"
    needs = DataFolder(root, languages, option=option).needs()
    text = study_text(languages, needs, scale=size, run=shlex.join(["isoglot", "run", *words]))
    # What would be no study is not written.
    study = parse_study(text, origin=name, data=root)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise IsoglotError(f"{path} is there already; delete it, or write another with --to FILE") from None
    except OSError as error:
        raise IsoglotError(f"--to {path}: cannot be written ({error.strerror})") from None
    there = [need for need in needs if need.is_there]
    console.print(
        f"Wrote {path}: {len(study.conditions)} conditions, scale {size.name} ({size.summary}), "
        f"with {len(there)} of {len(needs)} kinds of data from {root}."
    )
    for need in needs:
        if not need.is_there:
            console.print(f"  not there: {', '.join(need.paths)} ({need.use}): {need.how}")
    console.print(f"Look what it will cost with: {shlex.join(['isoglot', 'plan', *words])}")
