"""TOML tables read into frozen dataclasses, every value checked against the type and the range of its field."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.limits import LIMITS, Limit

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Table = Mapping[str, Any]
Settings = TypeVar("Settings", bound="DataclassInstance")

KIND_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string in quotes",
    list: "a list in brackets",
    dict: "a table",
}


@dataclass(frozen=True, kw_only=True)
class FileKey:
    """The place of a value: its file and its key."""

    file: str
    key: str = ""

    def at(self, key: str) -> "FileKey":
        return replace(self, key=f"{self.key}.{key}" if self.key else key)

    def error(self, problem: str) -> IsoglotError:
        return IsoglotError(f"{self.file}: {self.key}: {problem}" if self.key else f"{self.file}: {problem}")


def quoted(words: Collection[str]) -> str:
    """`"'a', 'b'"`."""
    return ", ".join(repr(word) for word in words)


def refuse_unknown_keys(table: Table, known: Collection[str], *, place: FileKey) -> None:
    for key in table:
        if key not in known:
            raise place.at(key).error(f"unknown key; the keys here are {quoted(known)}{suggestion(key, known)}")


def refuse_missing_keys(table: Table, needed: Collection[str], *, place: FileKey) -> None:
    for key in needed:
        if key not in table:
            raise place.at(key).error("this key is missing, and it has no default")


def checked(value: object, kind: Any, *, place: FileKey) -> Any:
    """The value as its field wants it (an enum's member, a tuple, a float written without a point), or an error."""
    if isinstance(kind, UnionType):
        (kind,) = (member for member in get_args(kind) if member is not NoneType)
    if get_origin(kind) in (tuple, frozenset):
        items = checked(value, list, place=place)
        return get_origin(kind)(checked(item, get_args(kind)[0], place=place) for item in items)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(known_name(value, [member.value for member in kind], place=place))
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise place.error(f"should be {KIND_NAMES[kind]}, not {_written(value)}")
    if isinstance(value, float) and not isfinite(value):
        raise place.error(f"should be a finite number, not {value}")
    return value


def known_name(value: object, known: Collection[str], *, place: FileKey) -> str:
    name: str = checked(value, str, place=place)
    if name not in known:
        raise place.error(f"{name!r} is not one of {quoted(known)}{suggestion(name, known)}")
    return name


def file_paths(value: object, *, data: Path, place: FileKey) -> tuple[Path, ...]:
    """The paths of one file or a list of files, starting from the folder `data`."""
    names = value if isinstance(value, list) else [value]
    if not names or "" in names:
        raise place.error("names no file")
    return tuple(data / checked(name, str, place=place) for name in names)


def distinct(values: object, kind: Any, *, at_least: int, place: FileKey) -> tuple[Any, ...]:
    """A list of values of one kind, none of them twice."""
    items = tuple(checked(item, kind, place=place) for item in checked(values, list, place=place))
    for index, item in enumerate(items):
        if item in items[:index]:
            raise place.error(f"{item!r} stands there twice; name it once")
    if len(items) < at_least:
        raise place.error(f"needs at least {at_least}, and has {len(items)}")
    return items


def refuse_outside(number: float, limit: Limit, *, place: FileKey) -> None:
    if not limit.holds(number):
        raise place.error(f"should be {limit.words}, not {number}")


def made_from(table: Table, cls: type[Settings], *, place: FileKey, given: Mapping[str, object]) -> Settings:
    """A new instance of a dataclass: the fields of the table, those given beside it, and defaults for the rest."""
    free = [field for field in fields(cls) if field.name not in given]
    refuse_unknown_keys(table, [field.name for field in free], place=place)
    refuse_missing_keys(table, [field.name for field in free if field.default is MISSING], place=place)
    values = {name: _field_value(cls, name, value, place=place.at(name)) for name, value in table.items()}
    return cls(**given, **values)


def changed(settings: Settings, table: Table, *, place: FileKey, fixed: Collection[str] = ()) -> Settings:
    """The settings with the fields of the table put in their place, also in settings within settings."""
    refuse_unknown_keys(table, [field.name for field in fields(settings) if field.name not in fixed], place=place)
    changes: dict[str, Any] = {}
    for name, value in table.items():
        current, inner = getattr(settings, name), place.at(name)
        if is_dataclass(current) and not isinstance(current, type):
            changes[name] = changed(current, checked(value, dict, place=inner), place=inner)
        else:
            changes[name] = _field_value(type(settings), name, value, place=inner)
    return replace(settings, **changes)


def _field_value(cls: "type[DataclassInstance]", name: str, value: object, *, place: FileKey) -> object:
    kind, limit = get_type_hints(cls)[name], LIMITS.get(cls, {}).get(name)
    if get_origin(kind) is tuple:
        empty_by_default = any(field.name == name and field.default == () for field in fields(cls))
        result = distinct(value, get_args(kind)[0], at_least=0 if empty_by_default else 1, place=place)
    else:
        result = checked(value, kind, place=place)
    if limit is not None:
        for number in result if isinstance(result, tuple) else (result,):
            refuse_outside(number, limit, place=place)
    return result


def _written(value: object) -> str:
    """The value as its author may recognise it: `the string 'three'`, `true or false (True)`."""
    if isinstance(value, str):
        return f"the string {value!r}"
    return f"{KIND_NAMES.get(type(value), type(value).__name__)} ({value})"
