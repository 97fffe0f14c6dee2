"""Files that a study names, identified by their content wherever they lie."""

import json
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.corpora.readers.decompression import found
from isoglot.errors import IsoglotError, MissingDataError, nearest_file, option
from isoglot.files import parsed_json, sha256_of
from isoglot.store import NOT_IDENTITY

SHA256 = re.compile("[0-9a-f]{64}")
LARGE_BYTES = 64 << 20  # a smaller file is read in a moment
SETTLED_SECONDS = 5  # a file written just now may be written again without its modification time changing


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file by the sha256 of its bytes."""

    sha256: str
    path: Path = field(metadata=NOT_IDENTITY)
    num_bytes: int = field(metadata=NOT_IDENTITY)

    def check_unchanged(self) -> None:
        """Refuse an artifact made from a file that was written while it was read."""
        with suppress(OSError):
            if sha256_of(self.path) == self.sha256:
                return
        raise IsoglotError(f"{self.path}: changed while it was read; run again when it is complete")


def source_file(path: Path, *, wanted_by: str) -> SourceFile:
    """The file at a path, plain or compressed; the digest of a large, unchanged file comes from a cache."""
    try:
        path = found(path) or path
        status = path.stat()
        if not path.is_file():
            raise MissingDataError(f"{wanted_by}: {path}: not a file; name the files in it one by one")
        is_cached = status.st_size >= LARGE_BYTES and time.time() - status.st_mtime >= SETTLED_SECONDS
        key = f"{path.absolute()} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
        digest = _cached_sha256(path, key) if is_cached else sha256_of(path)
        return SourceFile(sha256=digest, path=path, num_bytes=status.st_size)
    except OSError as error:
        raise MissingDataError(f"{wanted_by}: {path}: {_reason(path, error)}") from None


def total_bytes(files: Iterable[SourceFile]) -> int:
    return sum(file.num_bytes for file in files)


def _cached_sha256(path: Path, key: str) -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isoglot" / "digests.json"
    known: dict[str, str] = {}
    # A damaged or missing cache counts as empty.
    with suppress(OSError, ValueError, AttributeError):
        entries = parsed_json(cache.read_text(encoding="utf-8")).items()
        known |= {each: digest for each, digest in entries if SHA256.fullmatch(str(digest))}
    if key not in known:
        known[key] = sha256_of(path)
        # Without write access only time is lost: the next command reads the file again.
        with suppress(OSError):
            cache.parent.mkdir(parents=True, exist_ok=True)
            # Several commands may write at once, so each has a draft of its own.
            draft = cache.with_name(f"{cache.name}.{os.getpid()}")
            draft.write_text(json.dumps(known, indent=0) + "\n", encoding="utf-8")
            draft.replace(cache)
    return known[key]


def _reason(path: Path, error: OSError) -> str:
    try:
        beside = sorted(each.name for each in path.parent.iterdir())
    except OSError:
        return f"{error.strerror}; is {option('data')} or ISOGLOT_DATA the folder that the study's paths start from?"
    near = nearest_file(path.name, beside) if isinstance(error, FileNotFoundError) else None
    return f"{error.strerror}" + (f"; did you mean {near}?" if near else "")
