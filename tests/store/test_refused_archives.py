"""Archives that are refused: whole, in plain words, and without a file written anywhere."""

import json
import lzma
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from isoglot.store import Store
from isoglot.store.unpacking import unpack
from tests.oracles import sealed
from tests.store.toy_archives import JOINED, LINE, MANIFEST, OF_TEXT, Members, members_of, refused, seal, write_members


def test_files_of_another_sort_leave_no_trace(archive: Path, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "other"
    for content in (b"", b"no archive\n", lzma.compress(b"no tar\n" * 200), lzma.compress(b"")):
        path.write_bytes(content)
        assert f"{path}: not an archive of `isoglot pack`" in refused(path, root)
    with tarfile.open(path, "w:xz") as tar:
        tar.add(archive, "pack.tar.xz")
    assert "not an archive of `isoglot pack`" in refused(path, root)
    path.unlink()
    assert f"{path}: cannot be read (No such file or directory)" in refused(path, root)
    assert "cannot be read (Is a directory)" in refused(tmp_path, root)
    assert not root.exists()


def with_member(name: str, content: bytes | str) -> Callable[[Members], Members]:
    return lambda members: members | {name: content}


def without(name: str) -> Callable[[Members], Members]:
    return lambda members: {each: content for each, content in members.items() if each != name}


def with_record(**changes: object) -> Callable[[Members], Members]:
    name = f"summaries/{OF_TEXT}/record.json"
    return lambda members: members | {name: sealed(json.loads(members[name]) | changes).encode()}


def with_manifest(*, sealed: bool = True, **changes: object) -> Callable[[Members], Members]:
    def changed(members: Members) -> Members:
        manifest = json.loads(members[MANIFEST]) | changes
        if sealed:
            seal(manifest)
        return members | {MANIFEST: json.dumps(manifest).encode()}

    return changed


OUTSIDE = "is named to be written outside of the store"
FOREIGN = "is no file of an artifact"
REFUSALS: list[tuple[Callable[[Members], Members], str]] = [
    (with_member("/tmp/isoglot-evil", b"x"), OUTSIDE),
    (with_member(f"artifacts/{OF_TEXT}/../../../evil", b"x"), OUTSIDE),
    (with_member("../evil", b"x"), OUTSIDE),
    (with_member(f"artifacts/{OF_TEXT}/..\\evil", b"x"), OUTSIDE),
    (with_member("evil", b"x"), FOREIGN),
    (with_member("artifacts/evil/x", b"x"), FOREIGN),
    (with_member(f"reports/{OF_TEXT}/x", b"x"), FOREIGN),
    (with_member(f"artifacts/{OF_TEXT}", b"x"), FOREIGN),
    (with_manifest(logs=["../../evil"]), OUTSIDE),
    (with_manifest(logs=["evil"]), FOREIGN),
    (with_member(f"summaries/{OF_TEXT}/lines/link", "/etc/passwd"), "is a link or no plain file"),
    (with_member(f"{LINE}/deep", b"x"), r"lines/3\.txt' is both a file and a folder"),
    (
        with_member(f"logs/{OF_TEXT}/{'a' * 300}", b"x"),
        r"the name of a file in it is too long for a disk \(a{40}\.\.\.\)",
    ),
    (with_manifest(format=3), r"has format 3, and this isoglot reads up to 2: update isoglot"),
    (with_member(f"logs/{OF_TEXT}/4711_report.pkl", b"x"), r"4711_report\.pkl' is a program, and no log"),
    (with_member(f"logs/{OF_TEXT}/deep/RUN.SH", b"x"), r"RUN\.SH' is a program, and no log"),
    (with_manifest(format="new"), "does not say what it holds"),
    (with_manifest(members=[], format=None), "does not say what it holds"),
    (with_member(LINE, b"TREE 3\n"), r"lines/3\.txt is not what its record says"),
    (with_member(f"summaries/{OF_TEXT}/lines/12.txt", b"tree 12\n"), r"lines/12\.txt is not what its record says"),
    (without(f"artifacts/toy-joined-{JOINED.digest[:16]}/joined.txt"), r"joined\.txt is not what its record says"),
    (with_member(f"artifacts/{OF_TEXT}/lines/3.txt", b"tree 3\n"), r"artifacts/toy-text-\w+ has no record\.json"),
    (with_record(format=4), r"record\.json has format 4, and this isoglot reads up to 3: update isoglot"),
    (with_record(settings={"word": "tree", "lines": 12}), r"record\.json was changed"),
    (with_record(files=3), r"record\.json is not the record of an artifact"),
    (
        lambda members: (
            {name.replace(OF_TEXT, f"toy-text-{'0' * 16}"): each for name, each in members.items()}
            | {MANIFEST: json.dumps({"format": 2, "logs": []}).encode()}
        ),
        rf"record\.json is of another artifact \({OF_TEXT}\)",
    ),
]


OF_MANIFEST: list[tuple[Callable[[Members], Members], str]] = [
    (
        with_manifest(members={LINE: {"bytes": 10**18, "sha256": ""}}),
        r"takes 1,000,000,000,000,000,000 bytes, and [\d,]+ are free for the store",
    ),
    (with_manifest(members={LINE: {"bytes": -1, "sha256": ""}}), "does not say what it holds"),
    (with_manifest(sealed=False, logs=[]), "does not say what it holds"),
    (with_member(f"logs/{OF_TEXT}/log.txt", b"b log"), r"log\.txt' is not as isoglot-pack\.json in it says"),
    (with_record(seconds=9.5), r"record\.json' is not as isoglot-pack\.json in it says"),
    (without(LINE), r"1 files are missing in it, '.*lines/3\.txt' among them"),
    (with_member(LINE, b"longer than listed"), r"lines/3\.txt' is not as isoglot-pack\.json in it says"),
    (with_member(f"logs/{OF_TEXT}/more.txt", b"x"), r"more\.txt' is not as isoglot-pack\.json in it says"),
]


@pytest.mark.parametrize(
    ("change", "complaint", "complete"),
    [(*each, True) for each in REFUSALS] + [(*each, False) for each in OF_MANIFEST],
)
def test_refusals(
    archive: Path, root: Path, tmp_path: Path, change: Callable[[Members], Members], complaint: str, complete: bool
) -> None:
    changed = tmp_path / "changed.tar.xz"
    write_members(changed, change(members_of(archive)), complete=complete)
    assert re.search(complaint, refused(changed, root))


def test_an_archive_of_the_same_members_is_unpacked(archive: Path, root: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tar.xz"
    write_members(again, members_of(archive))
    assert unpack(again, Store(root)).whole == 1


def test_a_manifest_of_any_size_is_not_read(root: Path, tmp_path: Path) -> None:
    header = tarfile.TarInfo(MANIFEST)
    header.size = 1 << 40
    path = tmp_path / "large.tar.xz"
    path.write_bytes(lzma.compress(header.tobuf()))
    assert f"{MANIFEST} in it has 1,099,511,627,776 bytes, more than any archive needs" in refused(path, root)


def test_an_archive_of_another_format_is_refused(archive: Path, root: Path, tmp_path: Path) -> None:
    members = members_of(archive)
    manifest = json.loads(members[MANIFEST])
    for number, complaint in ((1, "has format 1, which is no longer read: pack it again"), (3, "update isoglot")):
        other = tmp_path / f"{number}.tar.xz"
        content = json.dumps(manifest | {"format": number}).encode()
        write_members(other, members | {MANIFEST: content}, complete=False)
        assert complaint in refused(other, root)
