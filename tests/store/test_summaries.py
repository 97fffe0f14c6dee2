"""Summaries: reports read them in the place of artifacts, and nothing is ever made from one."""

from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import State, Store, plan, run_plan
from isoglot.store.file_sums import EVERYTHING
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.store.toy_archives import Unlike
from tests.store.toy_stages import Count, Joined, Text, files_of

TEXT = Text(lines=11)
JOINED = Joined(texts=(TEXT,))
COUNT = Count(joined=JOINED)


@pytest.fixture
def origin(tmp_path: Path) -> Store:
    store = Store(tmp_path / "origin")
    run_plan([JOINED], store)
    return store


@pytest.fixture
def store(tmp_path: Path, origin: Store) -> Store:
    """Text is there but for its last line, and all of the joined text but its file."""
    write_pack(tmp_path / "pack.tar.xz", [TEXT, JOINED], origin, largest_file=7, always=())
    store = Store(tmp_path / "store")
    unpack(tmp_path / "pack.tar.xz", store)
    return store


def states(store: Store, *targets: Text | Joined | Count) -> dict[str, State]:
    return {each.stage.kind: each.state for each in plan(targets, store)}


def test_a_summary_has_a_record_and_is_no_artifact(store: Store, origin: Store) -> None:
    assert not store.has(TEXT)
    artifact = store.lookup(TEXT, read=EVERYTHING)
    assert artifact is not None
    assert artifact.record == origin.record(TEXT)
    assert artifact.folder == store.find_folder(TEXT) == store.root / "summaries" / store.folder(TEXT).name
    assert (artifact.folder / "record.json").read_bytes() == (origin.folder(TEXT) / "record.json").read_bytes()
    assert not (artifact.folder / "lines" / "10.txt").exists()
    assert [each.digest for each in store.records()] == [each.digest for each in origin.records()]
    assert store.find("toy-text") == origin.record(TEXT)


def test_a_plan_has_all_done_that_only_readers_want(store: Store, origin: Store) -> None:
    assert states(store, JOINED) == states(origin, JOINED) == {"toy-text": State.DONE, "toy-joined": State.DONE}
    outcome = run_plan([JOINED], store)
    assert (outcome.made, len(outcome.reused)) == ((), 2)
    made = run_plan([JOINED, Joined(texts=(Text(word="bush"),))], store).made
    assert [stage.title for stage in made] == ["text of bush", "toy-joined"], "a branch that is done is left alone"
    assert not store.has(TEXT)


def test_inputs_of_a_new_target_are_made_again(store: Store, origin: Store) -> None:
    assert states(store, COUNT) == dict.fromkeys(["toy-text", "toy-joined", "toy-count"], State.TO_DO)
    estimates = {each.stage.digest: each.seconds_estimate for each in plan([COUNT], store)}
    assert estimates == {each.digest: pytest.approx(each.seconds) for each in origin.records()} | {COUNT.digest: None}
    with pytest.raises(IsoglotError, match="which is not there: make it first"):
        store.ensure(COUNT)
    assert [stage.kind for stage in run_plan([COUNT], store).made] == ["toy-text", "toy-joined", "toy-count"]
    assert files_of(store.folder(TEXT)) == files_of(origin.folder(TEXT))
    assert store.find_folder(TEXT) == store.folder(TEXT)
    assert len(list(store.records())) == 3


@pytest.mark.parametrize("name", ["lines/3.txt", "record.json", "isoglot-summary.json"])
def test_a_damaged_summary_is_not_believed_and_not_in_the_way(store: Store, name: str) -> None:
    folder = store.summary_folder(TEXT)
    path = folder / name
    path.write_bytes(path.read_bytes()[:-3])
    for fault in ("", "cannot be read "):
        with pytest.raises(IsoglotError, match=rf"{path} {fault}.*: delete the folder {folder} and unpack it again"):
            store.lookup(TEXT, read=())
        path.unlink(missing_ok=True)
    assert states(store, TEXT) == {"toy-text": State.TO_DO}
    assert store.ensure(TEXT)
    assert store.lookup(TEXT, read=()) is not None


def test_other_contents_of_a_summary_are_seen_where_they_are_read(store: Store) -> None:
    path = store.summary_folder(TEXT) / "lines" / "3.txt"
    path.write_text("TREE 3\n")
    assert store.lookup(TEXT, read=()) is not None
    with pytest.raises(IsoglotError, match=r"lines/3\.txt is corrupted"):
        store.lookup(TEXT, read=EVERYTHING)


def test_an_artifact_made_again_that_differs_gives_a_warning(store: Store) -> None:
    text = "text of tree was made again and differs from the one that other results here were measured on"
    with pytest.warns(UserWarning, match=f"^{text}$"):
        assert store.ensure(Unlike(lines=11))
    # Made from it, it differs from its own summary as well.
    with pytest.warns(UserWarning, match="^toy-joined was made again"):
        assert store.ensure(JOINED)
