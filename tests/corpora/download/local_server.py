"""A web server of this machine that serves files well or badly, and remembers what it was asked for."""

import re
import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(kw_only=True)
class Served:
    """A file, and what goes wrong with the next requests for it."""

    content: bytes
    tag: str | None = '"one"'
    modified: str | None = None
    ranges: bool = True
    minds_if_range: bool = True
    says_length: bool = True
    status: int = 200
    """The status of an answer with all of the file."""
    kind: str = "application/octet-stream"
    refusals: list[int] = field(default_factory=list)
    """Status codes of the next answers."""
    cuts: list[int] = field(default_factory=list)
    """How many bytes of the next answers come before the connection breaks."""
    redirect: str | None = None
    stalls_after: int = 0
    """If not 0, sends so many bytes and then nothing more until the server is closed."""


class LocalServer(ThreadingHTTPServer):
    """Serves what is in `files`."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.scheme = "http" if tls is None else "https"
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.files: dict[str, Served] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def serve(self, name: str, content: bytes, **ways: object) -> str:
        """The address of a file from now on."""
        self.files[f"/{name}"] = Served(content=content, **ways)  # type: ignore[arg-type]
        return self.address(name)

    def address(self, name: str) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}/{name}"

    def ranges_asked(self, name: str) -> list[str | None]:
        return [headers.get("Range") for path, headers in self.asked if path == f"/{name}"]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no error."""


class _Answering(BaseHTTPRequestHandler):
    server: LocalServer

    def do_GET(self) -> None:
        path = self.path.removeprefix("http://nowhere.invalid")
        self.server.asked.append((path, dict(self.headers)))
        served = self.server.files.get(path)
        if served is None:
            self.send_error(404)
        elif served.refusals:
            self.send_error(served.refusals.pop(0))
        elif served.redirect is not None:
            self.send_response(302)
            self.send_header("Location", served.redirect)
            self.end_headers()
        else:
            self._send(served)

    def _send(self, served: Served) -> None:
        content, start = served.content, 0
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = not served.minds_if_range or self.headers.get("If-Range") in (served.tag, served.modified)
        if wanted and served.ranges and same:
            start = int(wanted[1])
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(served.status)
        self.send_header("Content-Type", served.kind)
        if served.says_length:
            self.send_header("Content-Length", str(len(content) - start))
        for name, value in (("ETag", served.tag), ("Last-Modified", served.modified)):
            if value:
                self.send_header(name, value)
        self.end_headers()
        stop = served.cuts.pop(0) if served.cuts else served.stalls_after or len(content) - start
        self.wfile.write(content[start : start + stop])
        if served.stalls_after:
            self.wfile.flush()
            self.server.closing.wait(300)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
