import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.hardware import hardware
from isoglot.store import Amount, Stage, Store, Work
from isoglot.store.file_sums import FileSum, file_sum
from tests.oracles import sealed
from tests.store.toy_stages import Joined, Text, files_of

TEXT = Text()
JOINED = Joined(texts=(TEXT,))


def test_a_made_artifact_is_all_the_store_holds_and_looking_writes_nothing(store: Store) -> None:
    assert not store.has(TEXT)
    assert list(store.records()) == []
    assert not store.root.exists()
    assert store.ensure(TEXT)
    assert not store.ensure(TEXT)
    assert sorted(path.name for path in store.root.iterdir()) == ["store.json", f"toy-text-{TEXT.digest[:16]}"]
    assert json.loads((store.root / "store.json").read_text()) == {"format": 3}
    assert files_of(store.folder(TEXT)) == {"lines/0.txt": b"tree 0\n", "lines/1.txt": b"tree 1\n"}


def test_a_record_has_identity_making_and_checksums(store: Store) -> None:
    text = Text(lines=12)
    joined = Joined(texts=(text,))
    store.ensure(text)
    store.ensure(joined)
    record = store.record(text)
    assert (record.kind, record.title, record.version, record.digest) == ("toy-text", "text of tree", 1, text.digest)
    assert record.settings == {"word": "tree", "lines": 12}
    assert record.amount == Amount(units=12, of="lines")
    assert 0 < record.seconds < 10
    assert record.versions.keys() >= {"python", "torch", "numpy"}
    assert record.hardware == hardware()
    assert 1 <= record.hardware.cores <= (os.cpu_count() or 1)
    assert store.record(joined).inputs == {"texts.0": text.digest}
    files = json.loads((store.folder(text) / "record.json").read_text())["files"]
    assert list(files) == sorted(f"lines/{number}.txt" for number in range(12))
    assert files["lines/1.txt"] == {"bytes": 7, "sha256": hashlib.sha256(b"tree 1\n").hexdigest()}


def edit_record(folder: Path, *, drop: str = "", **changes: object) -> None:
    path = folder / "record.json"
    content = {name: value for name, value in json.loads(path.read_text()).items() if name != drop}
    path.write_text(sealed(content | changes))


def change_byte(folder: Path) -> None:
    path = folder / "lines" / "1.txt"
    path.write_bytes(b"T" + path.read_bytes()[1:])


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda folder: (folder / "lines/1.txt").write_bytes(b"tr"), r"lines/1\.txt has 2 bytes instead of 7"),
        (
            lambda folder: (folder / "lines/1.txt").unlink(),
            r"lines/1\.txt cannot be read \(No such file or directory\)",
        ),
        (lambda folder: os.truncate(folder / "record.json", 300), r"record\.json is not the record of an artifact"),
        (lambda folder: (folder / "record.json").write_text("{}"), r"record\.json is not the record of an artifact"),
        (
            lambda folder: (folder / "record.json").write_text("[" * 100_000),
            r"record\.json is not the record of an artifact",
        ),
        (lambda folder: (folder / "record.json").unlink(), r"record\.json cannot be read"),
        (lambda folder: edit_record(folder, settings={"word": "twig", "lines": 2}), r"record\.json was changed"),
        (lambda folder: edit_record(folder, hardware={"gpus": []}), r"record\.json is not the record of an artifact"),
        (lambda folder: edit_record(folder, hardware="large"), r"record\.json is not the record of an artifact"),
    ],
)
def test_damage_is_seen_at_once_and_fixed_by_deleting(
    store: Store, damage: Callable[[Path], None], complaint: str
) -> None:
    store.ensure(TEXT)
    before = files_of(store.folder(TEXT))
    damage(store.folder(TEXT))
    for use in (store.has, store.ensure, store.record, store.verified_folder):
        with pytest.raises(IsoglotError, match=f"{complaint}.*: delete the folder {store.folder(TEXT)} and run again"):
            use(TEXT)
    shutil.rmtree(store.folder(TEXT))
    assert store.ensure(TEXT)
    assert files_of(store.folder(TEXT)) == before


def test_a_changed_byte_is_seen_when_an_artifact_is_first_an_input(root: Path) -> None:
    Store(root).ensure(TEXT)
    change_byte(Store(root).folder(TEXT))
    assert Store(root).has(TEXT)
    with pytest.raises(IsoglotError, match=r"lines/1\.txt is corrupted .*: delete the folder"):
        Store(root).ensure(JOINED)
    with pytest.raises(IsoglotError, match="is corrupted"):
        Store(root).verified_folder(TEXT)
    assert [path.name for path in root.glob("toy-joined*")] == []


def test_files_are_read_for_their_checksum_once_in_a_process_unless_they_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(path: Path) -> FileSum:
        read.append(path)
        return file_sum(path)

    Store(root).ensure(TEXT)
    monkeypatch.setattr("isoglot.store.file_sums.file_sum", counted)
    user = Store(root)
    for _ in range(2):
        assert user.lookup(TEXT, read=("lines/0.txt",)) is not None
        assert [path.name for path in read] == ["0.txt"]
    for _ in range(2):
        assert user.verified_folder(TEXT) == user.folder(TEXT)
        assert [path.name for path in read] == ["0.txt", "1.txt"]
    change_byte(user.folder(TEXT))
    assert user.lookup(TEXT, read=("lines/0.txt",)) is not None, "the other file is not read"
    with pytest.raises(IsoglotError, match="is corrupted"):
        user.ensure(JOINED)


