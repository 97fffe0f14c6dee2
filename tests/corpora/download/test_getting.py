"""A file is at its place only if it is right: fetched or unpacked whole, and of the digest that is known for it."""

import gzip
import hashlib
import random
from functools import partial
from io import FileIO
from pathlib import Path

import pytest

from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.checking import recorded_digests
from isoglot.corpora.download.getting import Getter, Outcome
from isoglot.corpora.download.unpacking import nli_pairs
from isoglot.errors import IsoglotError
from tests.corpora.download.archives import zipped
from tests.corpora.download.local_server import LocalServer

CONTENT = random.Random(0).randbytes(400_000)
OTHER = random.Random(1).randbytes(400_000)
PLACE = "eval/ud/en.conllu"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def files_in(root: Path) -> dict[str, bytes]:
    """All but the record of digests."""
    paths = (path for path in root.rglob("*") if path.is_file() and path.name != "isoglot.sha256")
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def getter(root: Path) -> Getter:
    return Getter(root=root, home="https://home.example", by_hand="ask for it")


def test_fetched_and_recorded(server: LocalServer, getter: Getter) -> None:
    file = DataFile(path=PLACE, url=server.serve("f", OTHER), sha256=sha256(CONTENT))
    with pytest.raises(IsoglotError, match=rf"this is not {PLACE} as it is known .* none of it is kept"):
        getter.get(file)
    assert files_in(getter.root) == recorded_digests(getter.root) == {}
    server.serve("f", CONTENT)
    assert getter.get(file) is Outcome.FETCHED
    assert files_in(getter.root) == {PLACE: CONTENT}
    assert (getter.root / "isoglot.sha256").read_text() == f"{sha256(CONTENT)}  {PLACE}\n"
    assert getter.get(file) is Outcome.VERIFIED
    assert len(server.asked) == 2


@pytest.mark.parametrize("changes", [False, True])
def test_another_version_is_taken_only_where_files_change(server: LocalServer, getter: Getter, changes: bool) -> None:
    file = DataFile(path="text/dump.xml", url=server.serve("f.bz2", CONTENT), changes=changes)
    getter.get(file)
    assert files_in(getter.root) == {"text/dump.xml.bz2": CONTENT}
    (getter.root / "text/dump.xml.bz2").unlink()
    server.serve("f.bz2", OTHER, tag='"two"')
    if not changes:
        with pytest.raises(IsoglotError, match="none of it is kept"):
            getter.get(file)
        assert files_in(getter.root) == {}
        server.serve("f.bz2", CONTENT)
    assert getter.get(file) is Outcome.FETCHED
    assert recorded_digests(getter.root) == {"text/dump.xml.bz2": sha256(OTHER if changes else CONTENT)}


@pytest.mark.parametrize("known", ["catalogue", "record"])
@pytest.mark.parametrize("packed", [True, False])
def test_damage_after_the_fetch_is_noticed(server: LocalServer, getter: Getter, known: str, packed: bool) -> None:
    digest = sha256(CONTENT) if known == "catalogue" else None
    file = DataFile(path=PLACE, url=server.serve("f", CONTENT), sha256=digest)
    getter.get(file)
    place = getter.root / PLACE
    if packed:
        place.unlink()
        place = place.with_name(f"{place.name}.gz")
        place.write_bytes(gzip.compress(CONTENT))
        assert getter.get(file) is Outcome.VERIFIED
        place.write_bytes(gzip.compress(OTHER))
    else:
        place.write_bytes(CONTENT[:-1])
    with pytest.raises(IsoglotError, match=f"{place}: it is not .* delete it and fetch it again"):
        getter.get(file)
    place.unlink()
    assert getter.get(file) is Outcome.FETCHED


def test_what_a_person_put_there_is_left_alone(server: LocalServer, getter: Getter) -> None:
    place = getter.root / f"{PLACE}.xz"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"mine")
    assert getter.get(DataFile(path=PLACE, url=server.address("f"))) is Outcome.PRESENT
    assert server.asked == []
    assert files_in(getter.root) == {f"{PLACE}.xz": b"mine"}


