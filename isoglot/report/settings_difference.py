"""Where two provenances differ, name by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from isoglot.artifacts.canonical import Json

PROGRESS = frozenset(
    {"seconds", "spent", "artifacts", "artifacts_done", "models_done", "tokens_done", "first_finished", "last_finished"}
)
"""How far a study is and how long it took: no setting."""
Leaf = tuple[str, str | None, str | None]
"""A name, and what either side says; None where it has no such thing."""


def differing(a: Mapping[str, Json], b: Mapping[str, Json], *, at: str = "") -> Iterator[Leaf]:
    """ "settings.scale.updates", or "data_files[text/wiki.fr.txt].digest" of one of many."""
    for name in dict.fromkeys((*a, *b)):
        if name not in PROGRESS:
            yield from _between(a.get(name), b.get(name), at=f"{at}.{name}" if at else name)


def _between(a: Json, b: Json, *, at: str) -> Iterator[Leaf]:
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        yield from differing(a, b, at=at)
    elif isinstance(a, list) and isinstance(b, list) and (tables := _tables(a, b)):
        yield from _between_tables(*tables, at=at)
    else:
        yield at, _text(a), _text(b)


def _tables(*lists: list[Json]) -> tuple[list[dict[str, Json]], ...]:
    """The lists, if they hold tables alone."""
    found = tuple([each for each in items if isinstance(each, dict)] for items in lists)
    return found if [len(each) for each in found] == [len(each) for each in lists] else ()


def _between_tables(a: Sequence[dict[str, Json]], b: Sequence[dict[str, Json]], *, at: str) -> Iterator[Leaf]:
    by_label = [dict(zip(_labels(items), items, strict=True)) for items in (a, b)]
    for label in dict.fromkeys((*by_label[0], *by_label[1])):
        ours, theirs = (items.get(label) for items in by_label)
        if ours is not None and theirs is not None:
            yield from differing(ours, theirs, at=f"{at}[{label}]")
        else:
            a_has, b_has = (None if each is None else "there" for each in (ours, theirs))
            yield f"{at}[{label}]", a_has, b_has


def _labels(items: Sequence[dict[str, Json]]) -> list[str]:
    """By as many of their first entries as tell them apart, so that one more among them moves no other."""
    for count in range(1, max((len(each) for each in items), default=0) + 1):
        labels = [", ".join(_text(value) or "" for value in list(each.values())[:count]) for each in items]
        if len(set(labels)) == len(labels):
            return labels
    return [str(place) for place in range(1, len(items) + 1)]


def _text(value: Json) -> str | None:
    """As people write it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)
