"""One file out of a zip, tar or tar.gz archive: its bytes are read, and no name in an archive is ever written to."""

import errno
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from isoglot.errors import IsoglotError


@contextmanager
def member_stream(archive: IO[bytes], names: Sequence[str], *, most_bytes: int) -> Iterator[IO[bytes]]:
    """The bytes of a file in an archive, or in an archive in it; nothing may expand to more than most_bytes."""
    try:
        with _member(archive, names[0], most_bytes=most_bytes) as stream:
            if len(names) == 1:
                yield stream
            else:
                with member_stream(io.BytesIO(stream.read()), names[1:], most_bytes=most_bytes) as innermost:
                    yield innermost
    except Exception as error:
        # The libraries trust the bytes they read, and fail on damage in a dozen ways. gzip reports it by an OSError
        # without a number, zipfile by going to a place before the file's first byte; another number is the disk's.
        of_disk = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
        if isinstance(error, IsoglotError) or of_disk:
            raise
        raise IsoglotError(f"it is cut off or damaged ({error or type(error).__name__})") from error


@contextmanager
def _member(archive: IO[bytes], name: str, *, most_bytes: int) -> Iterator[IO[bytes]]:
    start = archive.read(2)
    archive.seek(0)
    if start == b"PK":
        with zipfile.ZipFile(archive) as zipped:
            member = zipped.getinfo(_the_one(name, zipped.namelist()))
            _refuse_bomb(member.file_size, most_bytes=most_bytes)
            # zipfile reads no further than the declared size, so a false one is noticed by the checksum.
            with zipped.open(member) as stream:
                yield stream
        return
    if start == b"\x1f\x8b":
        # Expanded whole: gzip compares its checksum only when its last byte is read.
        expanded = gzip.GzipFile(fileobj=archive).read(2 * most_bytes + 1)
        _refuse_bomb(len(expanded), most_bytes=2 * most_bytes)
        archive = io.BytesIO(expanded)
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        tar_member = tar.getmember(_the_one(name, [member.name for member in tar if member.isreg()]))
        _refuse_bomb(tar_member.size, most_bytes=most_bytes)
        tar_stream = tar.extractfile(tar_member)
        assert tar_stream is not None
        yield tar_stream


def _refuse_bomb(size: int, *, most_bytes: int) -> None:
    if size > most_bytes:
        raise IsoglotError(f"it expands to {size} bytes, more than the {most_bytes} it should at most")


def _the_one(name: str, members: Iterable[str]) -> str:
    matching = [each for each in members if each == name or each.endswith(f"/{name}")]
    if len(matching) != 1:
        raise IsoglotError(f"it has {len(matching) or 'no'} files {name!r} where one was expected")
    return matching[0]


NO_LABEL = "-"
"""The label of MultiNLI and XNLI where their annotators did not agree."""


def nli_pairs(lines: Iterable[str], *, language: str | None = None, source: str = "") -> Iterator[str]:
    """Premise, hypothesis and label of an official NLI table, and the source if given; only rows of one language."""
    rows = (line.split("\t") for line in lines)
    header = next(rows, [])
    wanted = ["sentence1", "sentence2", "gold_label", *(["language"] if language else [])]
    if missing := [name for name in wanted if name not in header]:
        raise IsoglotError(f"line 1: the header has no column {missing[0]!r}: this is not the table it should be")
    places = [header.index(name) for name in wanted]
    for number, row in enumerate(rows, start=2):
        if len(row) <= max(places):
            raise IsoglotError(f"line {number}: {len(row)} columns where the header has {len(header)}")
        fields = [row[place] for place in places]
        if (language is None or fields.pop() == language) and fields[-1] != NO_LABEL:
            yield "\t".join([*fields, source] if source else fields)


def wikiann_words(lines: Iterable[str], *, language: str) -> Iterator[str]:
    """`en:Paris<TAB>B-LOC` becomes `Paris<TAB>B-LOC`."""
    prefix = f"{language}:"
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith(prefix):
            raise IsoglotError(f"line {number}: {line!r} should begin with {prefix!r}")
        yield line.removeprefix(prefix)


REWRITES: dict[str, Callable[..., Iterator[str]]] = {
    "xnli": nli_pairs,
    "multinli": lambda lines, language: nli_pairs(lines, source="mnli_train"),  # noqa: ARG005
    "wikiann": wikiann_words,
}
