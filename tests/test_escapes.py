"""Input that once ended in a traceback, took all memory or passed unseen: each is a clear error now, and soon."""

import lzma
import re
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.corpora.download.fetching import _version, note_of
from isoglot.corpora.readers.bio_files import read_bio
from isoglot.corpora.readers.decompression import plain_blocks
from isoglot.corpora.user_commands import UserCommand
from isoglot.corpora.wiki.dump import LONGEST_TEXT, dump_lines
from isoglot.corpora.word_vectors import read_word_vectors
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.source_files import source_file
from isoglot.study.study_file import parse_study

PAGE = "<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id><text>{}</text></revision></page>\n"
REAL = 'name = "a"\nscale = "demo"\nlanguages = ["en", "fr"]\ntext = {{ en = "{}", fr = "b" }}'
DUMP = "<mediawiki><siteinfo></siteinfo>\n" + PAGE + "</mediawiki>\n"


def changed(line: str) -> Callable[[Path], object]:
    key = line.split(" ")[0]
    others = "\n".join(each for each in TINY_STUDY.splitlines() if not each.startswith(f"{key} "))
    return lambda _: parse_study(others.replace("[change]", f"[change]\n{line}", 1), origin="tiny.toml")


def reading(reader: Callable[[Path], object], content: str | bytes) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        path = folder / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return reader(path)

    return read


def xz_with_dictionary(code: int) -> bytes:
    """A sound file whose header asks for 2 ** (code / 2 + 11) bytes or so."""
    file = bytearray(lzma.compress(b"some text"))
    end = 12 + 4 * (file[12] + 1)
    file[file.index(b"\x21\x01", 12) + 2] = code
    file[end - 4 : end] = struct.pack("<I", zlib.crc32(file[12 : end - 4]))
    return bytes(file)


CASES = {
    "brackets of a study": (lambda _: parse_study("a = " + "[" * 3000, origin="tiny.toml"), "tiny.toml: .*nested"),
    "hexadecimal digits": (changed("merges = 0x" + "f" * 5000), "tiny.toml: a number of too many digits"),
    "parts of a key": (changed("merges = {" + "a." * 3000 + "a = 1}"), "tiny.toml: .*nested too deeply"),
    "no file's name": (
        lambda _: parse_study(REAL.format("."), origin="tiny.toml"),
        "tiny.toml: text.en: names no file",
    ),
    "NUL in a name": (lambda _: parse_study(REAL.format("a\\u0000/b"), origin="tiny.toml"), "text.en: names no file"),
    "a name without end": (
        lambda folder: source_file(folder / ("a" * 260), wanted_by="text.en"),
        "text.en: .*too long",
    ),
    "400 digits for a share": (changed("mask_rate = 1" + "0" * 400), "change.mask_rate: .*401 digits"),
    "400 digits for a count": (changed("merges = 1" + "0" * 400), "change.merges: .*401 digits"),
    "5,000 digits": (changed("merges = 1" + "0" * 5000), "tiny.toml: a number of too many digits"),
    "a million layers": (changed("shape.layers = 1000000"), "shape.layers: should be from 1 to 1000"),
    "a rate that overflows": (changed("optimization.learning_rate = 1e308"), "learning_rate: .*at most 1e9"),
    "words of vectors": (
        reading(lambda path: read_word_vectors(path, most_words=9), "1" * 5000 + " 3\na 1 2 3\n"),
        "file:2",
    ),
    "xz of 4 GiB": (reading(lambda path: list(plain_blocks(path)), xz_with_dictionary(40)), "file: the xz .*[Mm]emory"),
    "encoding of a dump": (
        reading(lambda path: list(dump_lines(path, workers=1)), f'<?xml version="1.0" encoding="klingon"?>{DUMP}'),
        "file: not the XML of a dump: unknown encoding: klingon",
    ),
    "a page without end": (
        reading(lambda path: list(dump_lines(path, workers=1)), DUMP.format("{{a}}" * (LONGEST_TEXT // 5 + 1))),
        "the page 'A' has 4,194,305 characters",
    ),
    "half a line end in a tag": (reading(read_bio, "a\tB-PER\r\r\nb\tO\n\n"), r"file:1: the tag is 'B-PER\\r'"),
}


@pytest.mark.parametrize(("action", "message"), CASES.values(), ids=CASES)
def test_it_is_a_clear_error(action: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    begun = time.process_time()
    with pytest.raises(IsoglotError, match=message) as error:
        action(tmp_path)
    assert len(str(error.value)) < 500
    assert time.process_time() - begun < 2


def test_a_list_of_many_seeds_is_read_at_once() -> None:
    text = TINY_STUDY.replace("seeds = [0", f"seeds = [{', '.join(map(str, range(2, 20_002)))}, 0", 1)
    begun = time.process_time()
    assert len(parse_study(text, origin="tiny.toml").seeds) >= 20_000
    assert time.process_time() - begun < 5


def test_a_script_among_the_words_of_a_command_is_no_name() -> None:
    command = UserCommand(words=("sh", "-c", "cat # " * 1000), name="the command", task="")
    assert re.fullmatch("[0-9a-f]{16}", command.version())
    assert command.answers(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize(
    "note", ['{"url": "u", "tag": "a\\nX: y", "bytes": 5}', '{"url": "u", "tag": 5, "bytes": 5}', "[" * 100_000]
)
def test_a_note_beside_a_part_that_no_server_sent_is_no_note(note: str, tmp_path: Path) -> None:
    part = tmp_path / "file.part"
    note_of(part).write_text('{"url": "u", "tag": "a", "bytes": 5}')
    assert _version(part, url="u") == ("u", "a", 5)
    note_of(part).write_text(note)
    assert _version(part, url="u") is None
