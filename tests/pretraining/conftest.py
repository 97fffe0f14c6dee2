"""Streams that many tests read."""

from pathlib import Path

import pytest

from isoglot.corpora.streams import TokenStream
from isoglot.study.conditions import TableKind
from tests.pretraining.tiny_runs import write_streams


@pytest.fixture(scope="session")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenStream]:
    """Streams with one table for both languages."""
    return write_streams(tmp_path_factory.mktemp("joint"))


@pytest.fixture(scope="session")
def separate_streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenStream]:
    """Streams with a table for each language."""
    return write_streams(tmp_path_factory.mktemp("separate"), kind=TableKind.SEPARATE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a run leaves its files."""
    folder = tmp_path / "run"
    folder.mkdir()
    return folder
