"""The lock: complete, hashed, and the same for every machine."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements/lock.txt").read_text(encoding="utf-8")
TORCH_BUILD = re.compile(r"^(torch|triton|nvidia|cuda)\b")


def name_of(requirement: str) -> str:
    """The spelling of the lock, with hyphens alone."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return re.sub(r"[._]", "-", name[0].lower())


def locked_entries() -> list[str]:
    return [entry for entry in re.split(r"\n(?=\S)", LOCK) if not entry.startswith("#") and entry.strip()]


def test_every_entry_is_pinned_and_hashed() -> None:
    entries = locked_entries()
    assert len(entries) > 20
    assert [entry for entry in entries if not re.match(r"[a-z0-9-]+==[^\s;]+", entry)] == []
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_what_belongs_to_the_machine_stays_out() -> None:
    assert [entry for entry in locked_entries() if TORCH_BUILD.match(entry)] == []
    assert re.search(r"://|^--|index-url", LOCK, flags=re.MULTILINE) is None


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {name_of(requirement) for requirement in project["project"]["dependencies"]}
    needed |= {name_of(requirement) for requirement in project["build-system"]["requires"]}
    development = (ROOT / "requirements/dev.in").read_text(encoding="utf-8").splitlines()
    needed |= {name_of(line) for line in development if line and not line.startswith("#")}
    assert needed - {name_of(entry) for entry in locked_entries()} == {"torch"}
