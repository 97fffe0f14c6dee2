"""Files that are not what they should be: the line at fault is named, and what to do about it."""

import gzip
import io
import os
import re
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.line_files import LONGEST_LINE, LineFile
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import COMPRESSED, WRITTEN


def complaint_about(path: Path, content: bytes | None = None) -> str:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(IsoglotError) as caught:
        list(LineFile(path))
    return str(caught.value)


def lines_before_the_complaint(path: Path) -> tuple[list[str], str]:
    lines = []
    with LineFile(path) as file:
        try:
            for line in file:
                lines.append(line)
        except IsoglotError as error:
            return lines, str(error)
    pytest.fail(f"nothing is wrong with {path}")


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_byte_that_is_not_utf_8_is_named_with_its_line_and_place(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(WRITTEN[kind]("one\r\ntwo é\nthr".encode() + "é".encode("latin-1") + b"e\nfour\n"))
    lines, complaint = lines_before_the_complaint(path)
    assert lines == ["one", "two é"]
    assert complaint.startswith(f"{path}:3: byte 0xE9 at place 4 of the line is not UTF-8")
    assert "iconv -f latin1 -t utf-8" in complaint


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_recognised_by_their_marks(tmp_path: Path, encoding: str) -> None:
    name = encoding[:6].upper()
    complaint = complaint_about(tmp_path / "text", gzip.compress("\ufeffone\ntwo\n".encode(encoding)))
    assert f"text:1: the text is {name}, not UTF-8; convert it with `iconv -f {name} -t utf-8`" in complaint


def test_nul_bytes_are_no_text(tmp_path: Path) -> None:
    assert "text:2: a NUL byte at place 3 of the line" in complaint_about(tmp_path / "text", b"one\ntw\0o\n")
    # The first of two faults counts.
    assert "text:1: a NUL byte at place 2 of the line" in complaint_about(tmp_path / "text", b"o\0ne\n\xff")
    assert "text:1: byte 0xFF at place 2 of the line" in complaint_about(tmp_path / "text", b"o\xffe\n\0")


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_empty_files_are_refused(tmp_path: Path, kind: str, content: bytes) -> None:
    assert "text: the file is empty" in complaint_about(tmp_path / "text", WRITTEN[kind](content))


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_giant_line_is_noticed_without_taking_it_into_memory(tmp_path: Path, kind: str) -> None:
    # What zstd gives at a time may be 32 MiB.
    size = (96 if kind == "zst" else 16) << 20
    path = tmp_path / "text"
    path.write_bytes(WRITTEN[kind](b"one\n" + b"a" * size + b"\nthree\n"))
    tracemalloc.start()
    try:
        assert "text:2: a line of more than 1,048,576 bytes" in complaint_about(path)
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("place", [0, 1, 100_000])
def test_the_longest_line_is_exactly_so_long(tmp_path: Path, place: int) -> None:
    before = b"." * place + b"\n"
    path = tmp_path / "text"
    path.write_bytes(before + b"a" * LONGEST_LINE + b"\nend")
    assert [len(line) for line in LineFile(path)] == [place, LONGEST_LINE, 3]
    assert "text:2: a line of more" in complaint_about(path, before + b"a" * (LONGEST_LINE + 1) + b"\nend")
    assert "text:2: a line of more" in complaint_about(path, before + b"a" * (LONGEST_LINE + 1))


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_file_cut_off_within_its_compression_is_refused(tmp_path: Path, kind: str) -> None:
    content = COMPRESSED[kind]("".join(f"line {number}\n" for number in range(30_000)).encode())
    path = tmp_path / "text"
    path.write_bytes(content[: len(content) * 2 // 3])
    lines, complaint = lines_before_the_complaint(path)
    assert lines == [f"line {number}" for number in range(len(lines))]
    place = f"text:{len(lines) + 1}: the file is cut off within its \\w+ compression, after line {len(lines)};"
    assert re.search(place, complaint)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_what_follows_the_compressed_part_is_refused(tmp_path: Path, kind: str) -> None:
    for garbage in (b"garbage that is long enough", b"g", COMPRESSED["gz" if kind != "gz" else "xz"](b"other\n")):
        complaint = complaint_about(tmp_path / "text", COMPRESSED[kind](b"one\ntwo\n") + garbage)
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
        monkeypatch.setattr(io, "open", forbidden)
    assert "text: no permission to read this file" in complaint_about(path)


def forbidden(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


@given(st.binary(min_size=1, max_size=100), st.sampled_from(sorted(COMPRESSED)), st.data())
def test_compression_that_was_cut_off_never_passes_for_whole(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, kind: str, data: st.DataObject
) -> None:
    whole = COMPRESSED[kind](content)
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(whole[: data.draw(st.integers(6, len(whole) - 1))])
    with pytest.raises(IsoglotError):
        list(LineFile(path))


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.sampled_from(sorted(COMPRESSED)), st.data())
def test_damaged_compression_is_refused_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, text: str, kind: str, data: st.DataObject
) -> None:
    content = bytearray(COMPRESSED[kind](f"some {text}".encode()))
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_bytes(content)
    lines = list(LineFile(path))
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        assert list(LineFile(path)) == lines
    except IsoglotError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
