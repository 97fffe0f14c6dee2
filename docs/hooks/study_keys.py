"""Writes docs/keys.md: every key of a study file, from the dataclasses that hold them."""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import dedent
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from isoglot.study.exhibit_names import EXHIBITS, keys_of
from isoglot.study.real_text import LANGUAGE_RESOURCES, RESOURCES, SPLITS, HubDataset, task_names
from isoglot.study.scales import SCALES, Scale
from isoglot.study.synthetic_languages import Synthetic, SyntheticLanguage, World
from isoglot.study.toml_tables import KIND_NAMES, NONE

PAGE = Path(__file__).parents[1] / "keys.md"
OPENING = """# All keys of a study file

<!-- Written by docs/hooks/study_keys.py from the settings themselves; `make docs` writes it again. -->

[studies.md](studies.md) explains the keys at the top of a file. This page has those of its tables.
A setting that is `"none"` has no value of its own; its description says what holds then.
"""


def comments(cls: type) -> dict[str, str]:
    """The comment of each field: behind it, or in whole lines above it. A departure is argued elsewhere."""
    source = dedent(inspect.getsource(cls))
    lines, found = source.splitlines(), {}
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        above = []
        while (line := lines[node.lineno - 2 - len(above)].strip()).startswith("#"):
            above.insert(0, line.removeprefix("#").strip())
        behind = lines[(node.end_lineno or 0) - 1].encode()[node.end_col_offset :].decode().strip()
        if behind.startswith("#"):
            found[node.target.id] = behind.removeprefix("#").strip()
        elif above and not above[0].startswith("Departure:"):
            found[node.target.id] = " ".join(above)
    return found


def kind_words(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"{kind_words(arguments[0])}, {arguments[1].words}"
    if origin in (Union, UnionType):
        return kind_words(arguments[0])
    if origin is tuple:
        return f"a list, each {kind_words(arguments[0])}"
    if issubclass(kind, StrEnum):
        return ", ".join(f'`"{member.value}"`' for member in kind)
    return KIND_NAMES[kind]


def as_written(value: object) -> str:
    """A value as a study file has it."""
    match value:
        case None:
            return f'`"{NONE}"`'
        case bool():
            return f"`{str(value).lower()}`"
        case str():
            return f'`"{value}"`'
        case tuple():
            return f"`[{', '.join(as_written(item).strip('`') for item in value)}]`"
        case int():
            return f"`{value:_}`" if value > 9999 else f"`{value}`"
    return f"`{value:g}`"


def described(cls: type, field: Field[Any]) -> str:
    """Its comment, or else the docstring of the choices that it has."""
    kind = get_type_hints(cls)[field.name]
    choices = inspect.getdoc(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else None
    text = comments(cls).get(field.name) or choices or ""
    return text[:1].upper() + text[1:].removesuffix(".")


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [[*header], *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def key_rows(
    cls: type, *, prefix: str = "", settings: Mapping[str, object], skip: tuple[str, ...] = ()
) -> Iterator[list[str]]:
    """A row for each field: its key, what it is, what it takes, and its value in each of these settings."""
    kinds = get_type_hints(cls, include_extras=True)
    for field in fields(cls):
        if field.name not in skip and not is_dataclass(kinds[field.name]):
            values = [as_written(getattr(each, field.name)) for each in settings.values()]
            yield [f"`{prefix}{field.name}`", described(cls, field), kind_words(kinds[field.name]), *values]


def scale_tables(settings: Mapping[str, object], *, key: str = "", about: str = "") -> Iterator[str]:
    """The table of the keys of some settings, and of those of the settings within them."""
    cls, prefix = type(next(iter(settings.values()))), f"{key}." if key else ""
    if key:
        yield f"\n### change.{key}\n\n{about}{inspect.getdoc(cls)}\n"
    rows = key_rows(cls, prefix=prefix, settings=settings, skip=("name", "summary"))
    yield "\n" + table(("key", "what", "takes", *(f"`{name}`" for name in settings)), rows)
    for field in fields(cls):
        inner = {name: getattr(each, field.name) for name, each in settings.items()}
        if is_dataclass(next(iter(inner.values()))):
            own = f"{described(cls, field)}. " if field.name in comments(cls) else ""
            yield from scale_tables(inner, key=f"{prefix}{field.name}", about=own)


def default_rows(cls: type, *, skip: tuple[str, ...] = ()) -> Iterator[list[str]]:
    kinds = get_type_hints(cls, include_extras=True)
    for field in fields(cls):
        if field.name not in skip:
            default = "needed" if field.default is MISSING else as_written(field.default)
            yield [f"`{field.name}`", described(cls, field), kind_words(kinds[field.name]), default]


def page() -> str:
    header = ("key", "what", "takes", "if left out")
    named = {**RESOURCES, **LANGUAGE_RESOURCES}
    owners = {**dict.fromkeys(RESOURCES, "en-fr"), **dict.fromkeys(LANGUAGE_RESOURCES, "en")}
    resources = [[f"`{kind}.{owners[kind]}`", use] for kind, use in named.items()]
    tasks = ", ".join(f"`{task}`" for task in task_names())
    only = [
        [f"`[only.{name}]`", about, ", ".join(f"`{key}`" for key in keys_of(name))] for name, about in EXHIBITS.items()
    ]
    return "".join(
        (
            OPENING,
            f"\n## change\n\n{inspect.getdoc(Scale)} The columns are the scales:\n",
            *(f"\n- `{name}`: {scale.summary}" for name, scale in SCALES.items()),
            "\n",
            *scale_tables(SCALES),
            f"\n## synthetic\n\n{inspect.getdoc(Synthetic)}\n\n",
            table(header, default_rows(Synthetic, skip=("world", "languages"))),
            f"\n{inspect.getdoc(World)} Its keys stand in the same table:\n\n",
            table(header, default_rows(World)),
            f"\n### synthetic.languages.NAME\n\n{inspect.getdoc(SyntheticLanguage)}\n\n",
            table(header, default_rows(SyntheticLanguage, skip=("name",))),
            "\n## text\n\nA language has a file, a list of files, or a table ([text.md](text.md)). "
            f"The table is {inspect.getdoc(HubDataset)[:1].lower()}{inspect.getdoc(HubDataset)[1:]}\n\n",
            table(header, default_rows(HubDataset)),
            "\n## resources\n\nWith `en-fr` for the pair and `en` for the language:\n\n",
            table(("key", "files of"), resources),
            f"\nTasks are {tasks}. Each takes, as in `ner.en.train`:\n\n",
            table(("split", "files of"), ([f"`{split}`", use] for split, use in SPLITS.items())),
            "\n## only\n\nWhat an exhibit shows, and the lists that narrow it "
            "([studies.md](studies.md#one-study-several-questions)):\n\n",
            table(("table", "shows", "keys"), only),
        )
    )


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else PAGE
    target.write_text(page(), encoding="utf-8")
