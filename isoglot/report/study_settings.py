"""All that a study asks for as plain JSON, so that two reports can be held against each other."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

from isoglot.artifacts.canonical import Json
from isoglot.cells import VOCABULARY
from isoglot.study import Study


def study_settings(study: Study) -> dict[str, Json]:
    """Conditions by their names; what a study is called, and the file it was read from, ask for nothing."""
    return {
        "languages": list(study.languages),
        "conditions": [condition.name for condition in study.conditions],
        "exhibits": list(study.exhibits),
        "tasks": list(study.tasks),
        "seeds": list(study.seeds),
        # Not told where there is none, as in reports that are older than these tables.
        **({"only": only} if (only := _only(study)) else {}),
        "scale": _plain(study.scale),
        "text": _plain(study.text),
    }


def _only(study: Study) -> dict[str, Json]:
    """Of the exhibits that are asked for, the lists that are narrowed."""
    return {
        exhibit: {key: _plain(items) for key, items in vars(narrowing).items() if items is not None}
        for exhibit, narrowing in study.only.items()
        if exhibit in (*study.exhibits, VOCABULARY)
    }


def _plain(value: object) -> Json:
    match value:
        case Enum():
            return _plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return value.as_posix()
        case Mapping():
            return {str(key): _plain(member) for key, member in value.items()}
        case frozenset():
            return sorted((_plain(member) for member in value), key=str)
        case tuple() | list():
            return [_plain(member) for member in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"{value!r} of a study has no JSON form: say in isoglot/report/study_settings.py what it is")
