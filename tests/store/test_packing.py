"""Archives: which files of a store travel, and that the same artifacts always give the same bytes."""

import lzma
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Stage, Store
from isoglot.store.packing import Packed, archive_path, write_pack
from isoglot.store.unpacking import unpack
from tests.store.toy_stages import Joined, Text

# Files of 7 bytes, but for the last, "tree 10", which has 8.
TEXT = Text(lines=11)
JOINED = Joined(texts=(TEXT,))


@pytest.fixture
def made(store: Store) -> Store:
    store.ensure(TEXT)
    store.ensure(JOINED)
    return store


def packed(path: Path, store: Store, *stages: Stage, limit: int = 8, always: tuple[str, ...] = ()) -> Packed:
    return write_pack(path, stages or (TEXT, JOINED), store, largest_file=limit, always=always)


def names_in(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


@pytest.mark.parametrize(
    ("limit", "always", "top", "lines"),
    [(8, (), "artifacts", 11), (7, (), "summaries", 10), (7, ("lines/10.txt",), "artifacts", 11)],
    ids=["at the limit", "above it", "always"],
)
def test_a_file_just_at_the_limit_travels(
    made: Store, tmp_path: Path, limit: int, always: tuple[str, ...], top: str, lines: int
) -> None:
    path = tmp_path / "pack.tar.xz"
    made.folder(JOINED).rename(made.partial_folder(JOINED))  # an unfinished artifact does not travel
    if lines == 10:
        # A file that stays is not read, since weights may have many gigabytes.
        (made.folder(TEXT) / "lines" / "10.txt").write_text("TREE 10\n")
    done = packed(path, made, limit=limit, always=always)
    assert (done.whole, done.summaries) == ((1, 0) if top == "artifacts" else (0, 1))
    assert done.num_bytes == path.stat().st_size
    files = {"record.json", *(f"lines/{number}.txt" for number in range(lines))}
    assert {*names_in(path)} == {"isoglot-pack.json", *(f"{top}/{made.folder(TEXT).name}/{name}" for name in files)}


def test_an_archive_replaces_an_older_one_and_no_text_that_is_compressed_alike(made: Store, tmp_path: Path) -> None:
    path, text, cut = tmp_path / "pack.tar.xz", tmp_path / "text.txt.xz", tmp_path / "cut.xz"
    packed(path, made)
    text.write_bytes(lzma.compress(b"a sentence\n" * 100))
    cut.write_bytes(path.read_bytes()[:8])
    assert archive_path(path, option="--to") == path
    for other in (text, cut):
        with pytest.raises(IsoglotError, match="is no archive of isoglot; name another file"):
            archive_path(other, option="--to")


def test_small_logs_travel_and_links_do_not(made: Store, tmp_path: Path) -> None:
    log, empty = made.log_folder(TEXT), made.log_folder(JOINED)
    (log / "deep").mkdir(parents=True)
    empty.mkdir()
    for name, content in {"at.jsonl": "8 bytes.", "deep/below.txt": "few", "above.txt": "9 bytes.."}.items():
        (log / name).write_text(content)
    (log / "link.txt").symlink_to(log / "at.jsonl")
    path = tmp_path / "pack.tar.xz"
    packed(path, made, always=("above.txt",))
    assert f"logs/{log.name}/above.txt" in names_in(path)
    packed(path, made)
    assert [name for name in names_in(path) if name.startswith("logs/")] == [
        f"logs/{log.name}/at.jsonl",
        f"logs/{log.name}/deep/below.txt",
    ]
    there = Store(tmp_path / "there")
    unpack(path, there)
    assert (there.log_folder(TEXT) / "deep" / "below.txt").read_text() == "few"
    assert there.log_folder(JOINED).is_dir(), "a report lists every artifact that has a folder of logs"


def test_logs_that_are_cut_or_removed_meanwhile_travel_as_they_were(made: Store, tmp_path: Path) -> None:
    log = made.log_folder(TEXT)
    log.mkdir(parents=True)
    for name in ("cut.txt", "removed.txt", "empty.txt"):
        (log / name).write_text("" if name == "empty.txt" else "a log")

    def stages() -> Iterator[Stage]:
        yield TEXT
        (log / "cut.txt").write_text("a")
        (log / "removed.txt").unlink()
        yield JOINED

    path = tmp_path / "pack.tar.xz"
    write_pack(path, stages(), made, largest_file=8, always=())
    unpack(path, there := Store(tmp_path / "there"))
    texts = {each.name: each.read_text() for each in there.log_folder(TEXT).iterdir()}
    assert texts == {"cut.txt": "a log", "removed.txt": "a log", "empty.txt": ""}


def test_the_same_artifacts_give_the_same_bytes(made: Store, tmp_path: Path) -> None:
    made.log_folder(TEXT).mkdir(parents=True)
    (made.log_folder(TEXT) / "log.txt").write_text("a log")
    first, second = tmp_path / "first.tar.xz", tmp_path / "elsewhere.tar.xz"
    packed(first, made, limit=7)
    copy = Store(Path(shutil.copytree(made.root, tmp_path / "copy")))
    for place, file in enumerate(sorted(copy.root.rglob("*"))):
        os.utime(file, (place, place))
    packed(second, copy, JOINED, TEXT, limit=7)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as tar:
        owners = {(each.mtime, each.uid, each.gid, each.uname, each.gname, each.mode) for each in tar}
    assert owners == {(0, 0, 0, "", "", 0o644)}


def test_an_unpacked_archive_packs_to_itself(made: Store, tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar.xz", tmp_path / "second.tar.xz"
    packed(first, made, limit=7)
    there = Store(tmp_path / "there")
    unpack(first, there)
    # The files that a summary lacks cannot travel, whatever the limit.
    assert packed(second, there, limit=1000) == packed(first, made, limit=7)
    assert first.read_bytes() == second.read_bytes()


def test_a_damaged_file_is_not_packed_and_the_older_archive_stays(made: Store, tmp_path: Path) -> None:
    path = tmp_path / "pack.tar.xz"
    packed(path, made)
    older = path.read_bytes()
    (made.folder(TEXT) / "lines" / "3.txt").write_text("TREE 3\n")
    with pytest.raises(IsoglotError, match=rf"lines/3\.txt is corrupted .*: delete the folder {made.folder(TEXT)}"):
        packed(path, made)
    assert path.read_bytes() == older
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pack.tar.xz", "store"]


def test_a_place_that_cannot_be_written(made: Store, tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=r"nowhere/pack\.tar\.xz: cannot be written \(No such file or directory\)"):
        packed(tmp_path / "nowhere" / "pack.tar.xz", made)
