"""TOML tables read into frozen dataclasses, every value checked against the type and the limit of its field."""

# Pydantic was tried: reading its errors back into keys, ranges and suggestions took 50 lines in place of the 30 here.

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from isoglot.errors import IsoglotError, suggestion

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
class Limit:
    """A test that a number, or every number of a list, must pass."""

    holds: Callable[[float], bool]
    words: str  # after "should be"


def at_least(least: int) -> Limit:
    return Limit(holds=lambda number: number >= least, words=f"at least {least}")


# No number of a study is larger; those that are would overflow elsewhere.
LARGEST = 10**15
NONE = "none"
Count = Annotated[int, at_least(1)]
Few = Annotated[int, Limit(holds=lambda number: 1 <= number <= 1000, words="from 1 to 1000")]
CountOrZero = Annotated[int, at_least(0)]
TwoOrMore = Annotated[int, at_least(2)]
Seed = Annotated[int, Limit(holds=lambda number: 0 <= number < 2**32, words="from 0 to 4294967295")]
# Above that, numbers of 32 bits overflow within a few updates.
Positive = Annotated[float, Limit(holds=lambda number: 0 < number <= 1e9, words="above 0 and at most 1e9")]
UpToTen = Annotated[float, Limit(holds=lambda number: 0 <= number <= 10, words="from 0 to 10")]
Share = Annotated[float, Limit(holds=lambda number: 0 <= number <= 1, words="from 0 to 1")]
ShareBelowOne = Annotated[float, Limit(holds=lambda number: 0 <= number < 1, words="at least 0 and below 1")]
ShareInside = Annotated[float, Limit(holds=lambda number: 0 < number < 1, words="above 0 and below 1")]


@dataclass(frozen=True, kw_only=True)
class FileKey:
    """The place of a value: its file and its key."""

    file: str
    key: str = ""

    def at(self, key: str) -> "FileKey":
        return replace(self, key=f"{self.key}.{key}" if self.key else key)

    def error(self, problem: str) -> IsoglotError:
        return IsoglotError(f"{self.file}: {self.key}: {problem}" if self.key else f"{self.file}: {problem}")


MOST_BITS = 10_000  # of a number; Python writes out no number of 5,000 digits
DEEPEST = 20


