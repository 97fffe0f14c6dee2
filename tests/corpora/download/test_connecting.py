"""Secure connections: whom we trust, and what we say when we do not."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from isoglot.corpora.download.fetching import FetchError, opened_url
from tests.corpora.download.local_server import LocalServer

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="no openssl here to make a certificate with")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 127.0.0.1, signed by nobody else, with its key."""
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    command = (
        f"{OPENSSL} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[LocalServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with LocalServer(tls=context) as server:
        yield server


def read(url: str) -> bytes:
    with opened_url(url, headers={}, timeout=60) as response:
        return response.read()


def test_a_certificate_nobody_vouches_for(secure: LocalServer) -> None:
    with pytest.raises(FetchError, match=r"the certificate of 127.0.0.1 is not trusted \(self.signed certificate;"):
        read(secure.serve("file", b"x"))
    assert secure.asked == []


def test_the_fix_that_the_error_names(secure: LocalServer, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert read(secure.serve("file", b"x")) == b"x"


def test_no_way_back_from_a_secure_connection(
    secure: LocalServer, server: LocalServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    target = server.serve("file", b"x")
    with pytest.raises(FetchError, match=f"it redirects to {target}, which is not safe to follow"):
        read(secure.serve("here", b"", redirect=target))
    assert server.asked == []
    assert read(server.serve("there", b"", redirect=secure.serve("file", b"y"))) == b"y"
