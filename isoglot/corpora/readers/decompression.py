"""Bytes of a file as they were before someone compressed it: gzip, xz, bzip2 and zstd are told by their first bytes."""

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

LARGEST_BLOCK = 1 << 20
ZSTD_STEP = 1 << 10
"""Compressed bytes given to zstd at a time: it knows no limit for what comes out, at most 32 KiB for each byte."""
LONGEST_MAGIC = 6


class DamagedCompressionError(Exception):
    """Says what is wrong with a compressed file."""


class _Decompressor(Protocol):
    """What bz2 and lzma offer; `unused_data` is what follows the end of the member."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstd:
    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor().decompressobj()
        self._waiting = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data + self._waiting

    def decompress(self, data: bytes, _max_length: int, /) -> bytes:
        import zstandard

        waiting = self._waiting or memoryview(data)
        self._waiting = waiting[ZSTD_STEP:]
        try:
            return self._inner.decompress(waiting[:ZSTD_STEP])
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from error


@dataclass(frozen=True, kw_only=True)
class Compression:
    name: str
    magic: re.Pattern[bytes]
    decompressor: Callable[[], _Decompressor]


COMPRESSIONS = (
    Compression(name="gzip", magic=re.compile(rb"\x1f\x8b"), decompressor=_Gzip),
    Compression(
        name="xz", magic=re.compile(rb"\xfd7zXZ\0"), decompressor=lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)
    ),
    Compression(name="bzip2", magic=re.compile(rb"BZh[1-9]"), decompressor=bz2.BZ2Decompressor),
    # Also the frames to skip, which some tools put first.
    Compression(name="zstd", magic=re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), decompressor=_Zstd),
)


def plain_blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks themselves, or what they hold compressed, in blocks of at most LARGEST_BLOCK bytes."""
    first = _beginning(b"", chunks)
    compression = next((compression for compression in COMPRESSIONS if compression.magic.match(first)), None)
    if compression is None:
        yield first
        yield from chunks
    else:
        yield from _decompressed(first, chunks, compression)


def _decompressed(data: bytes, chunks: Iterator[bytes], compression: Compression) -> Iterator[bytes]:
    """Members that follow one another are one text, as for the tools themselves."""
    while data:
        if not compression.magic.match(data):
            raise DamagedCompressionError(f"something else follows the {compression.name} part of the file")
        decompressor = compression.decompressor()
        while not decompressor.eof:
            try:
                block = decompressor.decompress(data, LARGEST_BLOCK)
            except (zlib.error, lzma.LZMAError, OSError) as error:
                raise DamagedCompressionError(f"the {compression.name} compression is damaged ({error})") from error
            for start in range(0, len(block), LARGEST_BLOCK):
                yield block[start : start + LARGEST_BLOCK]
            data = b""
            if decompressor.needs_input and not decompressor.eof and not (data := next(chunks, b"")):
                raise DamagedCompressionError(f"the file is cut off within its {compression.name} compression")
        data = _beginning(decompressor.unused_data, chunks, padding=b"\0")


def _beginning(data: bytes, chunks: Iterator[bytes], *, padding: bytes = b"") -> bytes:
    """What comes next, long enough to be known by its first bytes; zeros may stand after a member."""
    data = data.lstrip(padding)
    while len(data) < LONGEST_MAGIC and (more := next(chunks, b"")):
        data = (data + more).lstrip(padding)
    return data


SUFFIXES = (".gz", ".xz", ".bz2", ".zst")


def plain_name(path: Path) -> str:
    """`wiki.en.txt` for `wiki.en.txt.xz`."""
    return path.stem if path.suffix in SUFFIXES else path.name


def found(path: Path) -> Path | None:
    """The file at a path, or the same file plain or otherwise compressed, if there is one."""
    plain = path.with_name(plain_name(path))
    for each in (path, plain, *(plain.with_name(plain.name + suffix) for suffix in SUFFIXES)):
        if each.is_file():
            return each
    return None
