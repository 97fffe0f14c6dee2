"""Downloads that go on where they broke off, and start over where the file has changed."""

import http.client
import json
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path

from isoglot.data_sets.connecting import LastingError, PassingError, opened_url
from isoglot.errors import IsoglotError
from isoglot.files import flush, write_whole

CHUNK_BYTES = 1 << 18
WEAK = "W/"

Progress = Callable[[int, int | None], None]
"""Told how many bytes are there, and of how many, if that is known."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a slow or broken connection is borne with."""

    tries: int = 5
    """In a row, without a byte more than any try before."""
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 60.0

    def wait(self, failures: int, *, asked: float) -> float:
        """Seconds before the next try: twice as many each time, or what the server asks for."""
        return min(self.longest_wait, max(asked, self.first_wait * 2.0 ** (failures - 1)))


@dataclass(frozen=True, kw_only=True)
class Version:
    """What the server said of the file that a part is of: enough to tell whether it is still the same."""

    url: str
    tag: str
    """ETag, or else the time of its last change; empty if a part cannot be continued."""
    bytes: int | None


def fetch(url: str, *, part: Path, patience: Patience, progress: Progress) -> None:
    """Brings all that an address serves into a part file, from where an earlier attempt at it stopped."""
    failures, furthest = 0, -1
    while not is_whole(part, url=url):
        try:
            _go_on(url, part=part, patience=patience, progress=progress)
            break
        except PassingError as trouble:
            if trouble.start_over:
                forget(part)
            size = _size(part)
            failures = failures + 1 if size <= furthest else 1
            furthest = max(size, furthest)
            # Nobody waits long for a server that was not there in the first place.
            if failures >= (patience.tries if trouble.connected or size else min(2, patience.tries)):
                raise LastingError(f"{trouble}, tried {failures} times", connected=trouble.connected) from trouble
            time.sleep(patience.wait(failures, asked=trouble.wait))
    flush(part)


def is_whole(part: Path, *, url: str) -> bool:
    """Whether a part was brought in to its last byte and the process then ended."""
    version = _version(part)
    return version is not None and version.url == url and part.exists() and version.bytes == _size(part)


def forget(part: Path) -> None:
    """Leaves nothing that a later attempt would go on from."""
    part.unlink(missing_ok=True)
    tidy(part)


def tidy(part: Path) -> None:
    """Removes what is still noted of a part that is no more; a process may end before it has done so itself."""
    _note(part).unlink(missing_ok=True)


def adopt(part: Path, *, to: Path) -> None:
    """One rename, after which the file is there whole."""
    part.replace(to)
    flush(to.parent)
    tidy(part)


def _go_on(url: str, *, part: Path, patience: Patience, progress: Progress) -> None:
    known = _version(part)
    start = _size(part) if known is not None and known.url == url and known.tag else 0
    headers = {"Range": f"bytes={start}-", "If-Range": known.tag} if start and known is not None else {}
    with opened_url(url, headers=headers, timeout=patience.timeout) as response:
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            _refuse_other_range(response, start=start, known=known)
        elif response.status == HTTPStatus.OK:
            start = 0
        else:
            raise LastingError(f"the server says {response.status} {response.reason}")
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        _refuse_page(response, url=url)
        _refuse_too_little_room(part, bytes=(total or 0) - start)
        if not start:
            # Emptied first: the note must never vouch for bytes of another version.
            part.write_bytes(b"")
            write_whole(_note(part), json.dumps(asdict(Version(url=url, tag=_tag(response), bytes=total))))
        _append(response, part=part, start=start, total=total, progress=progress)


def _append(
    response: http.client.HTTPResponse, *, part: Path, start: int, total: int | None, progress: Progress
) -> None:
    done = start
    with part.open("ab") as file:
        while True:
            progress(done, total)
            try:
                # What has come is kept at once: read() would lose all of a chunk whose end does not come.
                chunk = response.read1(CHUNK_BYTES)
            except (OSError, http.client.HTTPException) as error:
                raise PassingError(f"the connection broke after {done} bytes ({type(error).__name__})") from error
            if not chunk:
                break
            file.write(chunk)
            file.flush()
            done += len(chunk)
    if total is not None and done != total:
        raise PassingError(f"the connection broke after {done} of {total} bytes")


def _refuse_other_range(response: http.client.HTTPResponse, *, start: int, known: Version | None) -> None:
    said = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    if known is None or said is None or not start or int(said[1]) != start:
        raise PassingError("the server sent another part of the file than was asked for", start_over=True)
    # Some servers overlook If-Range.
    if said[2] not in ("*", str(known.bytes)) or _tag(response) not in ("", known.tag):
        raise PassingError("the file has changed since its first bytes were fetched", start_over=True)


def _refuse_page(response: http.client.HTTPResponse, *, url: str) -> None:
    if response.headers.get_content_type() == "text/html" and not url.endswith(".html"):
        raise LastingError("the server sent a web page in place of the file")


def _refuse_too_little_room(part: Path, *, bytes: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if bytes > free:
        raise IsoglotError(f"{part.parent} has {free / 1e9:.1f} GB free, and {bytes / 1e9:.1f} GB more are needed")


def _tag(response: http.client.HTTPResponse) -> str:
    """What If-Range may name: a weak ETag does not promise the same bytes."""
    tag = response.headers.get("ETag", "")
    if tag and not tag.startswith(WEAK):
        return str(tag)
    return str(response.headers.get("Last-Modified", ""))


def _note(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _version(part: Path) -> Version | None:
    try:
        return Version(**json.loads(_note(part).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
