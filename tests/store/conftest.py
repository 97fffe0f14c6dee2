"""A store of its own for each test."""

from pathlib import Path

import pytest

from isoglot.store import Store
from tests.store.stand_in_cluster import Cluster, stand_in_cluster
from tests.store.toy_archives import toy_archive


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> Store:
    return Store(root)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return stand_in_cluster(tmp_path, monkeypatch)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return toy_archive(tmp_path)