def test_the_fix_is_named(server: LocalServer, getter: Getter) -> None:
    with pytest.raises(IsoglotError, match=rf"{PLACE} cannot be fetched: ask for it; see https://home.example"):
        getter.get(DataFile(path=PLACE))
    with pytest.raises(IsoglotError) as raised:
        getter.get(DataFile(path=PLACE, url=server.address("gone")))
    assert str(raised.value) == (
        f"{server.address('gone')}: the server says 404 Not Found; "
        f"or fetch it by hand from https://home.example and put it at {getter.root / PLACE}"
    )


HEADER = b"language\tgold_label\tsentence1\tsentence2\tgenre\n"
XNLI = HEADER + b"fr\tneutral\tUn.\tDeux\xe2\x80\xa8.\tx\nen\tneutral\tOne.\tTwo.\tx\n"


def xnli(server: LocalServer, content: bytes, *, language: str = "fr") -> DataFile:
    return DataFile(
        path=f"eval/xnli/dev.{language}.tsv",
        url=server.serve("x.zip", content),
        member=("dev.tsv",),
        most_bytes=10**6,
        rewrite=partial(nli_pairs, language=language),
    )


def test_unpacked(server: LocalServer, getter: Getter) -> None:
    packed = zipped({"XNLI/dev.tsv": XNLI, "XNLI/paper.pdf": b"x"})
    assert getter.get(xnli(server, packed)) is Outcome.UNPACKED
    french = "Un.\tDeux\u2028.\tneutral\n".encode()
    assert files_in(getter.root) == {"downloads/x.zip": packed, "eval/xnli/dev.fr.tsv": french}
    assert recorded_digests(getter.root) == {"downloads/x.zip": sha256(packed), "eval/xnli/dev.fr.tsv": sha256(french)}
    assert getter.get(xnli(server, packed, language="en")) is Outcome.UNPACKED
    assert (getter.root / "eval/xnli/dev.en.tsv").read_bytes() == b"One.\tTwo.\tneutral\n"
    assert len(server.asked) == 1, "the archive is kept"


@pytest.mark.parametrize(
    ("packed", "problem"),
    [
        (zipped({"XNLI/dev.tsv": XNLI})[:-30], "it is cut off or damaged"),
        (zipped({"XNLI/dev.tsv": XNLI + b"fr\tneutral\n"}), "line 4: 2 columns where the header has 5"),
        (zipped({"XNLI/dev.tsv": XNLI + b"\xff\n"}), "it is cut off or damaged .*utf-8"),
    ],
)
def test_a_bad_archive_gives_nothing(server: LocalServer, getter: Getter, packed: bytes, problem: str) -> None:
    with pytest.raises(IsoglotError, match=rf"downloads/x.zip: dev.tsv: .*{problem}.*; delete it and fetch it again"):
        getter.get(xnli(server, packed))
    assert files_in(getter.root) == {"downloads/x.zip": packed}
    (getter.root / "downloads/x.zip").unlink()
    assert getter.get(xnli(server, zipped({"XNLI/dev.tsv": XNLI}))) is Outcome.UNPACKED


def test_a_damaged_record_names_its_line(server: LocalServer, getter: Getter) -> None:
    getter.root.mkdir()
    (getter.root / "isoglot.sha256").write_text(f"{sha256(b'')}  a\nnonsense\n")
    with pytest.raises(IsoglotError, match=r"isoglot.sha256:2: 'nonsense' is not a sha256 and a path"):
        getter.get(DataFile(path=PLACE, url=server.serve("f", CONTENT)))


def test_a_part_that_is_a_link_is_not_written_through(server: LocalServer, getter: Getter, tmp_path: Path) -> None:
    mine, part = tmp_path / "thesis.tex", getter.root / f"{PLACE}.part"
    mine.write_text("my thesis")
    part.parent.mkdir(parents=True)
    part.symlink_to(mine)
    with pytest.raises(IsoglotError, match=r"\.part is a symbolic link, and isoglot writes through none"):
        getter.get(DataFile(path=PLACE, url=server.serve("f", CONTENT)))
    assert mine.read_text() == "my thesis"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk(server: LocalServer, getter: Getter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoglot.corpora.download.fetching.file_to_extend", lambda _: FileIO("/dev/full", "ab"))
    with pytest.raises(IsoglotError, match=r"no room left in the data folder .* \(No space left on device\)"):
        getter.get(DataFile(path=PLACE, url=server.serve("f", CONTENT)))
    assert not (getter.root / PLACE).exists()
