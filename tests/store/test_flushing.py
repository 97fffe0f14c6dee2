"""A power cut loses nothing that was committed: bytes are on the disk before the name, and the name soon after."""

import os
from pathlib import Path
from typing import Any

import pytest

from isoglot.files import write_whole
from isoglot.store import Store
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.store.toy_archives import JOINED, TEXT

Event = tuple[str, str, str]


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Paths that were flushed and renamed, in this order."""
    seen: list[Event] = []
    fsync = os.fsync

    def noting_fsync(descriptor: int) -> None:
        seen.append(("flush", str(Path(f"/proc/self/fd/{descriptor}").readlink()), ""))
        fsync(descriptor)

    def noting(name: str) -> Any:
        original = getattr(os, name)

        def renaming(source: Any, target: Any, **ways: Any) -> None:
            seen.append(("rename", os.path.realpath(source), os.path.realpath(target)))
            original(source, target, **ways)

        return renaming

    monkeypatch.setattr(os, "fsync", noting_fsync)
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, noting(name))
    return seen


def assert_durable(events: list[Event], target: Path) -> None:
    """All that a rename put at this place was flushed before it, and the folder that holds the name after it."""
    at, source = next((at, source) for at, (_, source, to) in enumerate(events) if to == os.path.realpath(target))
    before = {path for kind, path, _ in events[:at] if kind == "flush"}
    # Small files are flushed under the name of their draft.
    before |= {to for kind, draft, to in events[:at] if kind == "rename" and draft in before}
    inside = [target, *target.rglob("*")] if target.is_dir() else [target]
    needed = {str(Path(source) / path.relative_to(target)) for path in inside}
    assert needed - before == set()
    after = {path for kind, path, _ in events[at:] if kind == "flush"}
    assert os.path.realpath(target.parent) in after


def test_an_artifact_is_on_the_disk_before_it_has_its_name(store: Store, events: list[Event]) -> None:
    store.ensure(TEXT)
    store.ensure(JOINED)
    for stage in (TEXT, JOINED):
        assert_durable(events, store.folder(stage))


def test_so_are_small_files_packs_and_what_is_unpacked(store: Store, events: list[Event], tmp_path: Path) -> None:
    write_whole(tmp_path / "note.json", "{}")
    assert_durable(events, tmp_path / "note.json")
    store.ensure(TEXT)
    log = store.log_folder(TEXT) / "log.txt"
    log.parent.mkdir(parents=True)
    log.write_text("a log")
    write_pack(tmp_path / "pack.tar.xz", [TEXT], store, largest_file=1 << 20, always=[])
    assert_durable(events, tmp_path / "pack.tar.xz")
    elsewhere = Store(tmp_path / "elsewhere")
    unpack(tmp_path / "pack.tar.xz", elsewhere)
    for folder in (elsewhere.folder(TEXT), elsewhere.log_folder(TEXT)):
        assert_durable(events, folder)
