"""A study's TOML file: its keys, the built-in ones, and a study that is like another but for a few lines."""

import os
from collections.abc import Collection
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.conditions import TABLE_1
from isoglot.study.exhibit_names import ALWAYS_SHOWN, exhibits_named, parse_filters
from isoglot.study.languages import check_name
from isoglot.study.real_text import OTHER_DOMAIN, RealText, parse_real_text, task_names
from isoglot.study.scales import SCALES, changed_scale
from isoglot.study.study import Study, check_held_out, conditions_named
from isoglot.study.synthetic_languages import Synthetic, parse_synthetic
from isoglot.study.toml_tables import (
    FileKey,
    Seed,
    Table,
    check_keys,
    checked,
    distinct,
    known_name,
    known_names,
    laid_over,
    parsed_toml,
    quoted,
    without,
)

PAPER_TASKS = ("nli", "ner", "parsing")
OF_REAL_TEXT = ("text", "words", "resources")
KEYS = (
    *("name", "like", "scale", "languages", "conditions", "exhibits", "tasks", "seeds", "only"),
    *("synthetic", *OF_REAL_TEXT, "change"),
)
BUILTIN_STUDIES = files("isoglot") / "builtin_studies"


def builtin_study_names() -> tuple[str, ...]:
    names = (entry.name for entry in BUILTIN_STUDIES.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_study(name_or_path: str | Path, *, data: str | Path | None = None) -> Study:
    """A built-in study by its name, or any other by its file; paths in it start from `data`, or else its folder."""
    data = data_folder(data)
    name, folder = str(name_or_path), Path(name_or_path).parent
    if name in builtin_study_names():
        return parse_study(_file_text(name), origin=f"built-in study {name}")
    return parse_study(_file_text(name), origin=name, data=data or folder, folder=folder)


def data_folder(named: str | Path | None) -> Path | None:
    """The folder of data that is named, or else the one that ISOGLOT_DATA names; None where neither does."""
    folder = named or os.environ.get("ISOGLOT_DATA")
    return Path(folder) if folder else None


def _file_text(name: str) -> str:
    if name in builtin_study_names():
        return (BUILTIN_STUDIES / f"{name}.toml").read_text(encoding="utf-8")
    try:
        # Editors of Windows begin a file with a byte-order mark.
        return Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        beside = (*builtin_study_names(), *(str(file) for file in Path(name).parent.glob("*.toml")))
        raise IsoglotError(
            f"{name}: no such study; give the path of a .toml file, or one of {quoted(builtin_study_names())}"
            f"{suggestion(name, beside)}"
        ) from None
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{name}: not UTF-8 text (byte {error.start}); a study is a TOML file in UTF-8") from None
    except OSError as error:
        raise IsoglotError(f"{name}: cannot be read ({error.strerror}); give the path of a .toml file") from None


def parse_study(text: str, *, origin: str, data: Path = Path(), folder: Path = Path()) -> Study:
    """A study from the text of its file.

    `origin` names the file in messages, paths in it start from `data`, and a study that it is like lies in `folder`.
    """
    place = FileKey(file=origin)
    table = parsed_toml(text, place=place)
    if "like" in table:
        check_keys(table, KEYS, needed=("name",), place=place)
        other = _study_beside(table["like"], Path(origin).name, folder=folder, place=place.at("like"))
        table = _over_another(table, other, data=data, place=place.at("like"))
        # A value that is wrong in this study alone may be in either file.
        place = FileKey(file=f"{origin} (like {table['like']})")
    check_keys(table, KEYS, needed=("name", "scale", "languages"), place=place)
    name: str = checked(table["name"], str, place=place.at("name"))
    named = SCALES[known_name(table["scale"], SCALES, place=place.at("scale"))]
    scale = changed_scale(named, table.get("change", {}), place=place.at("change"))
    languages = distinct(table["languages"], str, at_least=2, place=place.at("languages"))
    for key, each in (*(("languages", language) for language in languages), ("name", name)):
        check_name(each, place=place.at(key))
    exhibits = exhibits_named(table.get("exhibits", ["emergence"]), place=place.at("exhibits"))
    study = Study(
        name=name,
        scale=scale,
        languages=languages,
        conditions=conditions_named(
            table.get("conditions", [row.name for row in TABLE_1]), scale=scale, place=place.at("conditions")
        ),
        exhibits=exhibits,
        tasks=known_names(table.get("tasks", list(PAPER_TASKS)), task_names(), place=place.at("tasks")),
        seeds=distinct(table.get("seeds", [0]), Seed, place=place.at("seeds")),
        text=_text(table, languages=languages, data=data, place=place),
        file_exhibits=exhibits,
        origin=origin,
    )
    check_held_out(study, place=place)
    names = [condition.name for condition in study.conditions]
    lists = {"targets": study.targets, "conditions": names, "tasks": study.tasks, "seeds": study.seeds}
    only = parse_filters(
        table.get("only", {}), exhibits=dict.fromkeys((*exhibits, ALWAYS_SHOWN)), lists=lists, place=place.at("only")
    )
    return replace(study, only=only)


def _study_beside(name: object, own: str, *, folder: Path, place: FileKey) -> str:
    """A built-in study, or the path of another file in the folder."""
    beside = {file.name: str(file) for file in sorted(folder.glob("*.toml")) if file.name != own}
    builtin = builtin_study_names()
    if checked(name, str, place=place) not in (*beside, *builtin):
        known = f"name another file in the folder of this one, or a built-in study ({quoted(builtin)})"
        raise place.error(f"there is no study {name!r}; {known}{suggestion(str(name), (*beside, *builtin))}")
    return beside.get(str(name), str(name))


def _over_another(table: Table, other: str, *, data: Path, place: FileKey) -> Table:
    """The table laid over that of another study, without what that one says of languages that this one has not."""
    text = _file_text(other)
    below = parsed_toml(text, place=FileKey(file=other))
    if "like" in below:
        raise place.error(f"{other} is like another study itself; name one that is not")
    # Whole, so that a mistake in it is found, and the message names that file.
    source, *targets = parse_study(text, origin=other, data=data).languages
    if isinstance(languages := table.get("languages"), list):
        if "text" in below and "synthetic" not in table and languages[:1] != [source]:
            raise place.error(f"the files of {other} are for models chosen by {source!r}; name that language first")
        gone = [target for target in targets if target not in languages]
        pairs = [f"{source}-{target}" for target in gone]
        below = _without_languages(below, {*gone, *pairs} - {str(each) for each in languages})
    if "only" in below:
        below = {**below, "only": _narrowed(below["only"], table)}
    # Text of one kind takes the place of the other.
    replaced = OF_REAL_TEXT if "synthetic" in table else ("synthetic",) if "text" in table else ()
    below = without(below, replaced)
    # A file or data set of a language is replaced whole, as are its rules for words.
    of_text = {
        key: laid_over(below[key], table[key], whole=(source, *targets))
        for key in ("text", "words")
        if isinstance(table.get(key), dict) and key in below
    }
    return {**laid_over(below, table), **of_text}


def _without_languages(table: Table, gone: Collection[str]) -> Table:
    """A study's table without what it says of some languages, and of pairs that they are in."""
    changed = {key: without(table[key], gone) for key in ("text", "words") if key in table}
    if OTHER_DOMAIN in table.get("text", {}):
        changed["text"] = {**changed["text"], OTHER_DOMAIN: without(table["text"][OTHER_DOMAIN], gone)}
    if "resources" in table:
        changed["resources"] = {kind: without(of_kind, gone) for kind, of_kind in table["resources"].items()}
    if "languages" in table.get("synthetic", {}):
        synthetic = table["synthetic"]
        changed["synthetic"] = {**synthetic, "languages": without(synthetic["languages"], gone)}
    return {**table, **changed}


def _narrowed(only: Table, table: Table) -> Table:
    """The filters of another study for the exhibits of this one, each with those members that this one still has."""
    lists = {key: value for key, value in table.items() if isinstance(value, list)}
    if "languages" in lists:
        lists["targets"] = lists["languages"][1:]
    narrowed: dict[str, Table] = {}
    for exhibit in [name for name in only if name in (*lists.get("exhibits", only), ALWAYS_SHOWN)]:
        parts = {key: [each for each in lists.get(key, items) if each in items] for key, items in only[exhibit].items()}
        # One that keeps nothing, or all, is none.
        parts = {key: part for key, part in parts.items() if part and part != lists.get(key)}
        narrowed |= {exhibit: parts} if parts else {}
    return narrowed


def _text(table: Table, *, languages: tuple[str, ...], data: Path, place: FileKey) -> Synthetic | RealText:
    if "synthetic" not in table:
        return parse_real_text(table, languages=languages, data=data, place=place)
    for key in OF_REAL_TEXT:
        if key in table:
            raise place.at(key).error("a study with a [synthetic] table makes up its text; drop one of the two")
    return parse_synthetic(table, languages=languages, place=place.at("synthetic"))
