"""Arguments and options that several commands take."""

from typing import Annotated

import typer

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
