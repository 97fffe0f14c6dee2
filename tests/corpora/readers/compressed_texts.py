"""Bytes compressed in each way that is read, by the libraries themselves."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping

import zstandard

COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    # The default of xz takes milliseconds to begin.
    "xz": lambda content: lzma.compress(content, preset=0),
    "bz2": bz2.compress,
    "zst": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
}
WRITTEN: Mapping[str, Callable[[bytes], bytes]] = {"txt": bytes, **COMPRESSED}
"""How the bytes of a file are written, by the end of its name."""
