"""Commands whose output nobody reads any more: what prints ends quietly, what makes something goes on."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import ISOGLOT, environment, isoglot
from study_texts import TINY_STUDY

STUDY = ("tiny.toml", "--exhibits", "vocabulary")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unread")
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    return folder


@pytest.fixture
def closed_pipe() -> Iterator[int]:
    """As after `| head -1`, once it has its line."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def unread(*words: str, folder: Path, pipe: int, errors: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [str(ISOGLOT), *words]
    return subprocess.run(
        command, cwd=folder, env=environment(), stdout=pipe, stderr=errors, text=True, timeout=600, check=False
    )


def test_a_run_goes_on_and_says_so_once(folder: Path, closed_pipe: int) -> None:
    answer = unread("run", *STUDY, "--store", "my store", folder=folder, pipe=closed_pipe)
    assert (answer.returncode, answer.stderr) == (
        0,
        "isoglot: its output is read no more (a closed pipe); the run goes on, see: "
        "isoglot plan tiny.toml --store 'my store'\n",
    )
    assert " 0 to make" in isoglot("plan", *STUDY, "--store", "my store", folder=folder).stdout
    assert list(folder.glob("my store/reports/*/report.html"))


@pytest.mark.campaign
def test_a_run_goes_on_where_nobody_reads_its_errors_either(folder: Path, closed_pipe: int) -> None:
    answer = unread("run", *STUDY, "--workers", "2", folder=folder, pipe=closed_pipe, errors=closed_pipe)
    assert answer.returncode == 0
    assert " 0 to make" in isoglot("plan", *STUDY, folder=folder).stdout


@pytest.mark.parametrize("words", [("results", *STUDY, "--store", "my store", "--json"), ("list",), ("--help",)])
def test_what_only_prints_ends_as_by_sigpipe(words: tuple[str, ...], folder: Path, closed_pipe: int) -> None:
    answer = unread(*words, folder=folder, pipe=closed_pipe)
    assert (answer.returncode, answer.stderr) == (141, "")
