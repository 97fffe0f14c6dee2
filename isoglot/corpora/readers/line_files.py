"""Lines of the text files that people have: in UTF-8, plain or compressed, refused with the line that is at fault."""

from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from isoglot.corpora.readers.decompression import DamagedCompressionError, plain_blocks
from isoglot.errors import IsoglotError

LONGEST_LINE = 1 << 20  # bytes
BYTE_ORDER_MARK = "\ufeff"
ARCHIVES = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar"}
TAR_MARK, TAR_MARK_AT = b"ustar", 257
# UTF-32 first, as its mark begins with that of UTF-16.
WIDE_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
TOO_LONG = (
    f"a line of more than {LONGEST_LINE:,} bytes; text should have one sentence or paragraph a line, "
    "so break it into lines"
)


class LineFile(AbstractContextManager["LineFile"]):
    r"""The lines of a file without their ends, "\n" or "\r\n", once through; other line breaks of Unicode end none."""

    def __init__(self, path: Path | str, *, progress: Callable[[int], None] = lambda _: None) -> None:
        self.path = Path(path)
        self.position = 0
        """How many of the bytes on disk have been read."""
        self.number = 0
        """The number of the line last given; the first is 1."""
        self.progress = progress
        self._lines = self._read()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def error(self, problem: str, *, line: int | None = None) -> IsoglotError:
        """An error that names a line of the file, or else the line last given."""
        return IsoglotError(f"{self.path}:{line or self.number}: {problem}")

    def _read(self) -> Generator[str, None, None]:
        rest = b""
        try:
            for block in plain_blocks(self.path, progress=self._move):
                if not self.number and not rest:
                    self._refuse_what_is_no_text(block)
                if end := block.rfind(b"\n") + 1:
                    yield from self._given(rest + block[:end])
                    rest = b""
                rest += block[end:]
                if len(rest) > LONGEST_LINE:
                    raise self.error(TOO_LONG, line=self.number + 1)
        except DamagedCompressionError as error:
            problem = f"{error.problem}, after line {self.number}; fetch the file again"
            raise self.error(problem, line=self.number + 1) from error
        yield from self._given(rest)
        if not self.number:
            raise IsoglotError(f"{self.path}: the file is empty; it should hold lines of text")

    def _move(self, position: int) -> None:
        self.position = position
        self.progress(position)

    def _given(self, block: bytes) -> Iterator[str]:
        """The lines of a block that ends with one, up to the first line with a fault."""
        problem = ""
        if (at := block.find(b"\0")) >= 0:
            problem = "a NUL byte at place {place} of the line, so this is no text; name a text file"
        try:
            # A block is decoded at once, as lines one by one would take much longer.
            text = block[: at if problem else None].decode()
        except UnicodeDecodeError as error:
            at = error.start
            problem = f"byte 0x{block[at]:02X} at place {{place}} of the line is not UTF-8; "
            problem += "if the text is Latin-1, convert it with `iconv -f latin1 -t utf-8`"
        # All lines but the first lie within one block of what was read, and none of those is too long.
        if block.find(b"\n") > LONGEST_LINE:
            at, problem = 0, TOO_LONG
        start_of_line = block.rfind(b"\n", 0, at) + 1
        if problem:
            text = block[:start_of_line].decode()
        if not self.number:
            text = text.removeprefix(BYTE_ORDER_MARK)
        for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else ():
            self.number += 1
            yield line
        if problem:
            raise self.error(problem.format(place=at - start_of_line + 1), line=self.number + 1)

    def _refuse_what_is_no_text(self, start: bytes) -> None:
        archives = [name for magic, name in ARCHIVES.items() if start.startswith(magic)]
        if start.startswith(TAR_MARK, TAR_MARK_AT):
            archives = ["tar"]
        if archives:
            raise IsoglotError(f"{self.path}: a {archives[0]} archive, not text; unpack it and name the file inside")
        if encoding := next((name for mark, name in WIDE_MARKS.items() if start.startswith(mark)), None):
            problem = f"the text is {encoding}, not UTF-8; convert it with `iconv -f {encoding} -t utf-8`"
            raise self.error(problem, line=1)


def tab_columns(line: str, widths: Collection[int], *, where: str, expected: str) -> list[str]:
    """The columns of a line with tabs between, of which there should be as many as one of the widths."""
    fields = line.split("\t")
    if len(fields) not in widths:
        raise IsoglotError(f"{where}: {len(fields)} columns where {expected}")
    return fields


def number_of(text: str) -> float | None:
    """The number that a field of a line spells, if it spells one."""
    try:
        return float(text)
    except ValueError:
        return None