@pytest.mark.parametrize("name", ["seconds", "host", "finished", "title", "commit", "versions", "files", "format"])
def test_a_changed_field_of_a_record_is_noticed(store: Store, name: str) -> None:
    store.ensure(TEXT)
    path = store.folder(TEXT) / "record.json"
    content = json.loads(path.read_text())
    changed = {"seconds": 9.5, "files": {}, "versions": {}, "format": 2}.get(name, "another")
    path.write_text(json.dumps(content | {name: changed}))
    with pytest.raises(IsoglotError, match=r"record\.json was changed \(its checksum is that of other fields\)"):
        store.has(TEXT)


def test_records_of_format_2_are_read_and_a_new_one_without_its_checksum_is_not(store: Store) -> None:
    store.ensure(TEXT)
    path = store.folder(TEXT) / "record.json"
    content = json.loads(path.read_text())
    del content["checksum"]
    path.write_text(json.dumps(content))
    with pytest.raises(IsoglotError, match="was changed"):
        store.has(TEXT)
    path.write_text(json.dumps(content | {"format": 2}))
    assert store.verified_folder(TEXT) == store.folder(TEXT)


def test_another_artifact_in_the_folder_is_refused(store: Store) -> None:
    store.ensure(TEXT)
    other = replace(TEXT, lines=1)
    store.folder(TEXT).rename(store.folder(other))
    with pytest.raises(IsoglotError, match="is of another artifact"):
        store.has(other)


def test_newer_or_damaged_formats_are_refused(store: Store) -> None:
    store.ensure(TEXT)
    record = store.folder(TEXT) / "record.json"
    edit_record(store.folder(TEXT), format=4)
    with pytest.raises(IsoglotError, match=rf"{record} has format 4, .* reads up to 3: update isoglot"):
        store.ensure(TEXT)
    for content, complaint in (
        ('{"format": 7, "layout": "deep"}', "has format 7, .*: update isoglot"),
        ("{", r'is damaged: .*write \{"format": 3\} into it'),
        ("[1]", "is damaged"),
    ):
        (store.root / "store.json").write_text(content)
        with pytest.raises(IsoglotError, match=rf"store\.json {complaint}"):
            Store(store.root)


def test_find_by_folder_name_or_digest(store: Store) -> None:
    one, two = TEXT, replace(TEXT, word="two")
    store.ensure(one)
    store.ensure(two)
    for prefix in (two.digest, two.digest[:8], store.folder(two).name, store.folder(two).name[:-4]):
        assert store.find(prefix) == store.record(two)
    with pytest.raises(IsoglotError, match=r"'toy-text' may be any of toy-text-.*, toy-text-.*: give more"):
        store.find("toy-text")
    with pytest.raises(IsoglotError, match=r"no finished artifact in .* starting with 'zz'"):
        store.find("zz")


def test_records_skip_those_that_cannot_be_read(store: Store) -> None:
    for word in ("one", "two"):
        store.ensure(replace(TEXT, word=word))
    os.truncate(store.folder(replace(TEXT, word="one")) / "record.json", 300)
    (store.root / "notes").mkdir()
    assert [record.settings["word"] for record in store.records()] == ["two"]


def test_remains_of_other_attempts_do_not_confuse(store: Store) -> None:
    store.ensure(TEXT)
    folder = store.folder(TEXT)
    partial = folder.with_name(folder.name + ".partial")
    (partial / "lines").mkdir(parents=True)
    (partial / "lines" / "1.txt").write_text("torn")
    (partial / "record.json").write_bytes((folder / "record.json").read_bytes())
    folder.with_name(folder.name + ".lease").write_text("dead, process 1")
    assert not store.ensure(TEXT)
    assert len(list(store.records())) == 1
    assert store.ensure(JOINED)
    store.verified_folder(TEXT)


@dataclass(frozen=True, kw_only=True)
class Rude(Stage):
    """Does what the store refuses."""

    kind = "toy-rude"
    deed: str

    def make(self, work: Work) -> None:
        work.folder.joinpath("real.txt").write_text("real")
        link = work.folder / "link"
        link.unlink(missing_ok=True)
        match self.deed:
            case "link":
                link.symlink_to("real.txt")
            case "linked folder":
                link.symlink_to(work.folder.parent, target_is_directory=True)
            case "pipe":
                os.mkfifo(link)
            case "record":
                work.folder.joinpath("record.json").write_text("{}")
            case "duplicate":
                other = work.folder.with_suffix("")
                other.mkdir()
                other.joinpath("file").write_text("")


@pytest.mark.parametrize(
    ("deed", "complaint"),
    [
        ("link", "link is a symbolic link, "),
        ("linked folder", "link is a symbolic link"),
        ("pipe", "link is neither a file nor a folder"),
        ("record", r"record\.json was written by its stage: have toy-rude name it otherwise"),
        ("duplicate", r"record\.json cannot be read .*: delete the folder"),
    ],
)
def test_rude_stages_are_refused(store: Store, deed: str, complaint: str) -> None:
    stage = Rude(deed=deed)
    for _ in range(2):
        with pytest.raises(IsoglotError, match=complaint):
            store.ensure(stage)
    assert list(store.records()) == []


def test_an_artifact_that_arrives_while_it_is_made_is_kept(store: Store, tmp_path: Path) -> None:
    elsewhere = Store(tmp_path / "elsewhere")
    elsewhere.ensure(TEXT)

    def arrive(done: float, total: float, unit: str, note: str = "") -> None:  # noqa: ARG001
        if done == total:
            elsewhere.folder(TEXT).rename(store.folder(TEXT))

    store.ensure(TEXT, arrive)
    store.verified_folder(TEXT)
    assert not store.is_interrupted(TEXT), "nothing is left of the attempt"
    assert store.ensure(JOINED)
