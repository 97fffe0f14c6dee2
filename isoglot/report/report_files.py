"""What a report says of itself to programs: the files beside its page, from which the page can be made again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from isoglot.errors import IsoglotError
from isoglot.files import write_whole
from isoglot.pipeline.measurements import Measurement, with_variant
from isoglot.report.provenance import Provenance
from isoglot.report.state import State
from isoglot.report.training_curves import Curve
from isoglot.store.canonical import Json
from isoglot.study.conditions import DEFAULT, MONOLINGUAL, Condition, named_in_file, read_condition
from isoglot.study.exhibit_names import EVERYTHING, WITHOUT_CONDITIONS, ExhibitFilter
from isoglot.study.scales import Scale
from isoglot.study.task_files import task_names
from isoglot.study.toml_tables import FileKey, known_name

KIND_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


def read_as(kind: Any, value: object, *, place: FileKey) -> Any:
    """The value as a field of this kind holds it.

    What a later isoglot says of a thing and this one does not know is passed over.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        return _instance(kind, _checked(value, dict, place=place), place=place)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(known_name(value, [member.value for member in kind], place=place))
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin in (UnionType, Union):
            members = [member for member in arguments if member is not NoneType]
            # A union of several is JSON of any shape.
            return value if value is None or len(members) > 1 else read_as(members[0], value, place=place)
        case origin if origin in (tuple, frozenset):
            return origin(_items(arguments, _checked(value, list, place=place), place=place))
        case origin if origin is dict:
            table = _checked(value, dict, place=place)
            return {key: read_as(arguments[1], member, place=place.at(key)) for key, member in table.items()}
    return _checked(value, kind, place=place)


def _instance(kind: type, table: dict[str, Any], *, place: FileKey) -> Any:
    kinds = _kinds(kind)
    for each in fields(kind):
        if each.name not in table and each.default is MISSING:
            raise place.at(each.name).error("this is missing")
    known = {key: value for key, value in table.items() if key in kinds}
    return kind(**{key: read_as(kinds[key], value, place=place.at(key)) for key, value in known.items()})


