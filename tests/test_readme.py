"""README is short, goes from a sentence to where to go next, and works verbatim; so do the commands of the docs."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Workplace, answered, environment
from real_studies import write_real_study

import isoglot as ig
from isoglot.cli import app
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.study_file import builtin_study_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The commands of docs/tutorial.md are one path, which tests/test_newcomer.py goes.
PAGES = (ROOT / "CONTRIBUTING.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem != "tutorial"))
# Pages for newcomers, in sentences that are read once.
PLAIN_PAGES = ("README", "docs/tutorial", "docs/demo", "docs/commands", "docs/api", "docs/studies", "docs/adding")
MOST_WORDS = 700
LONGEST_SENTENCE = 25
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


def test_readme_is_short_and_in_order() -> None:
    assert len(README.split()) < MOST_WORDS
    opening, *_ = README.removeprefix("# isoglot\n\n").partition("\n\n")
    assert re.fullmatch(r"[^.\n]+\.", opening), "one sentence says what it is"
    parts = ("<picture>", "```sh\nmake demo", "| model |", "```python", "results/replication", "## Cite", "## Next")
    places = [README.index(part) for part in parts]
    assert places == sorted(places)
    for picture in re.findall(r'src(?:set)?="([^"]+)"', README):
        assert (ROOT / picture).stat().st_size < 150_000


def test_the_citation_is_the_papers() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    names = ["Conneau", "Wu", "Li", "Zettlemoyer", "Stoyanov"]
    assert re.findall(r"family-names: (\w+)", citation) == names
    quoted = README.split("## Cite")[1]
    assert [name for name in re.findall(r"\w+", quoted) if name in names] == names
    for text in (citation, README):
        assert "https://aclanthology.org/2020.acl-main.536/" in text
    assert f"version: {ig.__version__}\n" in citation


def sentences(page: str) -> list[str]:
    """Prose alone: no code, tables, headings or HTML; a colon ends a sentence as well."""
    prose = re.sub(r"^```.*?^```|<[^>]*>", "\n\n", page, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^(\||#|>).*$", "\n", prose, flags=re.MULTILINE)
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    paragraphs = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s+", prose, flags=re.MULTILINE)
    return [each for part in paragraphs for each in re.split(r"(?<=[.!?:])[\"*)]*\s+", " ".join(part.split())) if each]


@pytest.mark.parametrize("page", PLAIN_PAGES)
def test_sentences_are_short(page: str) -> None:
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    assert [each for each in sentences(text) if len(each.split()) > LONGEST_SENTENCE] == []


def test_every_exhibit_is_listed_where_users_look() -> None:
    """The table of docs/report.md names each; `isoglot list` does as well (tests/cli/test_cli.py)."""
    table = (ROOT / "docs" / "report.md").read_text(encoding="utf-8").split("## Exhibits")[1].split("\n## ")[0]
    listed = {*re.findall(r"`([a-z]+(?:-[a-z\d]+)?)`", table)}
    assert listed - {"exhibits"} == {*EXHIBITS}


def test_a_page_shows_every_command() -> None:
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    shown = {command.split()[1] for command in shown_commands(page) if command.startswith("isoglot ")}
    assert {each.name or each.callback.__name__ for each in app.registered_commands if each.callback} == shown


def test_readme_works_where_there_is_nothing_but_the_demo(finished: Workplace, tmp_path: Path) -> None:
    """Its commands and its Python one after the other, as after make demo: a tiny study stands for the demo."""
    folder = Path(shutil.copytree(finished.folder, tmp_path / "clone"))
    commands = [command for command in shown_commands(README) if command.startswith("isoglot ")]
    assert len(commands) > 3
    for command in commands:
        answer = answered(*map(stand_in, shlex.split(command)[1:]), folder=folder)
        assert (answer.returncode, answer.stdout != "") == (0, True), answer.stderr
    [block] = re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    script, variables = block.replace('"demo', '"tiny.toml'), environment() | {"PYTHONPATH": str(ROOT)}
    # isoglot itself warns of models that learned nothing, as these.
    command = [sys.executable, "-W", "error", "-W", "default::UserWarning", "-c", script]
    run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    printed = [line.split() for line in run.stdout.splitlines()]
    assert [words[0] for words in printed[-3:-1]] == ["default", "sep-l4"]
    assert run.stdout.endswith("(2, 16)\n")
    assert (folder / "out/report.html").is_file()


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
        answered("pack", "tiny.toml", "--to", archive, folder=folder)
    return folder


def stand_in(word: str) -> str:
    study, *of_model = word.split(":")
    if study in STUDIES:
        return ":".join(["tiny.toml", *of_model])
    return {"DATA": "."}.get(word, "real.toml" if (ROOT / word).is_file() else word)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("isoglot ")])
def test_isoglot_command_runs(command: str, workplace: Path) -> None:
    answer = answered(*map(stand_in, shlex.split(command)[1:]), folder=workplace)
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
