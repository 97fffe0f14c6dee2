"""The house rules that a machine can check: which way imports go, how long files are, what they are called."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "isoglot"
# From the ground up; a part may import any part of a lower row, and none of its own row beside itself.
ROWS = (
    ("errors", "randomness", "suggestions"),
    ("environment",),
    ("workers", "searches", "user_commands", "transformers_library", "tensor_files", "checkpoint_files"),
    ("alignment_settings",),
    ("conditions", "scales", "languages", "synthetic_languages", "text_sources", "exhibit_names"),
    ("limits",),
    ("toml_tables",),
    ("task_files", "narrowing"),
    ("real_text",),
    ("study",),
    ("machine", "checkpoints", "background_writing", "cuda_graphs"),
    ("encoder", "corpora", "synthetic", "gpus", "free_memory"),
    ("pretraining", "transfer", "geometry", "interchange"),
    ("stages", "data_sets"),
    ("cells",),
    ("figures",),
    ("exhibits",),
    ("measurements", "cell_names"),
    ("report",),
    ("model_names",),
    ("options", "terminal", "standard_streams", "engines"),
    ("arguments", "slurm_options"),
    (
        *("data_command", "compare_command", "explain_command", "export_command", "pack_command", "report_command"),
        "run_command",
    ),
    ("cli",),
)
HEIGHT = {part: height for height, row in enumerate(ROWS) for part in row}
LIGHT = (
    *("cli", "engines", "data_command", "study", "cells", "figures", "exhibits", "measurements", "report", "artifacts"),
    *("conditions", "scales", "languages"),
)
HEAVY = {"torch", "transformers"}
LONGEST_FILE = 300
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
BANNED_WORDS = {"util", "helper", "common", "misc", "base", "core", "manager", "handler", "processor"}

MODULES = sorted(PACKAGE.rglob("*.py"))
OWN_FILES = [path for folder in ("isoglot", "tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def part_of(module: str) -> str | None:
    """`isoglot.corpora.bpe` belongs to `corpora`; `isoglot` itself to none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "isoglot" and len(parts) > 1 else None


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            # What is imported from a package may be a module of it.
            return [module, *(f"{module}.{alias.name}" for alias in names)]
    return []


def nodes_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """What Python runs when it imports a module: all but the bodies of functions and what is there for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from nodes_on_import(child)


def imports(path: Path) -> set[str]:
    return {name for node in ast.walk(tree(path)) for name in imported(node)}


def imports_on_import(path: Path) -> set[str]:
    return {name for node in nodes_on_import(tree(path)) for name in imported(node)}


def loaded_with(part: str) -> set[str]:
    """Every module that is loaded when a part of the package is, packages on the way included."""
    paths = {module_name(path): path for path in MODULES}
    waiting = [name for name in paths if part_of(name) == part]
    loaded: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            waiting += [name.rpartition(".")[0]] if "." in name else []
            waiting += imports_on_import(paths[name]) if name in paths else []
    return loaded


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(module_name(path))
    if part is None:
        assert not any(name.split(".")[0] == "isoglot" for name in imports(path))
        return
    others = {other for name in imports(path) if (other := part_of(name)) is not None} - {part}
    if part == "artifacts":
        assert others <= {"errors"}
        return
    assert part in HEIGHT, f"say in ROWS where {part!r} belongs"
    if HEIGHT[part] >= HEIGHT["stages"]:
        others -= {"artifacts"}
    assert [other for other in others if other not in HEIGHT or HEIGHT[other] >= HEIGHT[part]] == []


@pytest.mark.parametrize("part", LIGHT)
def test_what_must_start_fast_loads_no_torch(part: str) -> None:
    loaded = loaded_with(part)
    assert part in {part_of(name) for name in loaded}, "nothing was looked at"
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()


def test_artifacts_know_nothing_of_arrays_or_models() -> None:
    outside = {name.split(".")[0] for path in (PACKAGE / "artifacts").rglob("*.py") for name in imports(path)}
    assert outside & {"torch", "numpy", "tokenizers", "safetensors", "typer", "rich"} == set()


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short_and_named_for_one_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    for name in (path.stem, path.parent.name):
        words = {word.removesuffix("s") for word in name.lower().split("_")}
        assert words & BANNED_WORDS == set()
        assert name != "data"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_modules_say_what_they_are(path: Path) -> None:
    docstring = ast.get_docstring(tree(path))
    assert docstring is not None
    assert docstring.split("\n\n")[0].endswith((".", "?"))


def departures_in_code() -> dict[str, int]:
    counts = {
        str(path.relative_to(ROOT)): len(re.findall(r"# Departure:", path.read_text(encoding="utf-8")))
        for path in MODULES
    }
    return {path: count for path, count in counts.items() if count}


def test_every_departure_is_argued_and_every_argument_has_its_departure() -> None:
    argued = re.findall(
        r"^\*\*`(isoglot/[\w/]+\.py)`\*\*", (ROOT / "docs/departures.md").read_text(), flags=re.MULTILINE
    )
    assert {path: argued.count(path) for path in argued} == departures_in_code()


@pytest.mark.parametrize("page", PAGES)
def test_files_that_pages_name_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:isoglot|tests|docs|requirements|bench)/[\w/.*-]+)`", text)
    linked = re.findall(r"\]\((?!http|#)([^)#]+)", text)
    missing = [name for name in named if not list(ROOT.glob(name))]
    missing += [name for name in linked if not (ROOT / page).parent.joinpath(name).exists()]
    assert missing == []
