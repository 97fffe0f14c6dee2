"""Lines of the text files that people have: in UTF-8, plain or compressed, refused with the line that is at fault."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from stat import S_ISDIR
from typing import Self

from isoglot.corpora.readers.decompression import DamagedCompressionError, plain_blocks
from isoglot.errors import IsoglotError, nearest

LONGEST_LINE = 1 << 20
"""In bytes."""
BYTE_ORDER_MARK = "\ufeff"
ARCHIVES = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar"}
TAR_MARK, TAR_MARK_AT = b"ustar", 257
# UTF-32 first, as its mark begins with that of UTF-16.
WIDE_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class LineFile:
    r"""The lines of a file without their ends, "\n" or "\r\n", once through; other line breaks of Unicode end none."""

    def __init__(self, path: Path | str, *, progress: Callable[[int], None] = lambda _: None) -> None:
        self.path = Path(path)
        self.size = _size(self.path)
        """In bytes, as the file lies on the disk."""
        self.position = 0
        """How many of these bytes have been read."""
        self.number = 0
        """The number of the line last given; the first is 1."""
        self._progress = progress
        self._lines = self._read()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def _read(self) -> Generator[str, None, None]:
        rest = b""
        try:
            for block in self._blocks():
                if not self.number and not rest:
                    self._refuse_what_is_no_text(block)
                if end := block.rfind(b"\n") + 1:
                    yield from self._given(rest + block[:end])
                    rest = b""
                rest += block[end:]
                if len(rest) > LONGEST_LINE:
                    raise self._error(_TOO_LONG)
        except DamagedCompressionError as error:
            raise self._error(f"{error}, after line {self.number}; fetch the file again") from error
        yield from self._given(rest)
        if not self.number:
            raise IsoglotError(f"{self.path}: the file is empty; it should hold lines of text")

    def _blocks(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                for block in plain_blocks(file):
                    self.position = file.tell()
                    self._progress(self.position)
                    yield block
        except PermissionError:
            raise IsoglotError(f"{self.path}: no permission to read this file; see `ls -l` and `chmod`") from None
        except OSError as error:
            raise IsoglotError(f"{self.path}: cannot be read ({error.strerror}); is the disk in order?") from error

    def _given(self, block: bytes) -> Iterator[str]:
        """The lines of a block that ends with one."""
        text = _decoded(block)
        if text is None:
            # Line by line, up to the one that is at fault.
            for piece in block.split(b"\n"):
                if fault := _fault(piece):
                    raise self._error(fault)
                yield from self._given(piece + b"\n")
            return
        if not self.number:
            text = text.removeprefix(BYTE_ORDER_MARK)
        for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else ():
            self.number += 1
            yield line

    def _refuse_what_is_no_text(self, start: bytes) -> None:
        archives = [name for magic, name in ARCHIVES.items() if start.startswith(magic)]
        if start.startswith(TAR_MARK, TAR_MARK_AT):
            archives = ["tar"]
        if archives:
            raise IsoglotError(f"{self.path}: a {archives[0]} archive, not text; unpack it and name the file inside")
        if encoding := next((name for mark, name in WIDE_MARKS.items() if start.startswith(mark)), None):
            raise self._error(f"the text is {encoding}, not UTF-8; convert it with `iconv -f {encoding} -t utf-8`")

    def _error(self, complaint: str) -> IsoglotError:
        """About the line after the one last given."""
        return IsoglotError(f"{self.path}:{self.number + 1}: {complaint}")


_TOO_LONG = (
    f"a line of more than {LONGEST_LINE:,} bytes; text should have one sentence or paragraph a line, "
    "so break it into lines"
)


def _decoded(block: bytes) -> str | None:
    """The text of a block, or None if there is a fault in it."""
    # All lines but the first lie within one block of what was read, and none of those is too long.
    if block.find(b"\n") > LONGEST_LINE or b"\0" in block:
        return None
    try:
        return block.decode()
    except UnicodeDecodeError:
        return None


def _fault(line: bytes) -> str | None:
    if len(line) > LONGEST_LINE:
        return _TOO_LONG
    nul = line.find(b"\0")
    try:
        line.decode()
    except UnicodeDecodeError as error:
        if not 0 <= nul < error.start:
            return (
                f"byte 0x{line[error.start]:02X} at place {error.start + 1} of the line is not UTF-8; "
                "if the text is Latin-1, convert it with `iconv -f latin1 -t utf-8`"
            )
    return f"a NUL byte at place {nul + 1} of the line, so this is no text; name a text file" if nul >= 0 else None


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise IsoglotError(f"{path}: no such file; {_near(path)}") from None
    except (OSError, ValueError) as error:
        raise IsoglotError(f"{path}: cannot be read ({error}); name a text file") from error
    if S_ISDIR(status.st_mode):
        raise IsoglotError(f"{path}: a folder, not a file; name the text file in it")
    return status.st_size


def number_of(text: str) -> float | None:
    """The number that a field of a line spells, if it spells one."""
    try:
        return float(text)
    except ValueError:
        return None


def _near(path: Path) -> str:
    try:
        names = sorted(other.name for other in path.parent.iterdir())
    except OSError:
        return f"nor is there a folder {path.parent}"
    near = nearest(path.name, names)
    return f"nothing like it is in {path.parent.absolute()}" if near is None else f"did you mean {path.parent / near}?"
