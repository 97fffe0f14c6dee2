"""Downloads that continue where they broke off, and start over where the file has changed."""

import json
import os
import platform
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import isoglot
from isoglot.errors import IsoglotError
from isoglot.files import file_to_extend, flush, new_file, parsed_json, write_whole

TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
CONTACT = "ISOGLOT_CONTACT"
CHUNK_BYTES = 1 << 18
TRIES = 5  # in a row that bring no byte more
FIRST_WAIT_SECONDS = 1.0  # before the second try; twice as long before each one after
TIMEOUT_SECONDS = 60.0

Progress = Callable[[int, int | None], None]
"""Takes how many bytes are there, and of how many, if that is known."""


class FetchError(Exception):
    """A download that failed: may another try help, from the first byte perhaps, and did the server answer at all?"""

    def __init__(self, reason: str, *, is_temporary: bool = False, starts_over: bool = False, connected: bool = True):
        super().__init__(reason)
        self.is_temporary, self.starts_over, self.connected = is_temporary or starts_over, starts_over, connected


class Version(NamedTuple):
    """The server's description of the file that a part belongs to, enough to know whether it is still the same."""

    url: str
    tag: str
    """ETag, or else the time of its last change; empty if a part cannot be continued."""
    bytes: int | None


def fetch(url: str, *, part: Path, progress: Progress) -> None:
    """Download an address into a part file, from where an earlier attempt at it stopped."""
    failures, furthest = 0, -1
    while not is_whole(part, url=url):
        try:
            _continue(url, part=part, progress=progress)
            break
        except FetchError as error:
            if error.starts_over:
                forget(part)
            # Only tries that bring no byte more count, so that a long download may break off as often as it likes.
            size = part.stat().st_size if part.exists() else 0
            failures = failures + 1 if size <= furthest else 1
            furthest = max(size, furthest)
            if not error.is_temporary:
                raise
            if failures >= TRIES:
                raise FetchError(f"{error}, tried {failures} times", connected=error.connected) from error
            time.sleep(FIRST_WAIT_SECONDS * 2.0 ** (failures - 1))
    flush(part)


def is_whole(part: Path, *, url: str) -> bool:
    """Whether a part was downloaded to its last byte and the process then ended."""
    version = _version(part, url=url)
    # Without a validator nobody could say that it still is the server's file.
    return version is not None and bool(version.tag) and part.exists() and version.bytes == part.stat().st_size


def forget(part: Path) -> None:
    """Leave nothing that a later attempt would continue."""
    part.unlink(missing_ok=True)
    note_of(part).unlink(missing_ok=True)


def note_of(part: Path) -> Path:
    """The file that holds the version a part belongs to."""
    return part.with_name(f"{part.name}.json")


