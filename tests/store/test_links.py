"""Nothing is written through a link in a store, and a host that lost its lock puts nothing in."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.files import file_to_extend, holder, lease, new_file, write_whole
from isoglot.store import Stage, Store, Work
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.store.toy_stages import Text, files_of

TEXT = Text()


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of ours outside of the store, which links lead to."""
    path = tmp_path / "home" / "thesis.tex"
    path.parent.mkdir()
    path.write_text("my thesis")
    return path


PLACES: list[Callable[[Store], Path]] = [
    lambda store: store.root / f"{TEXT.folder_name}.lease",
    lambda store: store.root / f"{TEXT.folder_name}.partial",
    lambda store: store.root / f"{TEXT.folder_name}.partial" / "draft",
    lambda store: store.root / f"{TEXT.folder_name}.partial" / "lines" / "0.txt",
    lambda store: store.root / f"{TEXT.folder_name}.partial" / ".isoglot-seconds",
    lambda store: store.root / f"{TEXT.folder_name}.partial" / "record.json",
    lambda store: store.root / "logs",
    lambda store: store.root / "logs" / TEXT.folder_name,
    lambda store: store.root / "store.json.partial",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("to_folder", [False, True])
def test_a_link_in_a_store_is_an_error_that_names_it(
    place: Callable[[Store], Path], to_folder: bool, store: Store, mine: Path
) -> None:
    link = place(store)
    link.parent.mkdir(parents=True)
    link.symlink_to(mine.parent if to_folder else mine)
    try:
        store.ensure(TEXT)
    except IsoglotError as error:
        assert f"{link} is a symbolic link, and isoglot writes through none" in str(error)  # noqa: PT017
        link.unlink()
        store.ensure(TEXT)
    # The record of an attempt that cannot be read is removed, not followed.
    assert files_of(mine.parent) == {"thesis.tex": b"my thesis"}
    assert files_of(store.folder(TEXT)) == {"lines/0.txt": b"tree 0\n", "lines/1.txt": b"tree 1\n"}
    assert not any(path.is_symlink() for path in store.folder(TEXT).rglob("*"))


@pytest.mark.parametrize("name", ["unpacking", "unpacking.lease", "summaries", "logs"])
def test_unpacking_follows_no_link(name: str, store: Store, mine: Path, tmp_path: Path) -> None:
    origin = Store(tmp_path / "origin")
    origin.ensure(TEXT)
    write_pack(tmp_path / "pack.tar.xz", [TEXT], origin, largest_file=6, always=())
    store.root.mkdir()
    (store.root / name).symlink_to(mine if name.endswith("lease") else mine.parent)
    with pytest.raises(IsoglotError, match=f"{store.root / name} is a symbolic link"):
        unpack(tmp_path / "pack.tar.xz", store)
    assert files_of(mine.parent) == {"thesis.tex": b"my thesis"}


def test_packing_follows_no_link_beside_the_archive(store: Store, mine: Path, tmp_path: Path) -> None:
    store.ensure(TEXT)
    (tmp_path / "pack.tar.xz.partial").symlink_to(mine)
    with pytest.raises(IsoglotError, match=r"pack\.tar\.xz\.partial is a symbolic link"):
        write_pack(tmp_path / "pack.tar.xz", [TEXT], store, largest_file=99, always=())
    assert mine.read_text() == "my thesis"


def test_files_are_made_anew_so_that_a_second_name_elsewhere_keeps_its_bytes(mine: Path, tmp_path: Path) -> None:
    os.link(mine, tmp_path / "x.partial")
    write_whole(tmp_path / "x", "content")
    assert ((tmp_path / "x").read_text(), mine.read_text()) == ("content", "my thesis")
    (tmp_path / "link").symlink_to(mine)
    for opened in (new_file, file_to_extend):
        with pytest.raises(IsoglotError, match="is a symbolic link"):
            opened(tmp_path / "link")


def test_nobody_else_may_write_where_a_stage_works_and_all_may_read_what_it_made(store: Store) -> None:
    modes = []

    def look(done: float, total: float, unit: str, note: str = "") -> None:  # noqa: ARG001
        modes.append(store.partial_folder(TEXT).stat().st_mode & 0o777)

    store.root.mkdir(mode=0o775)
    store.root.chmod(0o775)
    store.ensure(TEXT, look)
    assert {*modes} == {0o700}
    assert store.folder(TEXT).stat().st_mode & 0o777 == 0o775


@dataclass(frozen=True, kw_only=True)
class Overtaken(Stage):
    """While it is made, another host gets its lock, as where a server took this one for dead."""

    kind = "toy-overtaken"
    way: str

    def make(self, work: Work) -> None:
        path = work.folder.with_name(f"{self.folder_name}.lease")
        (work.folder / "made.txt").write_text("late")
        match self.way:
            case "same file":
                path.write_text("other, process 1\nanother token")
            case "new file":
                path.unlink()
                path.write_text("other, process 1\nanother token")
            case "gone":
                path.unlink()


@pytest.mark.parametrize("way", ["same file", "new file", "gone"])
def test_a_host_that_lost_its_lock_commits_nothing(way: str, store: Store) -> None:
    stage = Overtaken(way=way)
    with pytest.raises(IsoglotError, match=r"toy-overtaken-.*\.lease was lost to another process"):
        store.ensure(stage)
    assert not store.folder(stage).exists()
    assert store.partial_folder(stage).exists()
    path = store.root / f"{stage.folder_name}.lease"
    assert path.exists() == (way != "gone"), "the other's lock is left alone"


def test_a_lock_tells_its_holder_and_not_its_token(tmp_path: Path) -> None:
    with lease(tmp_path / "x.lease") as held:
        held.check()
        assert holder(tmp_path / "x.lease") == f"{os.uname().nodename}, process {os.getpid()}"
        with lease(tmp_path / "y.lease") as other:
            assert other.token != held.token
    assert not (tmp_path / "x.lease").exists()
