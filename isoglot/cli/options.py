"""Arguments and options that several commands take, and the commands that messages suggest."""

import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.store import Store
    from isoglot.study.study import Study

DEFAULT_STORE = "store"
INTERRUPTED = 130
WIDTH_OF_FILES = 240

StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A built-in study (see [bold]isoglot list[/bold]) or a .toml file.")
]

StoreOption = Annotated[
    str,
    typer.Option(
        "--store", envvar="ISOGLOT_STORE", help="Folder of artifacts: what is there is not made again.", metavar="DIR"
    ),
]


class PlainCommand(TyperCommand):
    """A command whose help says what to write after an option, and nothing of Python's types."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A command with commands of its own, and the same help."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))


def _without_types(parameters: Any) -> Any:
    # Typer prints <str> beside an argument whatever its metavar is, and <bool> beside a flag that has none.
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: None  # noqa: ARG005
        elif each.is_flag:
            each.metavar = ""
    return parameters


def grouped_options(function: Callable[..., None]) -> Callable[..., None]:
    """A command in which a parameter whose type is a dataclass stands for the options that are its fields."""
    # Typer reads options off a signature, so the command gets one with the fields in the place of the dataclass.
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in signature(function).parameters.items():
        members = {name: parameter.default}
        if name in groups:
            members = {each.name: each.default for each in fields(groups[name])}
            hints |= get_type_hints(groups[name], include_extras=True)
        for member, default in members.items():
            known = Parameter.empty if default is MISSING else default
            parameters.append(Parameter(member, Parameter.KEYWORD_ONLY, default=known, annotation=hints[member]))

    @wraps(function)
    def command(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        function(**given)

    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


@dataclass(frozen=True, kw_only=True)
class Folders:
    """The store of a command, and the folder that the paths in a study start from."""

    store_folder: StoreOption = DEFAULT_STORE
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            envvar="ISOGLOT_DATA",
            help="Folder that the paths in a study start from, in place of the study's own folder.",
            metavar="DIR",
        ),
    ] = None

    @property
    def data_path(self) -> Path | None:
        return None if self.data is None else named_folder("--data", self.data)

    def open_store(self) -> "Store":
        from isoglot.store import Store

        return Store(named_folder("--store", self.store_folder))

    def read_study(self, name: str) -> "Study":
        from isoglot.study.study_file import read_study

        return read_study(name, data=self.data_path)

    def words(self, study: str) -> list[str]:
        """A study and these folders, as words of a command."""
        store = [] if self.store_folder == DEFAULT_STORE else ["--store", self.store_folder]
        return [study, *store, *(["--data", self.data] if self.data else [])]

    def command(self, verb: str, study: str, *more: str) -> str:
        """A command with these folders, for people to copy."""
        return shlex.join(["isoglot", verb, *self.words(study), *more])


LISTS = ("seeds", "targets", "conditions", "exhibits", "tasks")
"""Options that choose a part of a study."""


def _list_option(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, metavar="LIST")


@dataclass(frozen=True, kw_only=True)
class StudyOptions(Folders):
    """A study, and what a command chooses from it."""

    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A built-in study (see [bold]isoglot list[/bold]) or a .toml file; to show results, also a report.",
        ),
    ]
    seeds: Annotated[str | None, _list_option("--seeds", "Seeds in place of the study's own, as in 0,1,2.")] = None
    targets: Annotated[
        str | None, _list_option("--targets", "Only these of the study's target languages, as in de,fr.")
    ] = None
    conditions: Annotated[
        str | None, _list_option("--conditions", "Conditions in place of the study's own, as in default,sep-emb.")
    ] = None
    exhibits: Annotated[
        str | None, _list_option("--exhibits", "Exhibits in place of the study's own, as in table-1,figure-7.")
    ] = None
    tasks: Annotated[str | None, _list_option("--tasks", "Tasks in place of the study's own, as in ner,parsing.")] = (
        None
    )

    @property
    def lists(self) -> dict[str, str]:
        """The choices that were made, by option."""
        return {name: getattr(self, name) for name in LISTS if getattr(self, name) is not None}

    @property
    def run_command(self) -> str:
        """The command that makes what is chosen."""
        return self.command(
            "run", self.study, *(word for name, words in self.lists.items() for word in (f"--{name}", words))
        )

    def chosen_study(self) -> "Study":
        """A built-in study or a file, with what the options change in it."""
        from isoglot.study.study import with_lists

        if named_report(self.study) is not None:
            problem = "is a folder, and a study is a .toml file"
            raise IsoglotError(f"{self.study}: {problem}; of a report's folder ask isoglot results or isoglot report")
        lists: dict[str, object] = {
            key: [name.strip() for name in names.split(",")] for key, names in self.lists.items()
        }
        if self.seeds is not None:
            lists["seeds"] = _whole_numbers(self.seeds)
        study = with_lists(self.read_study(self.study), lists)
        if not study.shown_exhibits:
            from isoglot.pipeline.exhibits import left_out_sentences

            raise IsoglotError(f"{self.study}: nothing is left of it: {'; '.join(left_out_sentences(study))}")
        return study

    def report_folder(self) -> Path | None:
        """The folder of the report that is named in the place of a study; reports take no choices."""
        folder = named_report(self.study)
        for option in self.lists if folder else ():
            raise IsoglotError(f"--{option} chooses from a study, and {self.study} is a report, which has what it has")
        return folder


def _whole_numbers(seeds: str) -> list[int]:
    try:
        return [int(seed) for seed in seeds.split(",")]
    except ValueError:
        raise IsoglotError(
            f"--seeds takes whole numbers with commas between them, as in 0,1,2; not {seeds!r}"
        ) from None


def named_report(name: str) -> Path | None:
    """The folder of a report that is named by it or by a file in it; None for a study."""
    from isoglot.report.report_files import MEASUREMENTS
    from isoglot.study.study_file import builtin_study_names

    path = Path(name)
    if name in builtin_study_names() or path.suffix == ".toml":
        return None
    if path.is_file() and (path.parent / MEASUREMENTS).is_file():
        return path.parent
    return path if path.is_dir() else None


def named_folder(option: str, folder: str) -> Path:
    """The folder that an option names; an empty name would be this very folder."""
    if not folder.strip():
        raise IsoglotError(f"{option} names no folder; is a variable of your shell not set?")
    return Path(folder)


def same_command(context: typer.Context) -> str:
    """This command as it was given, to go on with what was stopped; `main` hands its words down."""
    return shlex.join(["isoglot", *(context.obj or [])])


def plain_console(*, soft_wrap: bool = True) -> Console:
    """A console that takes names of files for no markup; a file or a pipe has no right margin."""
    console = Console(markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console
