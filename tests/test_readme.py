"""Every command that README and the docs show works."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TINY_STUDY

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
ISOGLOT = Path(sys.executable).with_name("isoglot")
STUDIES = ("demo", "my-study.toml")


def shown_commands(text: str) -> list[str]:
    """Lines of `sh` blocks, and of `console` blocks those after a `$`."""
    commands = []
    for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        lines = block.replace("\\\n", " ").splitlines()
        shown = [line.removeprefix("$ ") for line in lines if kind == "sh" or line.startswith("$ ")]
        commands += [line.partition("  #")[0].strip() for line in shown if line.strip() and not line.startswith("#")]
    return commands


COMMANDS = list(
    dict.fromkeys(command for page in PAGES for command in shown_commands(page.read_text(encoding="utf-8")))
)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny study in place of every study that the pages name, already run."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    run_in(folder, [str(ISOGLOT), "run", "tiny.toml", "--store", "store"])
    return folder


def run_in(folder: Path, command: list[str]) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_commands_are_found_in_both_kinds_of_block() -> None:
    page = "```sh\nmake test  # all\n```\n```console\n$ isoglot list\ndemo\n```\n```python\nmake('x')\n```\n"
    assert shown_commands(page) == ["make test", "isoglot list"]
    assert COMMANDS[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("isoglot ")])
def test_isoglot_command_runs(command: str, workplace: Path) -> None:
    words = ["tiny.toml" if word in STUDIES else word for word in shlex.split(command)[1:]]
    store = ["--store", "store"] if "tiny.toml" in words else []
    assert run_in(workplace, [str(ISOGLOT), *words, *store]) != ""


@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.startswith("isoglot ")])
def test_other_command_is_possible(command: str) -> None:
    program, *words = shlex.split(command)
    match program:
        case "make":
            run_in(ROOT, ["make", "--dry-run", *words])
        case "cp":
            assert (ROOT / words[0]).is_file()
            assert words[1] in STUDIES
        case ".":
            assert words == [".venv/bin/activate"]
        case _:
            pytest.fail(f"this test does not know how to check {command!r}")