@cache
def _kinds(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _items(arguments: tuple[Any, ...], items: list[Any], *, place: FileKey) -> list[Any]:
    """Any number of one kind, or as many as there are kinds."""
    is_any_number = len(arguments) == 1 or arguments[-1] is Ellipsis
    kinds = (arguments[0],) * len(items) if is_any_number else arguments
    if len(kinds) != len(items):
        raise place.error(f"should have {len(kinds)} entries, not {len(items)}")
    pairs = enumerate(zip(kinds, items, strict=True))
    return [read_as(one, item, place=place.at(str(index))) for index, (one, item) in pairs]


def _checked(value: object, kind: type, *, place: FileKey) -> Any:
    # A whole number stays one, as it would be printed otherwise.
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise place.error(f"should be {KIND_NAMES[kind]}, not {value!r}")
    return value


@dataclass(frozen=True, kw_only=True)
class Asked:
    """As far as a page speaks of it."""

    name: str
    languages: tuple[str, ...]
    conditions: tuple[Condition, ...]
    exhibits: tuple[str, ...]
    seeds: tuple[int, ...]
    only: dict[str, ExhibitFilter]
    """By exhibit, for those that are about less than all of it."""
    scale: Scale
    is_made_up: bool

    def conditions_of(self, exhibit: str) -> tuple[Condition, ...]:
        """None, if it was not asked for."""
        only = self.only.get(exhibit, EVERYTHING)
        return tuple(
            each for each in self.conditions if exhibit in self.exhibits and only.keeps("conditions", each.name)
        )

    @property
    def shown_conditions(self) -> tuple[Condition, ...]:
        """Those that any of its exhibits is about."""
        shown = {
            condition
            for exhibit in self.exhibits
            for condition in ((DEFAULT,) if exhibit in WITHOUT_CONDITIONS else self.conditions_of(exhibit))
        }
        return tuple(each for each in dict.fromkeys((*self.conditions, DEFAULT)) if each in shown)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """Those that study_settings writes and a page shows in its own words."""

    languages: tuple[str, ...]
    conditions: tuple[str | dict[str, Any], ...]
    exhibits: tuple[str, ...]
    seeds: tuple[int, ...]
    only: dict[str, ExhibitFilter] | None = None
    scale: Scale


def asked_in(provenance: Provenance, *, file: str = "provenance.json") -> Asked:
    """`file` is where it was read from, for messages."""
    place = FileKey(file=file, key="settings")
    settings: _Settings = read_as(_Settings, provenance.settings, place=place)
    return Asked(
        name=provenance.study,
        languages=settings.languages,
        conditions=tuple(_conditions(settings.conditions, place=place.at("conditions"))),
        exhibits=settings.exhibits,
        seeds=settings.seeds,
        only=settings.only or {},
        scale=settings.scale,
        is_made_up=provenance.is_made_up,
    )


def _conditions(names: tuple[str | dict[str, Any], ...], *, place: FileKey) -> Iterator[Condition]:
    for name in names:
        try:
            yield read_condition(name)
        except IsoglotError as error:
            raise place.error(str(error)) from None


MEASUREMENTS = "measurements.jsonl"
PROVENANCE = "provenance.json"
CURVES = "curves.jsonl"
STATE = "state.json"
ANEW = "write the report anew from its store: isoglot report STUDY --store STORE"


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """Every number of a report, and where they come from."""

    measurements: Sequence[Measurement]
    provenance: Mapping[str, Json]
    """Empty where it is not told."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """All that a page is made from."""

    measurements: tuple[Measurement, ...]
    provenance: Provenance
    curves: tuple[Curve, ...]
    state: State

    @cached_property
    def asked(self) -> Asked:
        """As its provenance tells it."""
        return asked_in(self.provenance)

    @property
    def content(self) -> ReportContent:
        """As another report would read it."""
        return ReportContent(measurements=self.measurements, provenance=json.loads(self.provenance.json_text()))


def read_report(folder: str | Path) -> ReportContent:
    """Of the folder that `isoglot report` wrote, or any other with a measurements.jsonl."""
    place = Path(folder)
    if not (place / MEASUREMENTS).is_file():
        raise IsoglotError(f"{place}: no {MEASUREMENTS} in it; give the folder of a report that isoglot wrote")
    provenance = _table(place / PROVENANCE) if (place / PROVENANCE).exists() else {}
    measurements = list(_measurements(place / MEASUREMENTS, own_conditions=_own_conditions(provenance)))
    return ReportContent(measurements=measurements, provenance=provenance)


def _own_conditions(provenance: Mapping[str, Any]) -> set[str]:
    """Names of conditions that were made in Python, whose settings stand in the provenance."""
    settings = provenance.get("settings")
    listed = settings.get("conditions", []) if isinstance(settings, dict) else []
    return {str(each.get("name")) for each in listed if isinstance(each, dict)} if isinstance(listed, list) else set()


def read_found(folder: Path) -> Found:
    """All of a report, wherever it lies by now."""
    measurements = tuple(read_report(folder).measurements)
    try:
        provenance: Provenance = read_as(Provenance, _table(folder / PROVENANCE), place=_place(folder / PROVENANCE))
        # Read here, where what is wrong with it has a file to be looked for in.
        asked_in(provenance, file=str(folder / PROVENANCE))
        curves = (read_as(Curve, line, place=place) for place, line in _lines(folder / CURVES))
        state: State = read_as(State, _table(folder / STATE), place=_place(folder / STATE))
        return Found(measurements=measurements, provenance=provenance, curves=tuple(curves), state=state)
    except IsoglotError as error:
        raise IsoglotError(f"{error}; {ANEW}") from None


def write_found(found: Found, folder: Path) -> None:
    write_whole(folder / MEASUREMENTS, "".join(each.json_line() + "\n" for each in found.measurements))
    write_whole(folder / PROVENANCE, found.provenance.json_text())
    curves = (json.dumps(asdict(each), ensure_ascii=False) for each in found.curves)
    write_whole(folder / CURVES, "".join(f"{line}\n" for line in curves))
    write_whole(folder / STATE, found.state.json_text())


def _measurements(path: Path, *, own_conditions: set[str]) -> Iterator[Measurement]:
    for place, line in _lines(path):
        try:
            found: Measurement = read_as(
                Measurement, with_variant(line) if isinstance(line, dict) else line, place=place
            )
            # What only a later isoglot knows has no name here.
            if found.condition not in {*own_conditions, MONOLINGUAL.name}:
                named_in_file(found.condition)
            if found.task is not None:
                known_name(found.task, task_names(), place=place.at("task"))
        except IsoglotError as error:
            told = str(error).removeprefix(f"{place.file}: ")
            raise place.error(f"not a measurement as `isoglot results --json` prints it ({told})") from None
        yield found


def _place(path: Path) -> FileKey:
    return FileKey(file=str(path))


def _lines(path: Path) -> Iterator[tuple[FileKey, object]]:
    """Of a file of JSON lines, each with where it stands; what is no JSON comes as its text."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            try:
                content = json.loads(line)
            except ValueError:
                content = line
            yield FileKey(file=f"{path}:{number}"), content


def _table(path: Path) -> dict[str, Json]:
    try:
        content = json.loads(_text(path))
    except ValueError as error:
        raise IsoglotError(f"{path}: not JSON ({error})") from None
    if not isinstance(content, dict):
        raise IsoglotError(f"{path}: not a table of settings")
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise IsoglotError(f"{path.parent}: no {path.name} in it, without which no page can be made") from None
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from None
