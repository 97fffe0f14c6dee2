"""The tables [only.EXHIBIT] of a study file: what of the study one exhibit is about."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isoglot.errors import suggestion
from isoglot.exhibit_names import keys_of
from isoglot.toml_tables import Place, Table, checked, distinct, known_name, quoted, refuse_unknown_keys

Lists = Mapping[str, Sequence[Any]]
"""What a study has of each key."""


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """What one exhibit keeps of a study's lists; None keeps all."""

    targets: tuple[str, ...] | None = None
    conditions: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None

    def keeps(self, key: str, item: str | int) -> bool:
        allowed = getattr(self, key)
        return allowed is None or item in allowed


EVERYTHING = Narrowing()


def parse_narrowings(value: object, *, exhibits: Collection[str], lists: Lists, place: Place) -> dict[str, Narrowing]:
    """The table [only], by exhibit; each list in it must be a part of the study's own."""
    found = {}
    for exhibit, table in checked(value, dict, place=place).items():
        at_exhibit = place.at(exhibit)
        if exhibit not in exhibits:
            raise at_exhibit.error(
                f"this exhibit is not in exhibits, {quoted(exhibits)}{suggestion(exhibit, exhibits)}"
            )
        found[exhibit] = _narrowing(exhibit, checked(table, dict, place=at_exhibit), lists=lists, place=at_exhibit)
    return found


def _narrowing(exhibit: str, table: Table, *, lists: Lists, place: Place) -> Narrowing:
    own = keys_of(exhibit)
    for key in table:
        if key in lists and key not in own:
            raise place.at(key).error(f"{exhibit} has no {key} to choose from; the keys here are {quoted(own)}")
    refuse_unknown_keys(table, own, place=place)
    return Narrowing(**{key: _part_of(lists[key], items, place=place.at(key)) for key, items in table.items()})


def _part_of(known: Sequence[Any], items: object, *, place: Place) -> tuple[Any, ...]:
    named = distinct(items, type(known[0]), at_least=1, place=place)
    for item in named:
        if isinstance(item, str):
            known_name(item, known, place=place)
        elif item not in known:
            raise place.error(f"{item} is not one of {', '.join(map(str, known))}")
    return named
