"""Downloads that go on where they broke off, and start over where the file has changed."""

import http.client
import json
import os
import platform
import re
import shutil
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

import isoglot
from isoglot.errors import IsoglotError
from isoglot.files import flush, write_whole

TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
CONTACT = "ISOGLOT_CONTACT"


class PassingError(Exception):
    """Worth another try, after as many seconds as the server asks for; from the first byte if need be."""

    def __init__(self, reason: str, *, wait: float = 0.0, start_over: bool = False, connected: bool = True):
        super().__init__(reason)
        self.wait = wait
        self.start_over = start_over
        self.connected = connected


class LastingError(Exception):
    """Another try would end the same way; without a connection, one for any file of that server."""

    def __init__(self, reason: str, *, connected: bool = True):
        super().__init__(reason)
        self.connected = connected


def opened_url(url: str, *, headers: dict[str, str], timeout: float) -> http.client.HTTPResponse:
    """The answer to a request, its body still to be read."""
    # The bytes of the file are wanted, not a server's compression of them.
    asked = Request(url, headers={"User-Agent": user_agent(), "Accept-Encoding": "identity", **headers})
    try:
        response: http.client.HTTPResponse = _opener().open(asked, timeout=timeout)
    except HTTPError as error:
        error.close()
        raise _refusal(error) from error
    except URLError as error:
        raise _no_connection(error.reason, url=url) from error
    except (OSError, http.client.HTTPException) as error:
        raise _no_connection(error, url=url) from error
    return response


def user_agent() -> str:
    """Wikimedia turns away who does not say what it is and how to reach whoever runs it."""
    contact = os.environ.get(CONTACT, "").strip()
    return (
        f"isoglot/{isoglot.__version__} ({contact or 'research data sets'}) Python-urllib/{platform.python_version()}"
    )


class _CarefulRedirects(HTTPRedirectHandler):
    """Follows to http and https alone, and never from https to what anybody on the way may change."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        scheme = urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            fp.close()
            raise LastingError(f"it redirects to {newurl}, which is not safe to follow")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> OpenerDirector:
    """urllib's own would open file:, ftp: and data: as well."""
    opener = OpenerDirector()
    for part in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
        _CarefulRedirects(),
        UnknownHandler(),
    ):
        opener.add_handler(part)
    return opener


def _refusal(error: HTTPError) -> PassingError | LastingError:
    said = f"the server says {error.code} {error.reason}".rstrip()
    if error.code in TEMPORARY:
        asked_wait = error.headers.get("Retry-After", "")
        return PassingError(said, wait=float(asked_wait) if asked_wait.isdecimal() else 0.0)
    if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        return PassingError(said, start_over=True)
    if error.code == http.HTTPStatus.FORBIDDEN:
        return LastingError(f"{said}; some servers want your e-mail address or page: set {CONTACT} to it")
    return LastingError(said)


def _no_connection(reason: object, *, url: str) -> PassingError | LastingError:
    host = urlsplit(url).hostname
    match reason:
        case socket.gaierror():
            what = f"the host {host} is not found (is there a network, or a proxy to name in https_proxy?)"
        case ssl.SSLCertVerificationError():
            what = (
                f"the certificate of {host} is not trusted ({reason.verify_message}; is the clock right, "
                "or is there a file of certificates to name in SSL_CERT_FILE?)"
            )
        case ssl.SSLError():
            what = f"no secure connection with {host} ({reason.reason})"
        case OSError() | http.client.HTTPException():
            return PassingError(f"no connection with {host} ({_words(reason)})", connected=False)
        case _:
            what = f"{host} cannot be reached ({reason})"
    return LastingError(what, connected=False)


def _words(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else ""
    return text or str(error) or type(error).__name__


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
