"""Every command that README and the docs show works."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import Workplace, isoglot
from real_studies import write_real_study

from isoglot.cli import app
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study import builtin_study_names

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
STUDIES = (*builtin_study_names(), "my-study.toml")


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


def test_commands_are_found_in_both_kinds_of_block() -> None:
    page = "```sh\nmake test  # all\n```\n```console\n$ isoglot list\ndemo\n```\n```python\nmake('x')\n```\n"
    assert shown_commands(page) == ["make test", "isoglot list"]
    assert COMMANDS[:2] == ["make demo", "make test"]


def test_every_exhibit_is_listed_where_users_look() -> None:
    """The table of docs/report.md names each; `isoglot list` does as well (tests/cli/test_cli.py)."""
    table = (ROOT / "docs" / "report.md").read_text(encoding="utf-8").split("## Exhibits")[1].split("\n## ")[0]
    listed = {*re.findall(r"`([a-z]+(?:-[a-z\d]+)?)`", table)}
    assert listed - {"exhibits"} == {*EXHIBITS}


def test_readme_shows_every_command() -> None:
    commands = (ROOT / "README.md").read_text(encoding="utf-8").split("## Commands")[1].split("\n## ")[0]
    shown = {command.split()[1] for command in shown_commands(commands) if command.startswith("isoglot ")}
    assert {each.name or each.callback.__name__ for each in app.registered_commands if each.callback} == shown


@pytest.fixture(scope="module")
def workplace(finished: Workplace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny studies to stand for each that the pages name: one that was run before, and one of real languages."""
    folder = Path(shutil.copytree(finished.folder, tmp_path_factory.mktemp("readme") / "copy"))
    write_real_study(folder)
    # Enough lines for models to be compared by.
    world, languages = finished.study.text.world, finished.study.text.languages
    for language in languages:
        lines = realise(draw_meanings(world, count=120, seed=1), language, world=world)
        (folder / f"{language.name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for archive in ("demo.tar.xz", "first.tar.xz"):
        isoglot("pack", "tiny.toml", "--to", archive, folder=folder)
    return folder


def stand_in(word: str) -> str:
    study, *of_model = word.split(":")
    if study in STUDIES:
        return ":".join(["tiny.toml", *of_model])
    return {"DATA": "."}.get(word, "real.toml" if (ROOT / word).is_file() else word)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("isoglot ")])
def test_isoglot_command_runs(command: str, workplace: Path) -> None:
    answer = isoglot(*map(stand_in, shlex.split(command)[1:]), folder=workplace)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout != ""


@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.startswith("isoglot ")])
def test_other_command_is_possible(command: str) -> None:
    program, *words = shlex.split(command)
    match program:
        case "make":
            subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, check=True)
        case "cp":
            assert (ROOT / words[0]).is_file()
            assert words[1] in STUDIES
        case ".":
            assert words == [".venv/bin/activate"]
        case "python":
            assert (ROOT / words[0]).is_file()
        case "export":
            assert words == ["ISOGLOT_DATA=DATA"]
        case _:
            pytest.fail(f"this test does not know how to check {command!r}")
