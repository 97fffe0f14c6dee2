"""JSON read back into the dataclasses it was written from, every value checked against the type of its field."""

from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from isoglot.study.toml_tables import Place, known_name

KIND_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


def read_as(kind: Any, value: object, *, place: Place) -> Any:
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


def _instance(kind: type, table: dict[str, Any], *, place: Place) -> Any:
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


def _items(arguments: tuple[Any, ...], items: list[Any], *, place: Place) -> list[Any]:
    """Any number of one kind, or as many as there are kinds."""
    is_any_number = len(arguments) == 1 or arguments[-1] is Ellipsis
    kinds = (arguments[0],) * len(items) if is_any_number else arguments
    if len(kinds) != len(items):
        raise place.error(f"should have {len(kinds)} entries, not {len(items)}")
    pairs = enumerate(zip(kinds, items, strict=True))
    return [read_as(one, item, place=place.at(str(index))) for index, (one, item) in pairs]


def _checked(value: object, kind: type, *, place: Place) -> Any:
    # A whole number stays one, as it would be printed otherwise.
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise place.error(f"should be {KIND_NAMES[kind]}, not {value!r}")
    return value
