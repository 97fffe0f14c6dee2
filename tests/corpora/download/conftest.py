"""A local server, and a data folder, for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from isoglot.corpora.download import fetching
from tests.corpora.download.local_server import LocalServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "TRIES", 3)
    monkeypatch.setattr(fetching, "FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 60)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"
