"""Lines of plain and compressed files; of a file that is not what it should be, the line at fault and the fix."""

import gzip
import io
import os
import re
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers import decompression
from isoglot.corpora.readers.decompression import found
from isoglot.corpora.readers.line_files import LONGEST_LINE, LineFile
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import COMPRESSED, WRITTEN

# Among them breaks that str.splitlines() knows, a byte order mark that is not at the start, and wide letters.
LINES = ["one", "", " two\u2028three\x85four\x0bfive\x0csix\x1c", "é中😀", "tab\t\ufeff", "a\rb", "last"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a test may write its text."""
    return tmp_path_factory.mktemp("lines") / "text"


def lines_of(path: Path, content: bytes) -> list[str]:
    path.write_bytes(content)
    return list(LineFile(path))


def complaint_about(path: Path, content: bytes | None = None) -> str:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(IsoglotError) as caught:
        list(LineFile(path))
    return str(caught.value)


@pytest.mark.parametrize("wanted", ["wiki.en.txt", "wiki.en.txt.gz", "wiki.en.txt.xz"])
def test_a_file_is_found_however_it_is_compressed(tmp_path: Path, wanted: str) -> None:
    assert found(tmp_path / wanted) is None
    for there in ("wiki.en.txt.zst", "wiki.en.txt.gz", "wiki.en.txt"):
        (tmp_path / there).touch()
        assert found(tmp_path / wanted) == tmp_path / (wanted if (tmp_path / wanted).exists() else there)


@pytest.mark.parametrize("kind", WRITTEN)
def test_lines_come_without_their_ends(path: Path, kind: str) -> None:
    for end in ("\n", "\r\n"):
        for last_end in ("", end):
            assert lines_of(path, WRITTEN[kind]((end.join(LINES) + last_end).encode())) == LINES
    marked = WRITTEN[kind](b"\xef\xbb\xbfone\n\xef\xbb\xbftwo")
    assert lines_of(path, marked) == ["one", "\ufefftwo"], "a byte order mark is dropped where the file begins"


@pytest.mark.parametrize("kind", COMPRESSED)
def test_members_that_follow_one_another_are_one_text(path: Path, kind: str) -> None:
    compress = COMPRESSED[kind]
    content = compress(b"one\ntw") + compress(b"") + compress(b"o\nthree\n")
    assert lines_of(path, content) == ["one", "two", "three"]


def test_zeros_after_a_member_and_frames_to_skip_are_passed_over(path: Path) -> None:
    padded = COMPRESSED["xz"](b"one\n") + bytes(8) + COMPRESSED["xz"](b"two\n") + bytes(4)
    assert lines_of(path, padded) == ["one", "two"]
    skipped = struct.pack("<II", 0x184D2A50, 3) + b"any"
    framed = skipped + COMPRESSED["zst"](b"one\n") + skipped + COMPRESSED["zst"](b"two\n")
    assert lines_of(path, framed) == ["one", "two"]


def test_number_and_position_follow_the_reading(path: Path) -> None:
    path.write_bytes(gzip.compress("\n".join(f"{number} {'x' * number}" for number in range(2000)).encode()))
    with LineFile(path) as file:
        before = file.position
        for number, _ in enumerate(file, start=1):
            assert file.number == number
            assert before <= file.position
            before = file.position
        assert (file.number, file.position) == (2000, path.stat().st_size)


@given(
    st.lists(st.text(st.sampled_from("ab\r\né中\u2028\x85"), min_size=1), min_size=1, max_size=3),
    st.sampled_from(sorted(WRITTEN)),
    st.integers(1, 9),
)
def test_where_blocks_and_members_are_cut_does_not_matter(path: Path, members: list[str], kind: str, size: int) -> None:
    expected = re.split("\r?\n", "".join(members))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompression, "CHUNK", 3 * size)
        patch.setattr(decompression, "LARGEST_BLOCK", size)
        patch.setattr(decompression, "SMALL_STEP", size)
        lines = lines_of(path, b"".join(WRITTEN[kind](member.encode()) for member in members))
    assert lines == (expected if expected[-1] else expected[:-1])


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"one\r\ntwo \xc3\xa9\nthr\xe9e\nfour\n", "text:3: byte 0xE9 at place 4 .* not UTF-8; .*iconv -f latin1"),
        (b"one\ntw\0o\n", "text:2: a NUL byte at place 3 of the line"),
        # The first of two faults counts.
        (b"o\0ne\n\xff", "text:1: a NUL byte at place 2 of the line"),
        (b"o\xffe\n\0", "text:1: byte 0xFF at place 2 of the line"),
        (b"", "text: the file is empty"),
        (b"\xef\xbb\xbf", "text: the file is empty"),
        *(
            ("\ufeffone\ntwo\n".encode(encoding), f"text:1: the text is {encoding[:6].upper()}, not UTF-8; convert")
            for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
        ),
    ],
)  # fmt: skip
def test_what_is_no_text_is_refused_with_its_place(path: Path, kind: str, content: bytes, complaint: str) -> None:
    assert re.search(complaint, complaint_about(path, WRITTEN[kind](content)))


def test_lines_before_the_fault_are_given(path: Path) -> None:
    path.write_bytes(b"one\ntwo\n\xff\n")
    lines = iter(LineFile(path))
    assert [next(lines), next(lines)] == ["one", "two"]
    with pytest.raises(IsoglotError, match="text:3: byte 0xFF"):
        next(lines)


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_giant_line_is_noticed_without_taking_it_into_memory(path: Path, kind: str) -> None:
    # What zstd gives at a time may be 32 MiB.
    size = (96 if kind == "zst" else 16) << 20
    path.write_bytes(WRITTEN[kind](b"one\n" + b"a" * size + b"\nthree\n"))
    tracemalloc.start()
    try:
        assert "text:2: a line of more than 1,048,576 bytes" in complaint_about(path)
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("place", [0, 1, 100_000])
def test_the_longest_line_is_exactly_so_long(path: Path, place: int) -> None:
    before = b"." * place + b"\n"
    lines = lines_of(path, before + b"a" * LONGEST_LINE + b"\nend")
    assert [len(line) for line in lines] == [place, LONGEST_LINE, 3]
    assert "text:2: a line of more" in complaint_about(path, before + b"a" * (LONGEST_LINE + 1) + b"\nend")
    assert "text:2: a line of more" in complaint_about(path, before + b"a" * (LONGEST_LINE + 1))


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_file_that_is_cut_off_or_goes_on_after_its_compression_is_refused(path: Path, kind: str) -> None:
    content = COMPRESSED[kind]("".join(f"line {number}\n" for number in range(30_000)).encode())
    complaint = complaint_about(path, content[: len(content) * 2 // 3])
    place = re.search(r"text:(\d+): the file is cut off within its \w+ compression, after line (\d+);", complaint)
    assert int(place[1]) == int(place[2]) + 1
    for garbage in (b"garbage that is long enough", b"g", COMPRESSED["gz" if kind != "gz" else "xz"](b"other\n")):
        complaint = complaint_about(path, COMPRESSED[kind](b"one\ntwo\n") + garbage)
        assert re.search(r"text:3: something else follows the \w+ part of the file, after line 2;", complaint)


def test_archives_are_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "inside.txt").write_text("one\n")
    for mode in ("w", "w:gz", "w:xz", "w:bz2"):
        with tarfile.open(tmp_path / "archive", mode) as archive:
            archive.add(tmp_path / "inside.txt")
        assert "archive: a tar archive, not text; unpack it" in complaint_about(tmp_path / "archive")
    with zipfile.ZipFile(tmp_path / "archive", "w") as zipped:
        zipped.write(tmp_path / "inside.txt")
    assert "archive: a zip archive, not text; unpack it" in complaint_about(tmp_path / "archive")


def test_missing_files_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "wiki.en.txt.xz").touch()
    assert f"no such file; did you mean {tmp_path / 'wiki.en.txt.xz'}?" in complaint_about(tmp_path / "wiki.en.txt")
    (tmp_path / "news.en.txt.bz2").touch()
    assert f"did you mean {tmp_path / 'news.en.txt.bz2'}?" in complaint_about(tmp_path / "newss.en.txt")
    assert f"nothing like it is in {tmp_path}" in complaint_about(tmp_path / "другое")
    assert f"nor is there a folder {tmp_path / 'no'}" in complaint_about(tmp_path / "no/wiki.en.txt")
    assert "no such file" in complaint_about(tmp_path / "wiki.en.txt.xz/inside")
    assert "cannot be read" in complaint_about(tmp_path / "a\0b")
    assert f"{tmp_path}: a folder, not a file; name the file in it" in complaint_about(tmp_path)


def test_what_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"one\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # for root, nothing is forbidden
        monkeypatch.setattr(io, "open", Mock(side_effect=PermissionError(13, "Permission denied")))
    assert "text: no permission to read this file" in complaint_about(path)


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.sampled_from(sorted(COMPRESSED)), st.data())
def test_damaged_compression_is_refused_or_does_no_harm(path: Path, text: str, kind: str, data: st.DataObject) -> None:
    whole = COMPRESSED[kind](f"some {text}".encode())
    lines = lines_of(path, whole)
    complaint_about(path, whole[: data.draw(st.integers(6, len(whole) - 1))])
    damaged = bytearray(whole)
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert lines_of(path, damaged) == lines
    except IsoglotError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
