"""Only the wanted bytes come out of an archive, and none at all out of a damaged or boundless one."""

import errno
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.download.unpacking import member_stream
from isoglot.errors import IsoglotError
from tests.corpora.download.archives import tarred, zipped

GOOD = {"readme": b"x", "../strain.tsv": b"junk", "corpus/train.tsv": b"one\ttwo\n"}
MAKE: list[Callable[..., bytes]] = [zipped, tarred, lambda members: tarred(members, gzipped=False)]


def unpacked(archive: bytes, names: tuple[str, ...] = ("train.tsv",), *, most_bytes: int = 10**6) -> bytes:
    with member_stream(io.BytesIO(archive), names, most_bytes=most_bytes) as stream:
        return stream.read()


@pytest.mark.parametrize("make", MAKE)
def test_the_wanted_member(make: Callable[..., bytes]) -> None:
    assert unpacked(make(GOOD)) == b"one\ttwo\n"
    with pytest.raises(IsoglotError, match=r"it has 2 files 'train.tsv' where one was expected"):
        unpacked(make({"a/train.tsv": b"x", "b/train.tsv": b"x"}))
    with pytest.raises(IsoglotError, match=r"it has no files 'train.tsv' where one was expected"):
        unpacked(make({"a/strain.tsv": b"x"}))


def test_a_link_is_no_member() -> None:
    link = tarfile.TarInfo("train.tsv")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(fileobj=(out := io.BytesIO()), mode="w") as archive:
        archive.addfile(link)
    with pytest.raises(IsoglotError, match="it has no files"):
        unpacked(out.getvalue())


def test_an_archive_in_an_archive() -> None:
    outer = tarred({"en.tar.gz": tarred({"train": b"en:Paris\tB-LOC\n"}), "fr.tar.gz": b"never opened"}, gzipped=False)
    assert unpacked(outer, ("en.tar.gz", "train")) == b"en:Paris\tB-LOC\n"
    with pytest.raises(IsoglotError, match="it is cut off or damaged"):
        unpacked(outer, ("fr.tar.gz", "train"))


@pytest.mark.parametrize("make", MAKE)
def test_bombs_that_declare_their_size(make: Callable[..., bytes]) -> None:
    archive = make({"train.tsv": bytes(10**6)})
    assert unpacked(archive, most_bytes=10**6) == bytes(10**6)
    with pytest.raises(IsoglotError, match="it expands to 1000000 bytes, more than the 999999 it should at most"):
        unpacked(archive, most_bytes=10**6 - 1)


def test_bombs_that_declare_another_size() -> None:
    archive = bytearray(zipped({"train.tsv": bytes(10**6)}))
    size = (10**6).to_bytes(4, "little")
    while (at := archive.find(size)) >= 0:
        archive[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(IsoglotError):
        unpacked(bytes(archive), most_bytes=1000)
    with pytest.raises(IsoglotError, match="it expands to"):
        unpacked(gzip.compress(bytes(10**7)), most_bytes=10**6)


def test_an_encrypted_zip() -> None:
    archive = bytearray(zipped({"train.tsv": b"x"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.find(mark) + at] |= 1
    with pytest.raises(IsoglotError, match="is encrypted"):
        unpacked(bytes(archive))


CONTENT = bytes(range(256)) * 40
INTACT = [make({"corpus/train.tsv": CONTENT}) for make in MAKE]


@given(
    archive=st.sampled_from(INTACT),
    kept=st.integers(0, len(CONTENT)),
    flip=st.integers(1, 255),
    length=st.integers(1, 200),
)
def test_what_is_cut_off_or_damaged_is_refused_or_harmless(archive: bytes, kept: int, flip: int, length: int) -> None:
    with pytest.raises(IsoglotError):
        unpacked(archive[: min(kept, len(archive) - 10)])
    if archive != INTACT[2]:  # a plain tar has no checksum of what it holds
        at = kept % len(archive)
        changed, shortened = bytearray(archive), bytearray(archive)
        changed[at] ^= flip
        del shortened[at : at + length]
        for damaged in (changed, shortened):
            with suppress(IsoglotError):
                assert unpacked(bytes(damaged)) == CONTENT


def test_a_failing_disk_is_no_damage() -> None:
    archive = zipped({"a": CONTENT, "train.tsv": CONTENT})
    start = zipfile.ZipFile(io.BytesIO(archive)).getinfo("train.tsv").header_offset

    class FailingDisk(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if size and self.tell() == start:
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    with (
        pytest.raises(OSError, match="Input/output error"),
        member_stream(FailingDisk(archive), ["train.tsv"], most_bytes=10**6),
    ):
        pass


@given(st.binary(max_size=2000))
def test_bytes_that_are_no_archive(content: bytes) -> None:
    for start in (b"", b"PK", b"PK\x03\x04", b"\x1f\x8b", b"\x1f\x8b\x08"):
        with pytest.raises(IsoglotError):
            unpacked(start + content)
