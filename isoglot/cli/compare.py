"""The `isoglot compare` command: two models, two files that translate each other, how alike at every layer."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from isoglot.cli.options import Folders, grouped_options, named_folder, plain_console
from isoglot.errors import IsoglotError
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.comparison import LineProgress

ROUNDS = 5
PICTURE, NUMBERS = "comparison.svg", "comparison.json"


@grouped_options
def compare(
    folders: Folders,
    a: Annotated[str, typer.Argument(metavar="A", help="A model: a Hugging Face name or folder, or one of isoglot's.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What to compare it with; it may be the same.")],
    parallel: Annotated[
        tuple[str, str],
        typer.Option(
            "--parallel", metavar="FILE_A FILE_B", help="Text for each model, line by line a translation of the other."
        ),
    ],
    to: Annotated[
        str | None, typer.Option("--to", metavar="DIR", help="Folder for the picture and the numbers.")
    ] = None,
    new_vectors: Annotated[
        NewVectors, typer.Option("--new-vectors", help="How a map is applied to sentences it was not fitted on.")
    ] = NewVectors.CENTRED,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as one JSON object.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Go on with lines that do not look like translations.")
    ] = False,
) -> None:
    """Compare two models by layer: CKA, and how many sentences find their translation before and after a map.

    A model is a name on the Hugging Face hub, a folder with config.json, or one of isoglot's own such as
    demo:monolingual:oru. Text may be plain, a sentence a line, or XNLI's or a treebank's; it may be compressed.
    """
    from isoglot.evaluation.geometry.comparison import compared
    from isoglot.evaluation.geometry.parallel_lines import read_parallel_lines
    from isoglot.files import write_whole
    from isoglot.pipeline.model_names import named_reader
    from isoglot.report.comparison import NamedComparison

    store = folders.open_store()
    folder = named_folder("--to", f"compare-{_short(a)}-{_short(b)}" if to is None else to)
    # What can be refused at once comes before what is slow.
    lines = read_parallel_lines(Path(parallel[0]), Path(parallel[1]), anyway=anyway)
    reader_a = named_reader(a, store=store, data=folders.data_path)
    reader_b = reader_a if a == b else named_reader(b, store=store, data=folders.data_path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IsoglotError(f"--to {folder}: cannot be made ({error.strerror}); name another folder") from error
    if not os.access(folder, os.W_OK):
        raise IsoglotError(f"--to {folder}: cannot be written to; name another folder")
    with _progress(total=len(lines.a)) as progress:
        found = compared(
            reader_a, reader_b, lines.a, lines.b, rounds=ROUNDS, new_vectors=new_vectors, progress=progress
        )
    for name, num_cut, most_tokens in zip("AB", found.num_cut, found.most_tokens, strict=True):
        if num_cut:
            cut = (
                f"{num_cut:,} of {found.num_lines:,} lines are longer than the {most_tokens:,} tokens that {name} reads"
            )
            print(f"isoglot: {cut}; their ends were not read, so give shorter lines", file=sys.stderr)
    named = NamedComparison(
        found=found, models=(a, b), files=parallel, new_vectors=new_vectors, rounds=ROUNDS, reading_notes=lines.notes
    )
    write_whole(folder / NUMBERS, named.json_text())
    write_whole(folder / PICTURE, named.picture())
    if as_json:
        print(named.json_text(), end="")
        return
    console = plain_console()
    console.print(named.table())
    console.print("\n".join([named.reading(), *named.notes(), f"Picture: {folder / PICTURE}"]))


def _short(name: str) -> str:
    # FacebookAI/xlm-roberta-base -> FacebookAI-xlm-roberta-base, demo:monolingual:oru -> demo-monolingual-oru
    last = "/".join(Path(name).parts[-2:]) if ":" not in name else name
    return re.sub(r"[^\w.]+", "-", last.removesuffix(".toml")).strip("-.") or "model"


@contextmanager
def _progress(*, total: int) -> Iterator[LineProgress]:
    # A bar for each model on the terminal, where it can be no part of the results.
    console = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), "lines", TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {name: bars.add_task(f"{name} reads", total=total) for name in "AB"}
        yield lambda name, done: bars.update(tasks[name], completed=done)
