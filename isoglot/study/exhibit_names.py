"""The exhibits that a study can ask for, and by what each of them can be narrowed."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from isoglot.study.toml_tables import FileKey, check_keys, checked, distinct, known_name, quoted

EXHIBITS = {
    "table-1": "zero-shot transfer of tasks from the first language to the others",
    "baselines": "the same with encoders that were never trained, and with these frozen",
    "figure-4": "translation of words after a map between models of one language each, beside fastText",
    "figure-5": "transfer of tasks from each frozen layer: models of one language mapped, and models of both",
    "figure-6": "retrieval of translations at every layer, after a map",
    "figure-7": "CKA similarity of the languages at every layer: models of both, of one each, untrained",
    "figure-8": "as figure-5, with the models of both languages mapped as well",
    "emergence": "retrieval of translations at every layer with no map, centred and raw",
    "growth": "the same, CKA and words at moments of training, and what they predict of longer training",
    "growth-tasks": "as table-1 at those moments, and what that predicts",
    "vocabulary": "what the languages share in each vocabulary; trains nothing",
}
DRAWN_BY = {"figure-3": "table-1", "training": "growth"}  # what another exhibit draws beside its own
ALWAYS_SHOWN = "vocabulary"  # shown for every model of two languages, whatever the exhibits are

# They show models of one language each, and of two Default's alone.
WITHOUT_CONDITIONS = ("figure-4", "figure-5", "figure-8")
# The lists of a study of which an exhibit shows every member, or those that [only.EXHIBIT] names.
KEYS: dict[str, Collection[str]] = {
    "targets": EXHIBITS,
    "conditions": EXHIBITS.keys() - WITHOUT_CONDITIONS,
    "tasks": ("table-1", "baselines", "growth-tasks", "figure-5", "figure-8"),
    "seeds": EXHIBITS.keys() - {ALWAYS_SHOWN},
}

Filters: TypeAlias = Mapping[str, Mapping[str, tuple[Any, ...]]]
"""By exhibit and key, the part of a study's list that the exhibit keeps; of a key that is not there it keeps all."""


def exhibits_named(names: object, *, place: FileKey) -> tuple[str, ...]:
    """Names of exhibits, each known and none twice."""
    named = distinct(names, str, place=place)
    for name in named:
        if name in DRAWN_BY:
            raise place.error(f"{name!r} is drawn by {DRAWN_BY[name]!r}; ask for that")
    return tuple(known_name(name, EXHIBITS, place=place) for name in named)


def keys_of(exhibit: str) -> list[str]:
    return [key for key, exhibits in KEYS.items() if exhibit in exhibits]


def parse_filters(
    value: object, *, exhibits: Collection[str], lists: Mapping[str, Sequence[Any]], place: FileKey
) -> Filters:
    """The table [only], by exhibit; each list in it must be a part of the study's own list of that key."""
    filters = {}
    tables = checked(value, dict, place=place)
    check_keys(tables, exhibits, place=place, problem="this exhibit is not in exhibits,")
    for exhibit, of_exhibit in tables.items():
        at_exhibit, own = place.at(exhibit), keys_of(exhibit)
        table = checked(of_exhibit, dict, place=at_exhibit)
        for key in table:
            if key in lists and key not in own:
                raise at_exhibit.at(key).error(
                    f"{exhibit} has no {key} to choose from; the keys here are {quoted(own)}"
                )
        check_keys(table, own, place=at_exhibit)
        filters[exhibit] = {
            key: _part_of(lists[key], table[key], place=at_exhibit.at(key)) for key in own if key in table
        }
    return filters


def _part_of(known: Sequence[Any], items: object, *, place: FileKey) -> tuple[Any, ...]:
    named = distinct(items, type(known[0]), place=place)
    for item in named:
        if isinstance(item, str):
            known_name(item, known, place=place)
        elif item not in known:
            raise place.error(f"{item} is not one of {', '.join(map(str, known))}")
    return named
