"""Standard streams of a command that nobody reads any more, as after `isoglot results demo --json | head -1`."""

import io
import sys
from typing import TYPE_CHECKING, ClassVar, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

CLOSED_PIPE = 141  # the status that a shell gives a program ended by SIGPIPE


# Below all buffers, since whatever prints, a library among them, comes through here; and what a buffer still holds when
# Python ends is no reason for a traceback.
class Outlet(io.FileIO):
    """Standard output or standard error."""

    # The message on standard error, once, of a command that goes on unread; None: it ends.
    last_word: ClassVar[str | None] = None

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._is_unread = False

    def write(self, content: "ReadableBuffer", /) -> int:
        if not self._is_unread:
            try:
                return super().write(content)
            except BrokenPipeError:
                self._is_unread = True
            if self.last_word is None:
                raise SystemExit(CLOSED_PIPE)
            if self.fileno() != sys.stderr.fileno():
                print(self.last_word, file=sys.stderr)
        return memoryview(content).nbytes


def watch_readers() -> None:
    """Have the command end quietly when the pipe that it writes to is closed."""
    sys.stdout, sys.stderr = (_watched(stream) for stream in (sys.stdout, sys.stderr))


def outlive_readers(last_word: str) -> None:
    """Have it go on instead, after a word on standard error: days of training must not end with a `head`."""
    Outlet.last_word = last_word


def _watched(stream: TextIO) -> TextIO:
    # None, where a command was begun without one.
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(Outlet(stream.fileno())),
        encoding=stream.encoding,
        # A terminal without Greek letters must not lose a study's results.
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