def _version(part: Path, *, url: str) -> Version | None:
    try:
        version = Version(**parsed_json(note_of(part).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    # A tag is sent back as a header, which a line break in it would end.
    is_sound = isinstance(version.tag, str) and version.tag.isprintable() and isinstance(version.bytes, int | None)
    return version if version.url == url and is_sound else None


def _continue(url: str, *, part: Path, progress: Progress) -> None:
    known = _version(part, url=url)
    start = part.stat().st_size if known and known.tag and part.exists() else 0
    # If-Range: the rest of this very version, or else all of the new one.
    headers = {"Range": f"bytes={start}-", "If-Range": known.tag} if start and known else {}
    with opened_url(url, headers=headers) as response:
        if response.status == HTTPStatus.OK:
            start = 0
        elif response.status != HTTPStatus.PARTIAL_CONTENT:
            raise FetchError(f"the server says {response.status} {response.reason}")
        elif not start or known is None or not _is_rest(response, start=start, known=known):
            raise FetchError("the server sent another part of the file than was requested", starts_over=True)
        if response.headers.get_content_type() == "text/html" and not url.endswith(".html"):
            raise FetchError("the server sent a web page in place of the file")
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        free, missing = shutil.disk_usage(part.parent).free, (total or 0) - start
        if missing > free:
            raise IsoglotError(f"{part.parent} has {free / 1e9:.1f} GB free; {missing / 1e9:.1f} GB more are needed")
        if not start:
            # Emptied first: the note must never vouch for bytes of another version.
            new_file(part).close()
            write_whole(note_of(part), json.dumps(Version(url, _tag(response), total)._asdict()))
        _append(response, part=part, done=start, total=total, progress=progress)


def _append(response: HTTPResponse, *, part: Path, done: int, total: int | None, progress: Progress) -> None:
    with file_to_extend(part) as file:
        while True:
            progress(done, total)
            try:
                # Every chunk is kept at once: read() would lose all of a chunk whose end does not come.
                chunk = response.read1(CHUNK_BYTES)
            except (OSError, HTTPException) as error:
                reason = f"the connection broke after {done} bytes ({type(error).__name__})"
                raise FetchError(reason, is_temporary=True) from error
            if not chunk:
                break
            file.write(chunk)
            done += len(chunk)
    if total is not None and done != total:
        raise FetchError(f"the connection broke after {done} of {total} bytes", is_temporary=True)


def _is_rest(response: HTTPResponse, *, start: int, known: Version) -> bool:
    """Whether an answer continues the part at its end; some servers ignore If-Range and send another version."""
    place, _, total = response.headers.get("Content-Range", "").partition("/")
    # A server that took a date for If-Range need not repeat it; an ETag it must.
    repeated = (known.tag,) if known.tag.startswith('"') else ("", known.tag)
    is_same = total in ("*", str(known.bytes)) and _tag(response) in repeated
    return is_same and place.startswith(f"bytes {start}-")


def _tag(response: HTTPResponse) -> str:
    """The value that If-Range may name: a weak ETag does not promise the same bytes."""
    tag = response.headers.get("ETag", "")
    return str(tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", ""))


class _SafeRedirects(HTTPRedirectHandler):
    """Never follows from https to an address whose answer anybody on the way may change."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            fp.close()
            raise FetchError(f"it redirects to {newurl}, which is not safe to follow")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def opened_url(url: str, *, headers: Mapping[str, str]) -> HTTPResponse:
    """The answer to a request, its body still to be read."""
    # Wikimedia refuses programs that do not name themselves and a contact.
    contact = os.environ.get(CONTACT, "").strip() or "research data sets"
    agent = f"isoglot/{isoglot.__version__} ({contact}) Python-urllib/{platform.python_version()}"
    # "identity": the bytes of the file, not a compression of them by the server.
    request = Request(url, headers={"User-Agent": agent, "Accept-Encoding": "identity", **headers})
    try:
        response: HTTPResponse = build_opener(_SafeRedirects).open(request, timeout=TIMEOUT_SECONDS)
    except HTTPError as error:
        error.close()
        answer = f"the server says {error.code} {error.reason}".rstrip()
        if error.code == HTTPStatus.FORBIDDEN:
            answer += f"; some servers want your e-mail address or page: set {CONTACT} to it"
        starts_over = error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        raise FetchError(answer, is_temporary=error.code in TEMPORARY, starts_over=starts_over) from error
    except ValueError as error:
        raise FetchError(f"it redirects to what is no address ({error})") from error
    except (OSError, HTTPException) as error:
        raise _no_connection(error.reason if isinstance(error, URLError) else error, url=url) from error
    return response


def _no_connection(reason: object, *, url: str) -> FetchError:
    host = urlsplit(url).hostname
    match reason:
        case socket.gaierror():
            problem = f"the host {host} is not found (is there a network, or a proxy to name in https_proxy?)"
        case ssl.SSLCertVerificationError():
            fix = "is the clock right, or is there a file of certificates to name in SSL_CERT_FILE?"
            problem = f"the certificate of {host} is not trusted ({reason.verify_message}; {fix})"
        case ssl.SSLError():
            problem = f"no secure connection with {host} ({reason.reason})"
        case _:
            words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
            return FetchError(f"no connection with {host} ({words})", is_temporary=True, connected=False)
    return FetchError(problem, connected=False)
