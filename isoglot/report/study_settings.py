"""All that a study asks for as plain JSON, so that two reports can be held against each other."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from isoglot.pipeline.cells import VOCABULARY
from isoglot.store.canonical import Json
from isoglot.study.real_text import RealText
from isoglot.study.study import Study, Synthetic


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
        "text": _text(study.text),
    }


def told_origin(study: Study) -> str:
    """As the user named it, without the folders of one machine."""
    return Path(study.origin).name if Path(study.origin).is_absolute() else study.origin


def _text(text: Synthetic | RealText) -> Json:
    """Files as the study names them: where its data lie is another thing on every machine."""
    if isinstance(text, Synthetic):
        return _plain(text)
    parts = {each.name: getattr(text, each.name) for each in fields(text) if each.name != "data"}
    return _plain(parts, written=text.as_written)


def _only(study: Study) -> dict[str, Json]:
    """Of the exhibits that are asked for, the lists that are narrowed."""
    return {
        exhibit: {key: _plain(items) for key, items in vars(narrowing).items() if items is not None}
        for exhibit, narrowing in study.only.items()
        if exhibit in (*study.exhibits, VOCABULARY)
    }


def _plain(value: object, *, written: Callable[[Path], Path] = Path) -> Json:
    """`written` gives a path as the study has it."""
    plain = partial(_plain, written=written)
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return written(value).as_posix()
        case Mapping():
            return {str(key): plain(member) for key, member in value.items()}
        case frozenset():
            return sorted((plain(member) for member in value), key=str)
        case tuple() | list():
            return [plain(member) for member in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"{value!r} of a study has no JSON form: say in isoglot/report/study_settings.py what it is")
