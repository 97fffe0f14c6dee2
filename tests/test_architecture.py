"""The house rules that a machine can check: which way imports go, how long files are, what they are called."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "isoglot"
# From the ground up; a room may import any room of a lower row, and none of its own row beside itself.
ROWS = (
    ("errors",),
    ("randomness", "files", "machine", "processes"),
    ("hardware",),
    ("study",),
    ("corpora",),
    ("model",),
    ("pretraining", "evaluation"),
    ("pipeline",),
    ("report",),
    ("cli",),
    ("__main__",),
)
HEIGHT = {part: height for height, row in enumerate(ROWS) for part in row}
ROOT_MODULES = [part for row in ROWS[:3] for part in row]
IMPORTERS_OF_THE_STORE = ("pipeline", "report", "cli")
HEAVY = {"torch", "transformers", "tokenizers", "safetensors"}
LIGHT = {
    "cli": HEAVY | {"numpy", "pydantic"},
    "study": HEAVY | {"numpy"},
    "store": HEAVY | {"numpy"},
    "report": HEAVY,
}
LONGEST_FILE = 300
SMALL_FILE = 60
MOST_ROOT_MODULES = 7
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
HALF_SENTENCES = {"Of", "That", "Those", "Whose", "What"}
BANNED_WORDS = {"util", "helper", "common", "misc", "base", "core", "manager", "handler", "processor"}

MODULES = sorted(PACKAGE.rglob("*.py"))
OWN_FILES = [path for folder in ("isoglot", "tests", "bench", "docs") for path in sorted((ROOT / folder).rglob("*.py"))]


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


def imports(path: Path) -> set[str]:
    return {name for node in ast.walk(tree(path)) for name in imported(node)}


def against_the_direction(path: Path) -> Iterator[str]:
    part = part_of(module_name(path))
    for name in imports(path):
        other = part_of(name)
        if part is None or other in (None, part):
            continue
        if part == "store":
            is_allowed = other in ROOT_MODULES
        elif other == "store":
            is_allowed = part in IMPORTERS_OF_THE_STORE
        else:
            is_allowed = HEIGHT[other] < HEIGHT[part]
        if not is_allowed:
            yield f"{module_name(path)} imports {name}"


def test_imports_go_one_way() -> None:
    """A new room or root module gives a KeyError here: say in ROWS where it belongs."""
    assert [fault for path in MODULES for fault in against_the_direction(path)] == []


@pytest.mark.parametrize(("part", "heavy"), LIGHT.items())
def test_what_must_start_fast_loads_nothing_heavy(part: str, heavy: set[str]) -> None:
    """None of its modules does, whatever they import in turn."""
    modules = [module_name(path) for path in MODULES if part_of(module_name(path)) == part]
    assert f"isoglot.{part}" in modules
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert {*loaded.split()} & heavy == set()


def test_the_store_knows_nothing_of_language_arrays_or_terminals() -> None:
    outside = {name.split(".")[0] for path in (PACKAGE / "store").rglob("*.py") for name in imports(path)}
    assert outside & {"torch", "numpy", "tokenizers", "safetensors", "typer", "rich"} == set()


def test_files_are_short_and_named_for_one_idea_and_say_what_they_are() -> None:
    faults = []
    for path in OWN_FILES:
        name = str(path.relative_to(ROOT))
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE:
            faults.append(f"{name} has {lines} lines")
        words = {word.removesuffix("s") for stem in (path.stem, path.parent.name) for word in stem.lower().split("_")}
        faults += [f"{name} has {word!r} in its name" for word in words & BANNED_WORDS]
        docstring = ast.get_docstring(tree(path)) if PACKAGE in path.parents else "A test."
        if docstring is None or not docstring.split("\n\n")[0].endswith((".", "?")):
            faults.append(f"{name} does not begin with a sentence about itself")
    assert faults == []


def test_docstrings_begin_with_a_noun_or_a_sentence() -> None:
    """ "Of an update." makes a reader look for the other half; a string on a line of its own is a docstring too."""
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} begins with {node.value.value.split()[0]!r}"
        for path in OWN_FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and node.value.value.split()[:1]
        and node.value.value.split()[0] in HALF_SENTENCES
    ]
    assert faults == []


def test_a_small_module_with_one_importer_is_part_of_that_importer() -> None:
    names = {module_name(path): path for path in MODULES if path.name != "__init__.py"}
    importers: dict[str, set[Path]] = {name: set() for name in names}
    for path in MODULES:
        for name in imports(path) & names.keys():
            importers[name].add(path)
    small = [
        f"{name} belongs in {module_name(min(importers[name]))}"
        for name, path in names.items()
        if len(importers[name]) == 1 and len(path.read_text(encoding="utf-8").splitlines()) < SMALL_FILE
    ]
    assert small == []


def test_the_house_has_few_rooms() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == {*HEIGHT, "store"} - {*ROOT_MODULES, "__main__"}
    assert len({*PACKAGE.glob("*.py")} - {PACKAGE / "__main__.py"}) <= MOST_ROOT_MODULES


def test_files_that_pages_name_exist() -> None:
    missing = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        named = re.findall(r"`((?:isoglot|tests|docs|requirements|bench)/[\w/.*-]+)`", text)
        missing += [f"{page}: {name}" for name in named if not list(ROOT.glob(name))]
    assert missing == []
