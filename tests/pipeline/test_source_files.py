"""A file is its content: the same wherever it lies, another when it changes."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError, MissingDataError
from isoglot.pipeline.stages import source_files
from isoglot.pipeline.stages.source_files import SourceFile, source_file
from isoglot.pipeline.stages.text import WikipediaText


def opened(path: Path) -> SourceFile:
    return source_file(path, wanted_by="mine.toml")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large and was written long ago."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source_files, "LARGE_BYTES", 3)
    path = tmp_path / "large.txt"
    path.write_text("one")
    os.utime(path, (1e9, 1e9))
    return path


def test_an_artifact_made_from_a_file_depends_on_its_bytes_alone(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for path, text in zip(paths, ("one", "one", "two"), strict=True):
        path.write_text(text)
    a, b, c = (WikipediaText(dumps=(opened(path),)).digest for path in paths)
    assert a == b != c
    assert opened(paths[0]).sha256 == sha256("one")


def test_a_file_written_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    file = opened(path)
    file.check_unchanged()
    path.write_text("two")
    with pytest.raises(IsoglotError, match=r"a\.txt: changed while it was read; run again"):
        file.check_unchanged()


def test_a_missing_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "wiki.en.txt.xz").touch()
    for path, message in (
        ("wiki.fr.txt", r"^mine.toml: .*wiki\.fr\.txt: No such file .*; did you mean wiki.en.txt.xz\?"),
        ("nowhere/wiki.en.txt", "is --data or ISOGLOT_DATA the folder"),
        (".", "not a file"),
    ):
        with pytest.raises(MissingDataError, match=message):
            opened(tmp_path / path)


def test_a_large_file_is_read_once_until_it_changes(large: Path, tmp_path: Path) -> None:
    opened(large)
    cache = tmp_path / "cache" / "isoglot" / "digests.json"
    (key,) = json.loads(cache.read_text())
    cache.write_text(json.dumps({key: "from the cache"}))
    assert opened(large).sha256 == "from the cache"
    large.write_text("two")
    os.utime(large, (1e9 + 1, 1e9 + 1))
    assert opened(large).sha256 == sha256("two")
    cache.write_text("{ damaged")
    assert opened(large).sha256 == sha256("two")


def test_a_file_written_just_now_is_not_cached(large: Path, tmp_path: Path) -> None:
    large.write_text("two")
    assert opened(large).sha256 == sha256("two")
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_no_error(large: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    assert opened(large).sha256 == sha256("one")
