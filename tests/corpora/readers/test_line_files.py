"""Lines of plain and compressed files."""

import gzip
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers import decompression
from isoglot.corpora.readers.decompression import found
from isoglot.corpora.readers.line_files import LineFile
from tests.corpora.readers.compressed_texts import COMPRESSED, WRITTEN


@pytest.mark.parametrize("wanted", ["wiki.en.txt", "wiki.en.txt.gz", "wiki.en.txt.xz"])
def test_a_file_is_found_however_it_is_compressed(tmp_path: Path, wanted: str) -> None:
    assert found(tmp_path / wanted) is None
    for there in ("wiki.en.txt.zst", "wiki.en.txt.gz", "wiki.en.txt"):
        (tmp_path / there).touch()
        assert found(tmp_path / wanted) == tmp_path / (wanted if (tmp_path / wanted).exists() else there)


# Among them breaks that str.splitlines() knows, a byte order mark that is not at the start, and wide letters.
LINES = ["one", "", " two\u2028three\x85four\x0bfive\x0csix\x1c", "é中😀", "tab\t\ufeff", "a\rb", "last"]
# Carriage returns and marks have tests of their own.


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last_end", [True, False])
def test_lines_come_without_their_ends(tmp_path: Path, kind: str, end: str, last_end: bool) -> None:
    content = end.join(LINES) + end * last_end
    path = written(tmp_path / f"text.{kind}", WRITTEN[kind](content.encode()))
    with LineFile(path) as file:
        assert list(file) == LINES


def test_a_byte_order_mark_is_dropped_where_the_file_begins(tmp_path: Path) -> None:
    assert list(LineFile(written(tmp_path / "text", b"\xef\xbb\xbfone\n\xef\xbb\xbftwo"))) == ["one", "\ufefftwo"]


@pytest.mark.parametrize("kind", COMPRESSED)
def test_members_that_follow_one_another_are_one_text(tmp_path: Path, kind: str) -> None:
    compress = COMPRESSED[kind]
    content = compress(b"one\ntw") + compress(b"") + compress(b"o\nthree\n")
    assert list(LineFile(written(tmp_path / "text", content))) == ["one", "two", "three"]


def test_zeros_after_a_member_and_frames_to_skip_are_passed_over(tmp_path: Path) -> None:
    padded = COMPRESSED["xz"](b"one\n") + bytes(8) + COMPRESSED["xz"](b"two\n") + bytes(4)
    assert list(LineFile(written(tmp_path / "text.xz", padded))) == ["one", "two"]
    skipped = struct.pack("<II", 0x184D2A50, 3) + b"any"
    framed = skipped + COMPRESSED["zst"](b"one\n") + skipped + COMPRESSED["zst"](b"two\n")
    assert list(LineFile(written(tmp_path / "text.zst", framed))) == ["one", "two"]


def test_number_and_position_follow_the_reading(tmp_path: Path) -> None:
    lines = [f"{number} {'x' * number}" for number in range(2000)]
    path = written(tmp_path / "text.gz", gzip.compress("\n".join(lines).encode()))
    with LineFile(path) as file:
        assert (file.number, file.position) == (0, 0)
        before = 0
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
def test_where_blocks_and_members_are_cut_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, members: list[str], kind: str, size: int
) -> None:
    content = b"".join(WRITTEN[kind](member.encode()) for member in members)
    path = written(tmp_path_factory.mktemp("text") / "text", content)
    expected = re.split("\r?\n", "".join(members))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompression, "CHUNK", 3 * size)
        patch.setattr(decompression, "LARGEST_BLOCK", size)
        patch.setattr(decompression, "SMALL_STEP", size)
        assert list(LineFile(path)) == (expected if expected[-1] else expected[:-1])
