"""Digests of data files: computed, recorded at the first fetch, and held to ever after."""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from isoglot.corpora.download.data_set import DataFile
from isoglot.corpora.readers.decompression import DamagedCompressionError, plain_blocks, plain_name
from isoglot.errors import IsoglotError
from isoglot.files import lease, write_whole

RECORD = "isoglot.sha256"
"""In the data folder; `sha256sum -c isoglot.sha256` understands it too."""
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
CHUNK_BYTES = 1 << 20

Progress = Callable[[int], None]
"""Told how many more bytes of the file are done."""


def recorded_digests(root: Path) -> dict[str, str]:
    """Path under the data folder -> sha256 of the bytes that were fetched to it."""
    path = root / RECORD
    if not path.exists():
        return {}
    digests = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        match = LINE.fullmatch(line)
        if match is None:
            raise IsoglotError(
                f"{path}:{number}: {line!r} is not a sha256 and a path with two spaces between them: "
                "delete the line; the file it stood for is then no longer compared"
            )
        digests[match[2]] = match[1]
    return digests


def record_digest(root: Path, name: str, sha256: str | None) -> None:
    """Writes down what a file is from now on; None: that nothing is known of it any more."""
    with lease(root / f"{RECORD}.lease", waiting=lambda _: None):
        before = recorded_digests(root)
        after = {other: digest for other, digest in before.items() if other != name}
        if sha256 is not None:
            after[name] = sha256
        if after != before:
            write_whole(root / RECORD, "".join(f"{after[name]}  {name}\n" for name in sorted(after)))


def bytes_digest(path: Path, *, progress: Progress = lambda _: None) -> str:
    """sha256 of a file as it lies there."""
    return _digest(file_chunks(path, progress=progress))


def content_digest(path: Path, *, progress: Progress = lambda _: None) -> str:
    """sha256 of what a file holds, whether it is compressed or not."""
    try:
        return _digest(plain_blocks(file_chunks(path, progress=progress)))
    except DamagedCompressionError as error:
        raise IsoglotError(f"{path}: {error}: delete it and have it again") from error


def refuse_other_content(path: Path, file: DataFile, *, root: Path, progress: Progress = lambda _: None) -> bool:
    """Compares a file that is there with what is known of it; False if nothing is."""
    recorded = recorded_digests(root)
    name = path.relative_to(root).as_posix()
    plain = path.with_name(plain_name(path)).relative_to(root).as_posix()
    if file.sha256 is not None:
        expected, of, by = file.sha256, content_digest(path, progress=progress), "the official file"
    elif name in recorded:
        expected, of, by = recorded[name], bytes_digest(path, progress=progress), "what was fetched first"
    elif plain in recorded:
        expected, of, by = recorded[plain], content_digest(path, progress=progress), "what was fetched first"
    else:
        return False
    if of != expected:
        raise IsoglotError(
            f"{path}: it is not {by} (sha256 {of[:12]}... where {expected[:12]}... is known): "
            "delete it and have it again"
        )
    return True


def _digest(blocks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def file_chunks(path: Path, *, progress: Progress) -> Iterator[bytes]:
    """The bytes of a file as it lies there."""
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                progress(len(chunk))
                yield chunk
    except OSError as error:
        raise IsoglotError(f"{path}: it cannot be read ({error.strerror}): see `ls -l` and `chmod`") from error
