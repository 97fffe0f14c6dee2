"""The exceptions for mistakes that the user can fix, what to say of any other, and the words for it."""

import copyreg
import os
import re
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 4000
COMMAND = "ISOGLOT_COMMAND"
"""Set while a command of the terminal runs, in its worker processes too."""
# As _codes sees them, without digits: bz is of bz2.
FILE_SUFFIXES = {"bio", "bz", "csv", "gz", "tsv", "txt", "vec", "xz", "zst"}
# Control characters but for tab and newline, halves of surrogate pairs, and marks that turn the direction of writing:
# from a hostile file they would move the cursor, set the terminal's title, or show a name that is not there.
UNSHOWABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


def readable(message: str) -> str:
    """A message fit for a terminal: what cannot be shown is escaped, and the middle of a very long one left out."""
    if len(message) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        message = f"{message[:half]} [... {len(message) - 2 * half:,} characters ...] {message[-half:]}"
    return UNSHOWABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), message)


class IsoglotError(Exception):
    """Names the file, line, key or flag at fault and the fix. The user of a command sees no traceback.

    >>> ig.Study.load("dem")
    Traceback (most recent call last):
    isoglot.errors.IsoglotError: dem: no such study; ...did you mean 'demo'?
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(str(message)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker's error comes here without __init__, which in a subclass may take other things than the message.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class MissingDataError(IsoglotError):
    """A file that a part of a study needs is missing. The rest of the study goes on without it."""


class UnnamedDataError(MissingDataError):
    """A study names no file of a kind that a part of it needs, so that nothing that was made rests on one."""


@contextmanager
def command_in_work() -> Iterator[None]:
    """Inside the block messages name settings as flags."""
    os.environ[COMMAND] = "1"
    try:
        yield
    finally:
        os.environ.pop(COMMAND, None)


def option(flag: str, value: object = "", *, python: str = "") -> str:
    """A setting as its user gives it: "--largest-file 1GB" to a command, "largest_file=1GB" from Python.

    `python` is what to say there where the parameter has another name.
    """
    if COMMAND in os.environ:
        return f"--{flag} {value}".rstrip()
    return python or f"{flag.replace('-', '_')}={value}"


def unexpected(error: Exception, path: Path | None = None, *, title: str = "") -> str:
    """One sentence about an error that is nobody's to fix; its traceback is saved at the path, or in a new file."""
    lines = f"{title}\n\n{''.join(traceback.format_exception(error))}".lstrip()
    summary = readable("".join(traceback.format_exception_only(error)).strip())
    place = "could not be saved"
    with suppress(OSError):
        if path is None:
            descriptor, name = tempfile.mkstemp(prefix="isoglot-traceback-", suffix=".txt")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            # A new file: nothing is written through a link that somebody put there meanwhile.
            descriptor, name = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), str(path)
        with os.fdopen(descriptor, "wb") as file:
            file.write(lines.encode(errors="backslashreplace"))
        place = f"is in {name}"
    return f"{summary}; an error of isoglot's own, or of a library: its traceback {place}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like this one, or None if no word is similar."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def nearest_file(name: str, beside: Iterable[str]) -> str | None:
    """The name most like this one among those of the same languages and split: others would be the wrong data."""
    return nearest(name, [each for each in beside if each != name and _codes(each) == _codes(name)])


def _codes(name: str) -> set[str]:
    return {*re.findall(r"(?<![a-z])(?:[a-z]{2,3}|train|dev|test)(?![a-z])", name)} - FILE_SUFFIXES


def suggestion(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'seeds'?"`, or nothing if no known word is similar."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"
