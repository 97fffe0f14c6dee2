"""The `isoglot explain` command: which settings make two cells, two models or two artifacts differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from isoglot.cli.options import Folders, StudyArgument, grouped_options, plain_console

if TYPE_CHECKING:
    from isoglot.pipeline.stages.scores import Score
    from isoglot.store import Record, Stage, Store


@grouped_options
def explain(
    study: StudyArgument,
    folders: Folders,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help='A condition, as in sep-emb:1; a cell, as in "sep-emb:en-fr:1 nli" or "sep-emb figure-7"; or the name '
            "of an artifact.",
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(
            metavar="B", help="What to compare it with; where not given, Default, and of a cell the same cell of it."
        ),
    ] = None,
) -> None:
    """Say which settings make two models differ, or two cells of an exhibit; of cells also what both scored."""
    from isoglot.pipeline.model_names import known_artifacts, named_artifact, same_of_default
    from isoglot.store import Stage, differences, inputs_first

    chosen, store = folders.read_study(study), folders.open_store()
    b = b or same_of_default(a, study=chosen)
    first, second = (named_artifact(name, study=chosen, store=store) for name in (a, b))
    # Conditions of the paper that are not in the study have inputs of their own.
    inputs = inputs_first(each for each in (first, second) if isinstance(each, Stage)).values()
    found = differences(first, second, [*known_artifacts(chosen, store), *inputs])
    console = plain_console()
    if not found:
        console.print(f"{a} and {b} are one and the same artifact: {first.kind}-{first.digest[:16]}")
        return
    settings = [(each.path, str(each.a), str(each.b)) for each in found]
    for title, rows in (("Setting", settings), ("Score", _scores_of_both(first, second, store=store))):
        table = Table(title, a, b, box=None, header_style="bold")
        for row in rows:
            table.add_row(*row)
        if rows:
            console.print(*([""] if title == "Score" else []), table)


def _scores_of_both(a: Stage | Record, b: Stage | Record, *, store: Store) -> list[tuple[str, str, str]]:
    # Scores that the store has of both, by metric, language and layer; models have none, their cells do.
    from isoglot.pipeline.stages.scores import SCORES, read_scores

    found = [store.lookup(each, read=(SCORES,)) for each in (a, b)]
    folders = [each.folder for each in found if each is not None and SCORES in each.record.files]
    if len(folders) < len(found):
        return []
    ours, theirs = ({_name(score): score.value for score in read_scores(folder)} for folder in folders)
    return [(key, f"{ours[key]:g}", f"{theirs[key]:g}") for key in ours if theirs.get(key, ours[key]) != ours[key]]


def _name(score: Score) -> str:
    # "las oru", "retrieval_p1 L3", "cka L3 after 700 updates"
    layer = None if score.layer is None else f"L{score.layer}"
    update = None if score.update is None else f"after {score.update} updates"
    return " ".join(filter(None, (score.metric, score.language, layer, update)))