def parsed_toml(text: str, *, place: FileKey) -> Table:
    """The table that a file of TOML is, if a message could show every value of it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last_line = f"at line {text.count(chr(10)) + 1}, the end of the file"
        raise place.error(f"not TOML: {str(error).replace('at end of document', last_line)}") from None
    except (ValueError, RecursionError):
        table = None
    if table is None or not _is_showable(table):
        raise place.error("a number of too many digits, or lists nested too deeply; correct or drop it")
    return table


def _is_showable(value: object, room: int = DEEPEST) -> bool:
    # The parser limits neither the digits of hexadecimal numbers nor the parts of a key a.b.c.
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return room > 0 and all(_is_showable(item, room - 1) for item in items)
    return not isinstance(value, int) or value.bit_length() <= MOST_BITS


def laid_over(below: Table, above: Table, *, whole: Collection[str] = ()) -> Table:
    """The keys of both, with values from above. Tables within are laid over each other, but for those in `whole`."""
    both = {
        key: laid_over(below[key], above[key], whole=whole)
        for key in below
        if key not in whole and isinstance(below[key], dict) and isinstance(above.get(key), dict)
    }
    return {**below, **above, **both}


def without(table: Table, names: Collection[str]) -> Table:
    return {key: value for key, value in table.items() if key not in names}


def quoted(words: Collection[str]) -> str:
    return ", ".join(repr(word) for word in words)


def check_keys(
    table: Table,
    known: Collection[str],
    *,
    needed: Collection[str] = (),
    place: FileKey,
    problem: str = "unknown key; the keys here are",
) -> None:
    for key in table:
        if key not in known:
            raise place.at(key).error(f"{problem} {quoted(known)}{suggestion(key, known)}")
    for key in needed:
        if key not in table:
            raise place.at(key).error("this key is missing, and it has no default")


def checked(value: object, kind: Any, *, place: FileKey) -> Any:
    """The value as its field wants it (an enum's member, a tuple, a float written without a point), or an error."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        number, limit = checked(value, arguments[0], place=place), arguments[1]
        if not limit.holds(number):
            raise place.error(f"should be {limit.words}, not {number}")
        return number
    if origin in (Union, UnionType):
        # TOML has no word for nothing, and a study may want none where its scale has a number.
        is_none = value is None or (value == NONE and arguments[0] is not str)
        return None if is_none else checked(value, arguments[0], place=place)
    if origin is tuple:
        return tuple(checked(item, arguments[0], place=place) for item in checked(value, list, place=place))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(known_name(value, [member.value for member in kind], place=place))
    if type(value) is int and abs(value) > LARGEST:
        raise place.error(f"should be at most {LARGEST:,}, not a number of {len(str(abs(value)))} digits")
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        # As its author may recognise it: "the string 'three'", "a whole number (3)".
        written = f"{KIND_NAMES.get(type(value), type(value).__name__)} ({value})"
        found = f"the string {value!r}" if isinstance(value, str) else written
        raise place.error(f"should be {KIND_NAMES[kind]}, not {found}")
    if isinstance(value, float) and not isfinite(value):
        raise place.error(f"should be a finite number, not {value}")
    return value


def known_name(value: object, known: Collection[str], *, place: FileKey) -> str:
    name: str = checked(value, str, place=place)
    if name not in known:
        raise place.error(f"{name!r} is not one of {quoted(known)}{suggestion(name, known)}")
    return name


def known_names(names: object, known: Collection[str], *, place: FileKey) -> tuple[str, ...]:
    """The same of a list, in which each stands once."""
    return tuple(known_name(name, known, place=place) for name in distinct(names, str, place=place))


def file_paths(value: object, *, data: Path, place: FileKey) -> tuple[Path, ...]:
    """The paths of one file or a list of files, starting from the folder `data`."""
    names = value if isinstance(value, list) else [value]
    paths = [Path(checked(name, str, place=place)) for name in names]
    # Such as "", "." and "/".
    if not paths or not all(path.name and "\0" not in str(path) for path in paths):
        raise place.error("names no file")
    return tuple(data / path for path in paths)


def distinct(values: object, kind: Any, *, at_least: int = 1, place: FileKey) -> tuple[Any, ...]:
    """A list of values of one kind, none of them twice."""
    items: tuple[Any, ...] = checked(values, tuple[kind, ...], place=place)
    seen = set()
    for item in items:
        if item in seen:
            raise place.error(f"{item!r} stands there twice; name it once")
        seen.add(item)
    if len(items) < at_least:
        raise place.error(f"needs at least {at_least}, and has {len(items)}")
    return items


def made_from(table: Table, cls: type[Settings], *, place: FileKey, **given: object) -> Settings:
    """A new instance of a dataclass: the fields of the table, those given beside it, and defaults for the rest."""
    free = {field.name: field.default for field in fields(cls) if field.name not in given}
    needed = [name for name, default in free.items() if default is MISSING]
    check_keys(table, free, needed=needed, place=place)
    return cls(**given, **{name: _field_value(cls, name, value, place=place) for name, value in table.items()})


def changed(settings: Settings, table: Table, *, place: FileKey, fixed: Collection[str] = ()) -> Settings:
    """The settings with the fields of the table put in their place, also in settings within settings."""
    check_keys(table, [field.name for field in fields(settings) if field.name not in fixed], place=place)
    changes: dict[str, Any] = {}
    for name, value in table.items():
        current, inner = getattr(settings, name), place.at(name)
        if is_dataclass(current) and not isinstance(current, type):
            changes[name] = changed(current, checked(value, dict, place=inner), place=inner)
        else:
            changes[name] = _field_value(type(settings), name, value, place=place)
    return replace(settings, **changes)


def _field_value(cls: "type[DataclassInstance]", name: str, value: object, *, place: FileKey) -> object:
    kind = get_type_hints(cls, include_extras=True)[name]
    if get_origin(kind) is not tuple:
        return checked(value, kind, place=place.at(name))
    # A list may be empty where that is its default.
    at_least = 0 if getattr(cls, name, None) == () else 1
    return distinct(value, get_args(kind)[0], at_least=at_least, place=place.at(name))
