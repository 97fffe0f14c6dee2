"""Opening an address: who we say we are, which redirects we follow, and what can go wrong in words."""

import http.client
import os
import platform
import socket
import ssl
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
