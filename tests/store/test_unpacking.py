"""Archives put into a store: what it lacks comes, what it has stays, and a kill costs nothing."""

import json
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Store
from isoglot.store.file_sums import EVERYTHING
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.killed_processes import KILLED, files_of, nursed
from tests.store.toy_archives import JOINED, LINE, OF_TEXT, TEXT, Unlike, members_of, refused, write_members
from tests.store.toy_stages import Count, Joined, Text


def test_a_new_store_gets_all_and_a_second_time_nothing_changes(archive: Path, root: Path, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    done = unpack(archive, Store(root))
    assert (done.whole, done.summaries, done.present, done.made_twice) == (1, 1, 0, ())
    assert json.loads((root / "store.json").read_text()) == {"format": 3}
    expected = {name: content for name, content in files_of(origin).items() if name != f"{OF_TEXT}/lines/10.txt"}
    before = files_of(root)
    unpacked = {name.removeprefix("summaries/"): content for name, content in before.items()}
    assert unpacked.pop(f"{OF_TEXT}/isoglot-summary.json")
    assert unpacked == expected
    Store(root).verified_folder(JOINED)
    again = unpack(archive, Store(root))
    assert (again.whole, again.summaries, again.present) == (1, 1, 2)
    assert files_of(root) == before


def test_an_artifact_of_the_store_stays(archive: Path, store: Store) -> None:
    store.ensure(TEXT)
    before = files_of(store.folder(TEXT))
    assert unpack(archive, store).present == 1
    assert files_of(store.folder(TEXT)) == before
    assert not store.summary_folder(TEXT).exists()
    assert not store.log_folder(TEXT).exists(), "they are of another making"
    assert store.ensure(JOINED) is False


def test_logs_of_an_attempt_that_was_interrupted_here_stay(archive: Path, store: Store) -> None:
    log = store.log_folder(TEXT)
    log.mkdir(parents=True)
    (log / "own.txt").write_text("own")
    assert unpack(archive, store).present == 0
    assert files_of(log) == {"own.txt": b"own"}
    assert store.lookup(TEXT, read=()) is not None


def test_a_whole_artifact_takes_the_place_of_its_summary(archive: Path, store: Store, tmp_path: Path) -> None:
    unpack(archive, store)
    write_pack(tmp_path / "whole.tar.xz", [TEXT], Store(tmp_path / "origin"), largest_file=8, always=())
    assert unpack(tmp_path / "whole.tar.xz", store).present == 0
    assert store.has(TEXT)
    assert store.find_folder(TEXT) == store.folder(TEXT)


@pytest.mark.parametrize("limit", [7, 8])
def test_the_first_of_an_artifact_made_twice_is_kept(archive: Path, store: Store, tmp_path: Path, limit: int) -> None:
    """Whether it is known by a summary alone, as here, or whole."""
    other, unlike = Store(tmp_path / "other"), Unlike(lines=11)
    assert unlike.digest == TEXT.digest
    other.ensure(unlike)
    second = tmp_path / "second.tar.xz"
    write_pack(second, [TEXT], other, largest_file=limit, always=())
    unpack(archive, store)
    before = files_of(store.root)
    assert unpack(second, store).made_twice == ("text of tree",)
    assert files_of(store.root) == before

    there = Store(tmp_path / "there")
    unpack(second, there)
    assert unpack(archive, there).made_twice == ("text of tree",)
    assert there.lookup(TEXT, read=EVERYTHING) is not None
    assert files_of(there.find_folder(TEXT))["lines/1.txt"] == b"tref 1\n"
    there.verified_folder(JOINED)


def test_artifacts_that_rest_on_another_making_are_counted(store: Store, tmp_path: Path) -> None:
    """The joined text and its letters were made from a text that does not come; what is beside was not."""
    other, count = Store(tmp_path / "other"), Count(joined=JOINED)
    beside = Text(word="bush")
    apart = Joined(texts=(beside,))
    for stage in (Unlike(lines=11), JOINED, count, beside, apart):
        other.ensure(stage)
    store.ensure(TEXT)
    path = tmp_path / "second.tar.xz"
    # Records of what an artifact is made from may come after its own.
    write_pack(path, [count, JOINED, TEXT, beside, apart], other, largest_file=1000, always=())
    done = unpack(path, store)
    assert (done.made_twice, done.on_made_twice, done.present) == (("text of tree",), 2, 0)
    again = unpack(path, store)
    assert (again.made_twice, again.on_made_twice, again.present) == (("text of tree",), 0, 4)


@pytest.mark.parametrize("name", ["lines/3.txt", "record.json", "isoglot-summary.json"])
def test_a_damaged_summary_is_replaced(archive: Path, store: Store, name: str) -> None:
    unpack(archive, store)
    before = files_of(store.root)
    path = store.summary_folder(TEXT) / name
    path.write_bytes(path.read_bytes()[:-3] + b"!!!")
    assert unpack(archive, store).present == 1
    assert files_of(store.root) == before


def test_a_summary_of_more_files_replaces_one_of_fewer(store: Store, archive: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.tar.xz"
    write_pack(few, [TEXT], Store(tmp_path / "origin"), largest_file=6, always=["lines/3.txt"])
    unpack(few, store)
    folder = store.summary_folder(TEXT)
    assert len(files_of(folder)) == 3
    assert unpack(archive, store).present == 0
    assert len(files_of(folder)) == 12
    before = files_of(store.root)
    assert unpack(few, store).present == 1
    assert files_of(store.root) == before
    assert store.lookup(TEXT, read=EVERYTHING) is not None


def test_a_bad_archive_takes_nothing_back_that_an_earlier_one_brought(
    archive: Path, root: Path, tmp_path: Path
) -> None:
    unpack(archive, Store(root))
    before = files_of(root)
    bad = tmp_path / "bad.tar.xz"
    write_members(bad, members_of(archive) | {LINE: b"TREE 3\n"})
    refused(bad, root)
    assert files_of(root) == before


def test_a_damaged_artifact_of_the_store_is_reported_before_anything_is_merged(archive: Path, store: Store) -> None:
    store.ensure(TEXT)
    record = store.folder(TEXT) / "record.json"
    record.write_text("{}")
    with pytest.raises(IsoglotError, match=rf"{record} is not the record of an artifact: delete the folder"):
        unpack(archive, store)
    assert not store.has(JOINED)


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.campaign)])
def test_killed_at_any_moment(tmp_path: Path, few: bool) -> None:
    _, fates = nursed("tests.store.packing_nursery", tmp_path, few=few)
    expected = {
        "packing": {"older, then new: pack.tar.xz", "new, then new: pack.tar.xz"},
        "unpacking": {"nothing, then all", "toy-joined, then all", "toy-text and toy-joined, then all"},
        "replacing": {"toy-joined, then all", "toy-text and toy-joined, then all"},
    }
    assert fates.keys() == expected.keys()
    print(sum(code == KILLED for each in fates.values() for code, _ in each), "kills")
    for name, states in expected.items():
        assert [code for code, _ in fates[name]] == [KILLED] * (len(fates[name]) - 1) + [0]
        assert {state for _, state in fates[name]} <= states
        if not few:
            assert {state for _, state in fates[name]} == states
            assert len(fates[name]) > 20
