"""The bytes that a file holds, plain or compressed: gzip, xz, bzip2 and zstd are recognised by their first bytes."""

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import zstandard

from isoglot.errors import IsoglotError, nearest_file

LARGEST_BLOCK = 1 << 20
CHUNK = 1 << 16
SMALL_STEP = 1 << 10  # zstd expands a byte to 32 KiB at most
LONGEST_MAGIC = 6
MOST_MEMORY = 1 << 29  # xz -9 needs 65 MiB; a hostile header may ask for 4 GiB
SUFFIXES = (".gz", ".xz", ".bz2", ".zst")


class DamagedCompressionError(IsoglotError):
    """A compressed file that is cut off, damaged, or followed by something else."""

    def __init__(self, file: BufferedReader, problem: str) -> None:
        super().__init__(f"{file.name}: {problem}; fetch the file again")
        self.problem = problem


# What the first bytes are, and what undoes one member of a file of many. The second magic of zstd is that of skippable
# frames, which some tools put first.
COMPRESSIONS: dict[str, tuple[re.Pattern[bytes], Callable[[], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), lambda: zlib.decompressobj(31)),
    "xz": (re.compile(rb"\xfd7zXZ\0"), lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)),
    "bzip2": (re.compile(rb"BZh[1-9]"), bz2.BZ2Decompressor),
    "zstd": (
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        lambda: zstandard.ZstdDecompressor().decompressobj(),
    ),
}


def plain_blocks(
    path: Path, *, progress: Callable[[int], None] = lambda _: None, decompressed: bool = True
) -> Iterator[bytes]:
    """A file's bytes, or the bytes it holds compressed, in blocks; progress takes how many on disk have been read."""
    try:
        with path.open("rb") as file:
            start = file.peek(LONGEST_MAGIC) if decompressed else b""
            compression = next((name for name, (magic, _) in COMPRESSIONS.items() if magic.match(start)), None)
            chunks = _decompressed(file, compression) if compression else iter(lambda: file.read(CHUNK), b"")
            for chunk in chunks:
                progress(file.tell())
                yield from (chunk[at : at + LARGEST_BLOCK] for at in range(0, len(chunk), LARGEST_BLOCK))
    except (FileNotFoundError, NotADirectoryError):
        raise IsoglotError(f"{path}: no such file; {_near(path)}") from None
    except IsADirectoryError:
        raise IsoglotError(f"{path}: a folder, not a file; name the file in it") from None
    except PermissionError:
        raise IsoglotError(f"{path}: no permission to read this file; see `ls -l` and `chmod`") from None
    except (OSError, ValueError) as error:
        raise IsoglotError(f"{path}: cannot be read ({error}); is its name right, and the disk in order?") from error


def _decompressed(file: BufferedReader, name: str) -> Iterator[bytes]:
    """Members that follow one another are one text, as for the tools themselves; zeros may stand between them."""
    # The libraries' own file objects would not do: those of xz and bzip2 silently ignore what follows the compressed
    # part, and that of zstd does not notice that a file is cut off.
    magic, new_decompressor = COMPRESSIONS[name]
    data = file.read(LONGEST_MAGIC)
    while data:
        if not magic.match(data):
            raise DamagedCompressionError(file, f"something else follows the {name} part of the file")
        decompressor = new_decompressor()
        # xz and bzip2 take the most bytes to return and keep the rest; the others get few bytes at once.
        is_limited = hasattr(decompressor, "needs_input")
        step, limit = (CHUNK, (LARGEST_BLOCK,)) if is_limited else (SMALL_STEP, ())
        while not decompressor.eof:
            if not data and (not is_limited or decompressor.needs_input) and not (data := file.read(step)):
                raise DamagedCompressionError(file, f"the file is cut off within its {name} compression")
            try:
                yield decompressor.decompress(data, *limit)
            except (zlib.error, lzma.LZMAError, OSError, zstandard.ZstdError) as error:
                raise DamagedCompressionError(file, f"the {name} compression is damaged ({error})") from error
            data = b""
        data = decompressor.unused_data.lstrip(b"\0")
        while len(data) < LONGEST_MAGIC and (more := file.read(step)):
            data = (data + more).lstrip(b"\0")


def _near(path: Path) -> str:
    try:
        near = nearest_file(path.name, sorted(other.name for other in path.parent.iterdir()))
    except OSError:
        return f"nor is there a folder {path.parent}"
    return f"nothing like it is in {path.parent.absolute()}" if near is None else f"did you mean {path.parent / near}?"


def plain_name(path: Path) -> str:
    """`wiki.en.txt` for `wiki.en.txt.xz`."""
    return path.stem if path.suffix in SUFFIXES else path.name


def found(path: Path) -> Path | None:
    """The file at a path, or the same file plain or otherwise compressed, if there is one."""
    others = (path.with_name(plain_name(path) + suffix) for suffix in ("", *SUFFIXES))
    return next((each for each in (path, *others) if each.is_file()), None)
