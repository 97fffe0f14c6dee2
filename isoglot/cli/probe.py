"""The `isoglot probe` command: one encoder or two by the paper's Figures 4, 6 and 7."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from isoglot.cli.options import Folders, grouped_options, named_folder, plain_console
from isoglot.errors import IsoglotError
from isoglot.study.searches import NewVectors


@grouped_options
def probe(
    folders: Folders,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A Hugging Face name or folder, or one of isoglot's such as demo:default."
        ),
    ],
    other: Annotated[
        str | None, typer.Argument(metavar="[MODEL2]", help="A second model, which reads all languages but the first.")
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(
            "--languages",
            metavar="LIST",
            help="Languages, as in en,fr,de: each of the others is held against the first.",
        ),
    ] = None,
    parallel: Annotated[
        tuple[str, str] | None,
        typer.Option("--parallel", metavar="FILE FILE", help="Two files, line by line translations of each other."),
    ] = None,
    dictionary: Annotated[
        str | None, typer.Option("--dictionary", metavar="FILE", help="A word and its translation a line, as in MUSE.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="DIR", help="Folder for the page and the numbers.")] = None,
    new_vectors: Annotated[
        NewVectors, typer.Option("--new-vectors", help="How a map is applied to sentences it was not fitted on.")
    ] = NewVectors.CENTRED,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as one JSON object.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Go on with lines that do not look like translations.")
    ] = False,
) -> None:
    """Probe any encoder, or two: retrieval by layer with and without a map, words, and CKA, beside random weights.

    Text is found in the folder of --data: parallel/en-fr.en and parallel/en-fr.fr, a sentence a line, and
    dictionaries/en-fr.txt; or XNLI, Tatoeba or PUD, and MUSE, as isoglot data get puts them there. Models of a store
    have the text of their study.
    """
    from isoglot.report.probe import probe as probed

    name = "-".join(map(_short, filter(None, (model, other))))
    folder = named_folder("--to", f"probe-{name}" if to is None else to)
    # What can be refused at once comes before what is slow.
    standing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        raise IsoglotError(f"--to {folder}: {standing} is no folder that can be written to; name another one")
    with _progress() as progress:
        found = probed(
            model,
            other,
            languages=[code.strip() for code in languages.split(",")] if languages else (),
            data=folders.data_path,
            parallel=parallel,
            dictionary=dictionary,
            store=folders.open_store().root,
            new_vectors=new_vectors,
            anyway=anyway,
            progress=progress,
        )
    page = found.report(folder)
    if as_json:
        print(found.json_text(), end="")
        return
    for note in found.notes:
        print(f"isoglot: {note}", file=sys.stderr)
    console = plain_console()
    for table in found.tables():
        console.print(table)
    console.print("\n".join([*found.readings(), f"Page: {page}"]))


def _short(name: str) -> str:
    # FacebookAI/xlm-roberta-base -> FacebookAI-xlm-roberta-base, demo:monolingual:oru -> demo-monolingual-oru
    last = "/".join(Path(name).parts[-2:]) if ":" not in name else name
    return re.sub(r"[^\w.]+", "-", last.removesuffix(".toml")).strip("-.") or "model"


@contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    # On the terminal, where it can be no part of the results.
    console = Console(stderr=True, emoji=False)
    columns, hidden = ("{task.description}", "{task.completed:,} lines"), not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"reading {name}", total=None)
            bars.update(tasks[name], completed=done)

        yield show
