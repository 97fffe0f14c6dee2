"""Downloads come whole or not at all, from servers that break off, change files, know no ranges, or are not there."""

import random
import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from isoglot.corpora.download import fetching
from isoglot.corpora.download.fetching import FetchError, fetch, forget, is_whole, opened_url
from isoglot.errors import IsoglotError
from tests.corpora.download.local_server import LocalServer

CONTENT = random.Random(0).randbytes(700_000)
OTHER = random.Random(1).randbytes(650_000)


def fetched(url: str, part: Path) -> bytes:
    fetch(url, part=part, progress=lambda *_: None)
    return part.read_bytes()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "file.part"


@pytest.mark.parametrize("content", [b"", b"x", CONTENT])
@pytest.mark.parametrize("says_length", [True, False])
def test_whole(
    server: LocalServer, part: Path, content: bytes, says_length: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_CONTACT", "me@example.org")
    assert fetched(server.serve("file", content, says_length=says_length), part) == content
    ((_, headers),) = server.asked
    assert re.fullmatch(r"isoglot/\S+ \(me@example.org\) .*", headers["User-Agent"])
    assert headers["Accept-Encoding"] == "identity"
    assert server.ranges_asked("file") == [None]
    assert is_whole(part, url=server.address("file")) is says_length


@pytest.mark.parametrize("ways", [{}, {"tag": None, "modified": "Sun, 06 Nov 1994 08:49:37 GMT"}])
def test_goes_on_where_the_connection_broke(server: LocalServer, part: Path, ways: dict[str, object]) -> None:
    redirect = server.serve("file", CONTENT, cuts=[300_000, 100_000], **ways)
    assert fetched(server.serve("here", b"", redirect=redirect), part) == CONTENT
    assert server.ranges_asked("file") == [None, "bytes=300000-", "bytes=400000-"]
    assert {headers.get("If-Range") for _, headers in server.asked[2:]} == {ways.get("modified", '"one"')}


def test_goes_on_from_an_earlier_run(server: LocalServer, part: Path) -> None:
    url = server.serve("file", CONTENT, cuts=[300_000] * 3, ranges=False)
    with pytest.raises(FetchError, match="broke after 300000 of 700000 bytes, tried 3 times"):
        fetched(url, part)
    assert part.stat().st_size == 300_000
    server.files["/file"].ranges = True
    assert fetched(url, part) == CONTENT
    assert server.ranges_asked("file")[-1] == "bytes=300000-"


@pytest.mark.parametrize("ways", [{"ranges": False}, {"tag": None}, {"tag": 'W/"weak"'}])
def test_starts_over_where_going_on_is_impossible(server: LocalServer, part: Path, ways: dict[str, object]) -> None:
    url = server.serve("file", CONTENT, cuts=[300_000], **ways)
    assert fetched(url, part) == CONTENT
    assert server.ranges_asked("file")[1] is None or "ranges" in ways, "a weak tag promises nothing"


@pytest.mark.parametrize("minds_if_range", [True, False])
@pytest.mark.parametrize("kept", [300_000, 660_000])
def test_starts_over_when_the_file_has_changed(
    server: LocalServer, part: Path, minds_if_range: bool, kept: int
) -> None:
    url = server.serve("file", CONTENT, cuts=[kept] * 3, ranges=False)
    with pytest.raises(FetchError):
        fetched(url, part)
    server.serve("file", OTHER, tag='"two"', minds_if_range=minds_if_range)
    assert fetched(url, part) == OTHER


def test_a_server_in_trouble_is_tried_again_but_not_for_ever(server: LocalServer, part: Path) -> None:
    url = server.serve("file", CONTENT, refusals=[429, 503])
    assert fetched(url, part) == fetched(url, part) == CONTENT
    assert len(server.asked) == 3, "a whole file is not fetched again"
    forget(part)
    assert list(part.parent.iterdir()) == []
    server.serve("file", CONTENT, refusals=[503] * 10)
    with pytest.raises(FetchError, match="the server says 503 Service Unavailable, tried 3 times"):
        fetched(url, part)
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("ways", "complaint", "requests"),
    [
        ({"refusals": [404] * 5}, "404 Not Found", 1),
        ({"refusals": [403] * 5}, "ISOGLOT_CONTACT", 1),
        ({"status": 202}, "the server says 202", 1),
        ({"status": 206}, "another part of the file than was requested", 3),
        ({"kind": "text/html; charset=utf-8"}, "a web page in place of the file", 1),
        ({"redirect": "file:///etc/passwd"}, "not safe to follow|302", 1),
        ({"redirect": "ftp://127.0.0.1/file"}, "not safe to follow", 1),
        ({"redirect": "http://[half"}, "it redirects to what is no address", 1),
    ],
)
def test_an_answer_that_is_not_the_file(
    server: LocalServer, part: Path, ways: dict[str, object], complaint: str, requests: int
) -> None:
    with pytest.raises(FetchError, match=complaint):
        fetched(server.serve("file", CONTENT, **ways), part)
    assert len(server.asked) == requests
    assert list(part.parent.iterdir()) == []


def test_nobody_answers(server: LocalServer, part: Path) -> None:
    with pytest.raises(FetchError, match=r"the host nowhere.invalid is not found .is there a network, or a proxy"):
        fetched("http://nowhere.invalid/file", part)
    with pytest.raises(FetchError, match=r"no secure connection with 127.0.0.1"):
        fetched(server.address("file").replace("http:", "https:"), part)
    # Bound, lest another program takes the number of a server that is gone.
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/file"
        with pytest.raises(FetchError, match=r"no connection with 127.0.0.1 \(Connection refused\), tried 3 times"):
            fetched(url, part)


def test_a_silent_server(server: LocalServer, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.serve("file", CONTENT, stalls_after=1000, ranges=False)
    # Long enough for the bytes that do come, on a busy machine as well.
    monkeypatch.setattr(fetching, "TRIES", 1)
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", 1)
    with pytest.raises(FetchError, match="the connection broke after 1000 bytes"):
        fetched(url, part)
    assert part.read_bytes() == CONTENT[:1000]


def test_too_large_for_the_disk(server: LocalServer, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=len(CONTENT) - 1))
    with pytest.raises(IsoglotError, match=r"has 0.0 GB free; 0.0 GB more are needed"):
        fetched(server.serve("file", CONTENT), part)
    assert not part.exists()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1, signed by nobody else, with its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl here to make a certificate with")
    path = tmp_path / "own.pem"
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    command = f"{openssl} req -x509 {key} -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*command.split(), "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


def read(url: str) -> bytes:
    with opened_url(url, headers={}) as response:
        return response.read()


def test_secure_connections(server: LocalServer, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with LocalServer(tls=context) as secure:
        url = secure.serve("file", b"x")
        with pytest.raises(FetchError, match=r"the certificate of 127.0.0.1 is not trusted \(self.signed certificate;"):
            read(url)
        assert secure.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert read(url) == b"x", "the fix that the error names"
        assert read(server.serve("there", b"", redirect=url)) == b"x"
        asked = len(server.asked)
        target = server.serve("file", b"x")
        with pytest.raises(FetchError, match=f"it redirects to {target}, which is not safe to follow"):
            read(secure.serve("here", b"", redirect=target))
        assert len(server.asked) == asked, "no way back from a secure connection"
