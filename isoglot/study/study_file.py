"""A study's TOML file: its keys, the built-in ones, and a study that is like another but for a few lines."""

from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path

from isoglot.errors import IsoglotError, suggestion
from isoglot.study.conditions import CONDITIONS
from isoglot.study.exhibit_names import ALWAYS_SHOWN, exhibits_named, parse_filters
from isoglot.study.languages import check_name
from isoglot.study.real_text import RealText, parse_real_text, task_names
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


def read_study(name_or_path: str | Path, *, data: Path | None = None) -> Study:
    """A built-in study by its name, or any other by its file; paths in it start from `data`, or the file's folder."""
    name, folder = str(name_or_path), Path(name_or_path).parent
    if name in builtin_study_names():
        return parse_study(_file_text(name), origin=f"built-in study {name}")
    return parse_study(_file_text(name), origin=name, data=data or folder, folder=folder)


def _file_text(name: str) -> str:
    if name in builtin_study_names():
        return (BUILTIN_STUDIES / f"{name}.toml").read_text(encoding="utf-8")
    try:
        return Path(name).read_text(encoding="utf-8")
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
        table = _over_another(table, folder=folder, data=data, place=place)
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
            table.get("conditions", list(CONDITIONS)), scale=scale, place=place.at("conditions")
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


def _over_another(table: Table, *, folder: Path, data: Path, place: FileKey) -> Table:
    """The table laid over that of the study it is like, without what that one says of languages this one has not."""
    check_keys(table, KEYS, needed=("name",), place=place)
    names = {file.name: str(file) for file in sorted(folder.glob("*.toml"))}
    names |= {name: name for name in builtin_study_names()}
    other = names[known_name(table["like"], names, place=place.at("like"))]
    below = parsed_toml(_file_text(other), place=FileKey(file=other))
    if "like" in below:
        raise place.at("like").error(f"{other} is like another study itself; name that one: {below['like']!r}")
    # A mistake in the other file is told as its own.
    languages = parse_study(_file_text(other), origin=other, data=data).languages
    kept = table["languages"] if isinstance(table.get("languages"), list) else languages
    gone = {name for name in languages if name not in kept}
    gone |= {f"{a}-{b}" for a, b in product(languages, repeat=2) if not (a in kept and b in kept)}
    # Text of one kind replaces that of the other; [only] narrows exhibits by lists that may be others here.
    other_kind = OF_REAL_TEXT if "synthetic" in table else ("synthetic",) if {*OF_REAL_TEXT} & {*table} else ()
    below = {key: value for key, value in below.items() if key not in ("only", *other_kind)}
    return laid_over({key: without(value, gone) for key, value in below.items()}, table)


def _text(table: Table, *, languages: tuple[str, ...], data: Path, place: FileKey) -> Synthetic | RealText:
    if "synthetic" not in table:
        return parse_real_text(table, languages=languages, data=data, place=place)
    for key in OF_REAL_TEXT:
        if key in table:
            raise place.at(key).error("a study with a [synthetic] table makes up its text; drop one of the two")
    return parse_synthetic(table, languages=languages, place=place.at("synthetic"))
