"""Bytes compressed in each way that is read, by the libraries themselves."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping

import zstandard


def xz(content: bytes) -> bytes:
    # The default takes milliseconds to begin.
    return lzma.compress(content, preset=0)


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": xz,
    "bz2": bz2.compress,
    "zst": zstd,
}
WRITTEN: Mapping[str, Callable[[bytes], bytes]] = {"txt": bytes, **COMPRESSED}
"""How the bytes of a file are written, by the end of its name."""
