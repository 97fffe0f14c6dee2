"""Where two provenances differ, name by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from isoglot.store.canonical import Json

ABSENT: tuple[object, ...] = (None, [], {})


def plain_text(value: object) -> str:
    """ "yes", "0.1, 0.2", or of a table "order svo, script latin"."""
    match value:
        case dict():
            return ", ".join(_entry(str(key), member) for key, member in value.items() if member not in ABSENT)
        case list() | tuple():
            return ", ".join(map(plain_text, value))
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _entry(key: str, value: object) -> str:
    words = key.removeprefix("is_").replace("_", " ")
    return f"{words} ({plain_text(value)})" if isinstance(value, dict) else f"{words} {plain_text(value)}"


PROGRESS = frozenset(
    {"seconds", "spent", "artifacts", "artifacts_done", "models_done", "tokens_done", "first_finished", "last_finished"}
)
"""How far a study is and how long it took: no setting."""
STUDY = "settings"
"""What a study's own file says, whose names are told as they stand there."""
SETTINGS = frozenset({STUDY, "is_made_up", "data_files", "words"})
"""What somebody chose; all else is code, machines and what followed."""
DERIVED = frozenset({"budget", "commit"})
"""Left out: the settings say it, or what made the artifacts does."""
ONE_OF_MANY = {
    "data_files": "data file",
    "words": "words of",
    "vocabularies": "vocabulary of",
    "makings": "made on",
    "departures": "departure in",
}
SIZES = "types"
"""Of vocabularies: known once they are built."""
LONGEST_VALUE = 100
LONG_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}")
Leaf = tuple[str, str | None, str | None]
"""A name, and what either side says; None where it has no such thing."""
Table = Mapping[str, Json]
Place = tuple[str, ...]


def settings_and_rest(provenance: Table) -> tuple[Table, Table]:
    """Sizes of vocabularies stand among the rest, as far as both know them."""
    settings = {name: value for name, value in provenance.items() if name in SETTINGS}
    return settings, {name: value for name, value in provenance.items() if name not in SETTINGS | DERIVED}


def differing(a: Table, b: Table) -> Iterator[Leaf]:
    """ "scale.updates" of a study's settings, and of all else "budget, tokens" or "data file wiki.fr.txt, digest"."""
    for place, ours, theirs in _differing(a, b, at=()):
        name = ".".join(place[1:]) if place[0] == STUDY and len(place) > 1 else ", ".join(place)
        yield name, _text(ours), _text(theirs)


def _differing(a: Table, b: Table, *, at: Place) -> Iterator[tuple[Place, Json, Json]]:
    for name in dict.fromkeys((*a, *b)):
        is_size_to_come = at[-1:] == (SIZES,) and not (name in a and name in b)
        if name not in PROGRESS and not is_size_to_come:
            yield from _between(a.get(name), b.get(name), name=name, at=at)


def _between(a: Json, b: Json, *, name: str, at: Place) -> Iterator[tuple[Place, Json, Json]]:
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _differing(a, b, at=(*at, _words(name, at=at)))
    elif isinstance(a, list) and isinstance(b, list) and (tables := _tables(a, b)):
        yield from _between_tables(*tables, name=name, at=at)
    else:
        yield (*at, _words(name, at=at)), a, b


def _words(name: str, *, at: Place) -> str:
    return name if at[:1] == (STUDY,) else name.removeprefix("is_").replace("_", " ")


def _tables(*lists: list[Json]) -> tuple[list[dict[str, Json]], ...]:
    """The lists, if they hold tables alone."""
    found = tuple([each for each in items if isinstance(each, dict)] for items in lists)
    return found if [len(each) for each in found] == [len(each) for each in lists] else ()


def _between_tables(
    a: Sequence[Table], b: Sequence[Table], *, name: str, at: Place
) -> Iterator[tuple[Place, Json, Json]]:
    num_names = _num_names(a, b)
    by_label = [dict(zip(_labels(items, num_names), items, strict=True)) for items in (a, b)]
    for label in dict.fromkeys((*by_label[0], *by_label[1])):
        ours, theirs = (items.get(label) for items in by_label)
        is_of_study = at[:1] == (STUDY,)
        place = (*at, name, label) if is_of_study else (*at, f"{ONE_OF_MANY.get(name, _words(name, at=at))} {label}")
        if ours is not None and theirs is not None:
            yield from _differing(ours, theirs, at=place)
        else:
            yield place, _beside(ours, num_names), _beside(theirs, num_names)


def _num_names(*lists: Sequence[Table]) -> int:
    """How many of their first entries tell the tables of each list apart, so that one more moves no other; or none."""
    most = max((len(_names(each)) for items in lists for each in items), default=0)
    for count in range(1, most + 1):
        if all(len(set(_labels(items, count))) == len(items) for items in lists):
            return count
    return 0


def _labels(items: Sequence[Table], num_names: int) -> list[str]:
    if num_names == 0:
        return [str(place) for place in range(1, len(items) + 1)]
    return [", ".join(_text(each[name]) or "" for name in _names(each)[:num_names]) for each in items]


def _names(table: Table) -> list[str]:
    """Entries that one can be told by."""
    return [name for name, value in table.items() if name not in PROGRESS and not isinstance(value, dict | None)]


def _beside(table: Table | None, num_names: int) -> str | None:
    """What there is to say of a table that the other side lacks, besides its name."""
    if table is None:
        return None
    unsaid = {*table} - PROGRESS - {*_names(table)[:num_names]}
    text = _short(plain_text({name: value for name, value in table.items() if name in unsaid}))
    return text if 0 < len(text) <= LONGEST_VALUE else "there"


def _text(value: Json) -> str | None:
    """Of many things, where a line cannot hold them, how many: all of them are in the report's provenance."""
    if value is None:
        return None
    text = _short(plain_text(value))
    return f"{len(value)} entries" if isinstance(value, dict | list) and len(text) > LONGEST_VALUE else text


def _short(text: str) -> str:
    return LONG_DIGEST.sub(r"\1", text)
