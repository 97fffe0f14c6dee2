"""Digests of data files: recorded at the first fetch, and compared ever after."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from isoglot.corpora.download.official_files import DataFile
from isoglot.corpora.readers.decompression import DamagedCompressionError, plain_blocks, plain_name
from isoglot.errors import IsoglotError
from isoglot.files import lease, write_whole

RECORD = "isoglot.sha256"
"""In the data folder; `sha256sum -c isoglot.sha256` understands it too."""
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
CHUNK_BYTES = 1 << 20

Progress = Callable[[int], None]
"""Takes how many bytes of the file have been read."""


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
    """Record a file's digest, or with None drop it."""
    with lease(root / f"{RECORD}.lease", waiting=lambda _: None):
        before = recorded_digests(root)
        after = {other: digest for other, digest in before.items() if other != name}
        if sha256 is not None:
            after[name] = sha256
        if after != before:
            write_whole(root / RECORD, "".join(f"{after[name]}  {name}\n" for name in sorted(after)))


def file_digest(path: Path, *, decompressed: bool = False, progress: Progress = lambda _: None) -> str:
    """sha256 of a file's bytes, or of the bytes it holds compressed."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for block in plain_blocks(file) if decompressed else iter(lambda: file.read(CHUNK_BYTES), b""):
                digest.update(block)
                progress(file.tell())
    except DamagedCompressionError as error:
        raise IsoglotError(f"{path}: {error}: delete it and have it again") from error
    except OSError as error:
        raise IsoglotError(f"{path}: it cannot be read ({error.strerror}): see `ls -l` and `chmod`") from error
    return digest.hexdigest()


def refuse_other_content(path: Path, file: DataFile, *, root: Path, progress: Progress = lambda _: None) -> bool:
    """Compare a file that is there with the digest known for it; False if none is."""
    recorded = recorded_digests(root)
    name = path.relative_to(root).as_posix()
    plain = path.with_name(plain_name(path)).relative_to(root).as_posix()
    expected = file.sha256 or recorded.get(name) or recorded.get(plain)
    if expected is None:
        return False
    # Known digests are those of the plain file, unless the compressed one itself was fetched.
    digest = file_digest(path, decompressed=bool(file.sha256) or name not in recorded, progress=progress)
    if digest != expected:
        raise IsoglotError(
            f"{path}: it is not {'the official file' if file.sha256 else 'what was fetched first'} "
            f"(sha256 {digest[:12]}... where {expected[:12]}... is known): delete it and have it again"
        )
    return True
