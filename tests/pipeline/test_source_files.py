"""A file is its content: the same wherever it lies, another when it changes."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from isoglot.errors import IsoglotError, MissingDataError
from isoglot.pipeline.stages import source_files
from isoglot.pipeline.stages.source_files import SourceFile, source_file
from isoglot.store import Stage, Work


@dataclass(frozen=True, kw_only=True)
class Reading(Stage):
    kind: ClassVar[str] = "reading"
    file: SourceFile

    def make(self, work: Work) -> None: ...


def found(path: Path) -> SourceFile:
    source_file.cache_clear()
    return source_file(path, wanted_by="mine.toml")


def test_what_is_made_of_a_file_depends_on_its_bytes_alone(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for path, text in zip(paths, ("one", "one", "two"), strict=True):
        path.write_text(text)
    a, b, c = (Reading(file=found(path)).digest for path in paths)
    assert a == b != c
    assert found(paths[0]).sha256 == hashlib.sha256(b"one").hexdigest()


def test_a_file_written_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    file = found(path)
    file.check_unchanged()
    path.write_text("two")
    with pytest.raises(IsoglotError, match=r"a\.txt: changed while it was read; run again"):
        file.check_unchanged()


def test_a_file_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "wiki.en.txt.xz").touch()
    with pytest.raises(
        MissingDataError, match=r"^mine.toml: .*wiki\.fr\.txt: No such file .*; did you mean wiki.en.txt.xz\?"
    ):
        found(tmp_path / "wiki.fr.txt")
    with pytest.raises(MissingDataError, match=r"is --data or ISOGLOT_DATA the folder"):
        found(tmp_path / "nowhere" / "wiki.en.txt")
    with pytest.raises(MissingDataError, match=r"not a file"):
        found(tmp_path)


def test_a_large_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source_files, "LARGE_BYTES", 3)
    path = tmp_path / "large.txt"
    path.write_text("one")
    os.utime(path, (1e9, 1e9))
    first = found(path)
    kept = tmp_path / "cache" / "isoglot" / "digests.json"
    (key,) = json.loads(kept.read_text())
    kept.write_text(json.dumps({key: "from the cache"}))
    assert found(path).sha256 == "from the cache"
    path.write_text("two")
    os.utime(path, (2e9 - 1e9 + 1, 1e9 + 1))
    assert found(path).sha256 == hashlib.sha256(b"two").hexdigest() != first.sha256
    kept.write_text("{ damaged")
    assert found(path).sha256 == hashlib.sha256(b"two").hexdigest()


def test_a_file_written_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source_files, "LARGE_BYTES", 3)
    (tmp_path / "large.txt").write_text("one")
    found(tmp_path / "large.txt")
    assert not (tmp_path / "cache").exists()


def test_no_place_to_remember_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source_files, "LARGE_BYTES", 3)
    path = tmp_path / "large.txt"
    path.write_text("one")
    os.utime(path, (1e9, 1e9))
    assert found(path).sha256 == hashlib.sha256(b"one").hexdigest()
