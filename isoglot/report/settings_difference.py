"""Where two provenances differ, name by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from isoglot.store.canonical import Json

STUDY = "settings"
"""The entry that holds a study's own file; its names are given as they stand there: "scale.updates"."""
SETTINGS = frozenset({STUDY, "is_made_up", "data_files", "words"})
"""Entries that somebody chose; all others are code, machines and what followed."""
DERIVED = frozenset({"budget", "commit"})
"""Entries that repeat the settings or the makings."""
PROGRESS = frozenset(
    {"seconds", "spent", "artifacts", "artifacts_done", "models_done", "tokens_done", "first_finished", "last_finished"}
)
"""How far a study is and how long it took: no difference."""
LISTS = {
    "data_files": ("data file", ("name",)),
    "words": ("words of", ("language",)),
    "vocabularies": ("vocabulary of", ("condition", "languages")),
    "makings": ("made on", ("host",)),
    "departures": ("departure in", ("file", "sentence")),
}
"""The title of an entry of a list, and the fields that name it; entries of other lists have a `name`."""
LONGEST_VALUE = 100
LONG_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,}")
ABSENT: tuple[object, ...] = (None, [], {})
Table = Mapping[str, Json]
Path = tuple[str, ...]


def settings_and_rest(provenance: Table) -> tuple[Table, Table]:
    """The entries that somebody chose, and all others."""
    settings = {name: value for name, value in provenance.items() if name in SETTINGS}
    return settings, {name: value for name, value in provenance.items() if name not in SETTINGS | DERIVED}


def differing(a: Table, b: Table) -> Iterator[tuple[str, str | None, str | None]]:
    """A name such as "scale.updates" or "data file wiki.fr.txt, digest", and the text of each side, if it has any."""
    for path, ours, theirs in _differing(dict(a), dict(b), path=()):
        is_of_study = path[0] == STUDY and len(path) > 1
        # Names of entries are shown as they are, names of fields as words.
        words = (part if " " in part else _words(part) for part in path)
        yield ".".join(path[1:]) if is_of_study else ", ".join(words), _text(ours), _text(theirs)


def plain_text(value: object) -> str:
    """ "yes", "0.1, 0.2", or for a table "order svo, script latin"."""
    match value:
        case dict():
            entries = ((_words(str(key)), member) for key, member in value.items() if member not in ABSENT)
            return ", ".join(
                f"{key} ({plain_text(member)})" if isinstance(member, dict) else f"{key} {plain_text(member)}"
                for key, member in entries
            )
        case list() | tuple():
            return ", ".join(map(plain_text, value))
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _differing(a: Json, b: Json, *, path: Path) -> Iterator[tuple[Path, Json, Json]]:
    if a == b or path[-1:] in {(name,) for name in PROGRESS}:
        return
    ours, theirs = (_as_table(value, path) for value in (a, b))
    if ours is None or theirs is None:
        # A vocabulary's size is known once it is built, which is no difference.
        if not ("types" in path and None in (a, b)):
            yield path, a, b
        return
    for key in dict.fromkeys((*ours, *theirs)):
        here = (*path[:-1], key) if path and path[-1] in LISTS else (*path, key)
        yield from _differing(ours.get(key), theirs.get(key), path=here)


def _as_table(value: Json, path: Path) -> Table | None:
    """A table as it is, and a list of tables by the names of its entries, so that one more moves no other."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        return {} if value == [] and path and path[-1] in LISTS else None
    title, keys = LISTS.get(path[-1], ("", ("name",)))
    entries = [each for each in value if isinstance(each, dict)]
    if not all(keys[0] in each for each in entries):
        return None
    table: dict[str, Json] = {}
    for each in entries:
        name = f"{title} {', '.join(_text(each[key]) or '' for key in keys if key in each)}".strip()
        name = f"{name} ({len(table) + 1})" if name in table else name
        table[name] = {key: member for key, member in each.items() if key not in keys and key not in PROGRESS}
    return table


def _words(name: str) -> str:
    return name.removeprefix("is_").replace("_", " ")


def _text(value: Json) -> str | None:
    """Where a line cannot hold all entries of a value, how many they are: the provenance has them."""
    if value is None:
        return None
    text = LONG_DIGEST.sub(r"\1", plain_text(value))
    if isinstance(value, dict | list) and len(text) > LONGEST_VALUE:
        return f"{len(value)} entries"
    return text or "there"
