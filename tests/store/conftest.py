"""A store of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from isoglot.store import Store
from tests.store.toy_archives import toy_archive
from tests.store.toy_stages import Mortals


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> Store:
    return Store(root)


@pytest.fixture(scope="session")
def mortals() -> Iterator[Mortals]:
    mortals = Mortals()
    yield mortals
    mortals.close()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return toy_archive(tmp_path)
