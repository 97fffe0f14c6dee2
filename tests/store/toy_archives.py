"""A small archive to try unpacking with, and its like with other members."""

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Store, Work
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.killed_processes import files_of
from tests.store.toy_stages import Joined, Text


@dataclass(frozen=True, kw_only=True)
class Unlike(Text):
    """The same artifact as another machine might make it."""

    kind = "toy-text"

    def make(self, work: Work) -> None:
        super().make(work)
        (work.folder / "lines" / "1.txt").write_text("tref 1\n")


TEXT = Text(lines=11)
JOINED = Joined(texts=(TEXT,))
MANIFEST = "isoglot-pack.json"
OF_TEXT = f"toy-text-{TEXT.digest[:16]}"
LINE = f"summaries/{OF_TEXT}/lines/3.txt"
Members = dict[str, bytes | str]
"""By name; of a link, where it leads."""


def toy_archive(tmp_path: Path) -> Path:
    """The text as a summary, the joined one whole, and logs."""
    origin = Store(tmp_path / "origin")
    origin.ensure(TEXT)
    origin.ensure(JOINED)
    origin.log_folder(TEXT).mkdir(parents=True)
    (origin.log_folder(TEXT) / "log.txt").write_text("a log")
    path = tmp_path / "pack.tar.xz"
    write_pack(path, [TEXT, JOINED], origin, largest_file=7, always=["joined.txt"])
    return path


def members_of(path: Path) -> Members:
    with tarfile.open(path) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]


def listed(content: bytes | str) -> dict[str, Any]:
    content = content.encode() if isinstance(content, str) else content
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def seal(manifest: dict[str, Any]) -> None:
    """Give a manifest the checksum of all that it says."""
    manifest.pop("sha256", None)
    manifest["sha256"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def write_members(path: Path, members: Members, *, complete: bool = True) -> None:
    """Write an archive of these, with a manifest that lists them all if it is to be complete."""
    if complete:
        manifest = json.loads(members[MANIFEST])
        manifest["members"] = {name: listed(content) for name, content in members.items() if name != MANIFEST}
        seal(manifest)
        members = members | {MANIFEST: json.dumps(manifest).encode()}
    with tarfile.open(path, "w:xz") as tar:
        for name, content in members.items():
            header = tarfile.TarInfo(name)
            if isinstance(content, str):
                header.type, header.linkname = tarfile.SYMTYPE, content
            else:
                header.size = len(content)
            tar.addfile(header, None if isinstance(content, str) else io.BytesIO(content))


def refused(path: Path, root: Path) -> str:
    """The error for an archive that is refused before any of its files is in the store, or outside."""
    before, had_store = files_of(root.parent), root.exists()
    with pytest.raises(IsoglotError) as error:
        unpack(path, Store(root))
    assert files_of(root.parent) == before
    assert root.exists() == had_store
    assert str(path) in str(error.value)
    return str(error.value)
