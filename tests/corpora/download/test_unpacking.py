"""Only wanted bytes come out of an archive, and none at all out of a hostile, damaged or boundless one."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.download.unpacking import member_stream
from isoglot.errors import IsoglotError
from tests.corpora.download.archives import special, tarred, zipped, zipped_twice

WANTED = ("train.tsv",)
GOOD = ("corpus/train.tsv", b"one\ttwo\n")


def unpacked(archive: bytes, names: tuple[str, ...] = WANTED, *, most_bytes: int = 10**6) -> bytes:
    with member_stream(io.BytesIO(archive), names, most_bytes=most_bytes) as stream:
        return stream.read()


@pytest.mark.parametrize(
    "archive",
    [
        zipped({"corpus/readme": b"x", "__MACOSX/corpus/._train.tsv": b"junk", **dict([GOOD])}),
        tarred(("./corpus/readme", b"x"), special("corpus", kind=tarfile.DIRTYPE), GOOD),
        tarred(("readme", b"x"), GOOD, gzipped=False),
        zipped({"train.tsv": GOOD[1], "corpus/Icon\r": b""}),
    ],
)
def test_the_wanted_member(archive: bytes) -> None:
    assert unpacked(archive) == GOOD[1]


def test_an_archive_in_an_archive() -> None:
    inner = tarred(("train", b"en:Paris\tB-LOC\n"), ("dev", b""))
    outer = tarred(("en.tar.gz", inner), ("fr.tar.gz", b"never opened"), gzipped=False)
    assert unpacked(outer, ("en.tar.gz", "train")) == b"en:Paris\tB-LOC\n"
    with pytest.raises(IsoglotError, match="it is cut off or damaged"):
        unpacked(outer, ("fr.tar.gz", "train"))


HOSTILE_NAMES = [
    "../train.tsv",
    "corpus/../../train.tsv",
    "/etc/passwd",
    "corpus\\..\\..\\train.tsv",
    "C:/train.tsv",
    "C:\\train.tsv",
    "..",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("gzipped", [True, False])
def test_names_that_lead_out_of_a_tar(name: str, gzipped: bool) -> None:
    for members in ([GOOD, (name, b"x")], [(name, b"x"), GOOD]):
        with pytest.raises(IsoglotError, match="named to be written outside of its folder"):
            unpacked(tarred(*members, gzipped=gzipped))


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "corpus/a\0b"])
def test_names_that_lead_out_of_a_zip(name: str) -> None:
    # Python's zipfile mends the names it writes, so this one is put in afterwards.
    archive = zipped({"X" * len(name): b"x", **dict([GOOD])}).replace(b"X" * len(name), name.encode())
    with pytest.raises(IsoglotError, match="named to be written outside of its folder"):
        unpacked(archive)


@pytest.mark.parametrize(
    "member",
    [
        special("corpus/link", kind=tarfile.SYMTYPE, target="/etc"),
        special("corpus/link", kind=tarfile.SYMTYPE, target="train.tsv"),
        special("corpus/link", kind=tarfile.LNKTYPE, target="corpus/train.tsv"),
        special("corpus/null", kind=tarfile.CHRTYPE),
        special("corpus/disk", kind=tarfile.BLKTYPE),
        special("corpus/pipe", kind=tarfile.FIFOTYPE),
    ],
)
def test_links_and_devices_in_a_tar(member: tarfile.TarInfo) -> None:
    with pytest.raises(IsoglotError, match="is a link or a device"):
        unpacked(tarred(GOOD, member))


def test_a_link_and_then_a_file_through_it() -> None:
    link = special("corpus", kind=tarfile.SYMTYPE, target="/tmp")
    with pytest.raises(IsoglotError, match="'corpus' is a link or a device"):
        unpacked(tarred(link, GOOD))
    with pytest.raises(IsoglotError, match="'corpus' is a link or a device"):
        unpacked(zipped(dict([GOOD]), links={"corpus": "/tmp"}))


@pytest.mark.parametrize(
    "archive",
    [
        zipped_twice("train.tsv", b"good", b"evil"),
        zipped({"corpus/train.tsv": b"good", "corpus/TRAIN.tsv": b"evil"}),
        zipped({"corpus/train.tsv": b"good", "corpus//train.tsv": b"evil"}),
        tarred(GOOD, GOOD),
        tarred(GOOD, ("./corpus/train.tsv", b"evil")),
        tarred(GOOD, ("Corpus/Train.tsv", b"evil")),
    ],
)
def test_two_members_that_would_be_one_file(archive: bytes) -> None:
    with pytest.raises(IsoglotError, match="would be one file"):
        unpacked(archive)


@pytest.mark.parametrize("make", [lambda *members: zipped(dict(members)), tarred])
def test_two_members_that_could_be_meant_or_none(make: Callable[..., bytes]) -> None:
    with pytest.raises(IsoglotError, match=r"it has 2 files 'train.tsv' where one was expected"):
        unpacked(make(("a/train.tsv", b"x"), ("b/train.tsv", b"x")))
    with pytest.raises(IsoglotError, match=r"it has no files 'train.tsv' where one was expected"):
        unpacked(make(("a/strain.tsv", b"x")))


@pytest.mark.parametrize("make", [lambda *members: zipped(dict(members)), tarred])
def test_bombs_that_say_so(make: Callable[..., bytes]) -> None:
    archive = make(("corpus/train.tsv", bytes(10**6)), ("padding", bytes(10**6)))
    assert len(archive) < 10**4
    assert unpacked(archive, most_bytes=2 * 10**6) == bytes(10**6)
    with pytest.raises(IsoglotError, match="it says it expands to 2000000 bytes, more than the 1999999"):
        unpacked(archive, most_bytes=2 * 10**6 - 1)


def test_a_bomb_that_says_it_is_small() -> None:
    archive = bytearray(zipped({"train.tsv": bytes(10**6)}))
    size = (10**6).to_bytes(4, "little")
    while (at := archive.find(size)) >= 0:
        archive[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(IsoglotError):
        unpacked(bytes(archive), most_bytes=1000)


def test_a_tar_that_expands_without_end() -> None:
    bomb = gzip.compress(bytes(10**7))
    with pytest.raises(IsoglotError):
        unpacked(bomb, most_bytes=10**6)
    beginning = tarred(("readme", b"x"), gzipped=False)[:1024]
    with pytest.raises(IsoglotError, match="no files"):
        unpacked(gzip.compress(beginning + bytes(10**7)), most_bytes=10**6)


def test_an_encrypted_zip() -> None:
    archive = bytearray(zipped(dict([GOOD])))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.find(mark) + at] |= 1
    with pytest.raises(IsoglotError, match="is encrypted"):
        unpacked(bytes(archive))


CONTENT = bytes(range(256)) * 40
INTACT = {
    "zip": zipped({"corpus/train.tsv": CONTENT}),
    "tar.gz": tarred(("corpus/train.tsv", CONTENT)),
    "tar": tarred(("corpus/train.tsv", CONTENT), gzipped=False),
}


@given(kind=st.sampled_from(sorted(INTACT)), kept=st.integers(min_value=0, max_value=len(CONTENT)))
def test_cut_off(kind: str, kept: int) -> None:
    cut = INTACT[kind][: min(kept, len(INTACT[kind]) - 10)]
    with pytest.raises(IsoglotError):
        unpacked(cut)


@given(kind=st.sampled_from(["zip", "tar.gz"]), at=st.integers(min_value=0), flip=st.integers(1, 255))
def test_a_damaged_byte_is_noticed_or_harmless(kind: str, at: int, flip: int) -> None:
    damaged = bytearray(INTACT[kind])
    damaged[at % len(damaged)] ^= flip
    try:
        content = unpacked(bytes(damaged))
    except IsoglotError:
        return
    assert content == CONTENT


@given(st.binary(max_size=2000))
def test_what_is_no_archive(content: bytes) -> None:
    for start in (b"", b"PK", b"PK\x03\x04", b"\x1f\x8b", b"\x1f\x8b\x08"):
        with pytest.raises(IsoglotError):
            unpacked(start + content)


def test_python_agrees_that_the_archives_are_hostile() -> None:
    """The tests would be worth nothing if what they refuse were harmless."""
    with tarfile.open(fileobj=io.BytesIO(tarred(("../train.tsv", b"x")))) as archive:
        assert archive.getnames() == ["../train.tsv"]
    assert zipfile.ZipFile(io.BytesIO(zipped({}, links={"corpus": "/tmp"}))).infolist()[0].external_attr >> 28 == 0xA
