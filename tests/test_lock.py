"""The locks: complete, hashed, the same for every machine, and each installed by those who need it."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKS = {name: (ROOT / "requirements" / name).read_text(encoding="utf-8") for name in ("lock.txt", "dev-lock.txt")}
TORCH_BUILD = re.compile(r"^(torch|triton|nvidia|cuda)\b")


def name_of(requirement: str) -> str:
    """The spelling of the lock, with hyphens alone."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return re.sub(r"[._]", "-", name[0].lower())


def locked_entries(lock: str) -> list[str]:
    return [entry for entry in re.split(r"\n(?=\S)", LOCKS[lock]) if not entry.startswith("#") and entry.strip()]


def locked_names(lock: str) -> set[str]:
    return {name_of(entry) for entry in locked_entries(lock)}


def listed(file: str) -> set[str]:
    lines = (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines()
    return {name_of(line) for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_pinned_and_hashed(lock: str) -> None:
    entries = locked_entries(lock)
    assert len(entries) > 20
    assert [entry for entry in entries if not re.match(r"[a-z0-9-]+==[^\s;]+", entry)] == []
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_what_belongs_to_the_machine_stays_out(lock: str) -> None:
    assert [entry for entry in locked_entries(lock) if TORCH_BUILD.match(entry)] == []
    assert re.search(r"://|^--|index-url", LOCKS[lock], flags=re.MULTILINE) is None


def locked_here(lock: str) -> set[str]:
    """Without what a lock wants on other platforms alone."""
    requirements = (Requirement(entry.partition("\\")[0]) for entry in locked_entries(lock))
    return {name_of(each.name) for each in requirements if each.marker is None or each.marker.evaluate()}


@pytest.mark.parametrize("locks", [("lock.txt",), ("lock.txt", "dev-lock.txt")], ids=" and ".join)
def test_pip_finds_all_that_the_locked_packages_need(locks: tuple[str, ...]) -> None:
    """Once a lock named for Windows alone what another package needed everywhere: no fresh machine could be set up."""
    locked = {name for lock in locks for name in locked_here(lock)}
    needed = {
        (name, name_of(requirement.name))
        for name in locked
        for requirement in map(Requirement, metadata.requires(name) or ())
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    }
    assert len(needed) > 20
    assert {(name, other) for name, other in needed if other not in locked} == set()


def test_every_dependency_is_locked_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {name_of(requirement) for requirement in project["project"]["dependencies"]}
    needed |= {name_of(requirement) for requirement in project["build-system"]["requires"]}
    running, developing = locked_names("lock.txt"), locked_names("dev-lock.txt")
    assert (needed | listed("run.in")) - running == {"torch"}
    assert listed("dev.in") <= developing
    # pip would refuse a package with two sets of hashes; colorama has one, for Windows and for the documentation.
    assert running & developing == {"colorama"}


def commands_of(target: str, folder: Path) -> str:
    """The commands that make would run for a target where nothing is installed yet."""
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    return subprocess.run(
        ["make", "--dry-run", target], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.replace("\\\n", " ")


def test_a_demo_installs_what_running_needs_and_shows_it(tmp_path: Path) -> None:
    installs = re.findall(r"pip install.*", commands_of("demo", tmp_path))
    assert [re.findall(r"requirements/\S+", line) for line in installs] == [
        ["requirements/lock.txt"],
        ["requirements/torch.txt"],
        [],
    ]
    assert not any("quiet" in line for line in installs), "minutes of silence look like a hang"


@pytest.mark.parametrize("target", ["check", "test", "test-all", "bench"])
def test_developers_get_both_locks(target: str, tmp_path: Path) -> None:
    installs = re.findall(r"pip install.*", commands_of(target, tmp_path))
    assert "-r requirements/dev-lock.txt" in installs[-1]
    assert all("--require-hashes" in line for line in installs if "lock.txt" in line)


def test_a_changed_lock_is_installed_again_for_those_who_need_it(tmp_path: Path) -> None:
    commands_of("demo", tmp_path)
    (tmp_path / ".venv").mkdir()
    for stamp in (".ready", ".tools-ready"):
        (tmp_path / ".venv" / stamp).touch()

    def installs(target: str) -> int:
        made = subprocess.run(["make", "--dry-run", target], cwd=tmp_path, capture_output=True, text=True, check=True)
        return made.stdout.count("pip install")

    assert (installs("demo"), installs("check")) == (0, 0)
    later = (tmp_path / ".venv" / ".tools-ready").stat().st_mtime + 10
    os.utime(tmp_path / "requirements" / "dev-lock.txt", (later, later))
    assert (installs("demo"), installs("check")) == (0, 1)
    os.utime(tmp_path / "requirements" / "lock.txt", (later, later))
    assert (installs("demo"), installs("check")) == (3, 4)
