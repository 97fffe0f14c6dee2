"""A local server, and a data folder, for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpora.download.local_server import LocalServer


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"
