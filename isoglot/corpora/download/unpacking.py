"""Files out of zip, tar and tar.gz archives, none of whose names is ever used to write to."""

import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO

from isoglot.errors import IsoglotError

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
# The library's readers trust what they read, and stumble over damage in many ways.
DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, ValueError, OverflowError, NotImplementedError),
)
ENCRYPTED = 1
CHUNK_BYTES = 1 << 20


class Meter(io.RawIOBase):
    """A stream that refuses to give more than so many bytes."""

    def __init__(self, stream: IO[bytes], *, most_bytes: int):
        self.stream = stream
        self.left = most_bytes
        self.most_bytes = most_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            block = self.stream.read(len(buffer))
        except OSError as error:
            if error.errno is not None:
                raise
            # No fault of the disk: this is how bzip2 and gzip complain.
            raise EOFError(str(error)) from error
        self.left -= len(block)
        if self.left < 0:
            raise IsoglotError(f"it expands to more than {self.most_bytes} bytes, which it should not")
        buffer[: len(block)] = block
        return len(block)


@contextmanager
def member_stream(archive: IO[bytes], names: tuple[str, ...], *, most_bytes: int) -> Iterator[IO[bytes]]:
    """The bytes of a file in an archive, or in an archive in it; an archive with a hostile member is refused whole."""
    try:
        with _member(archive, names[0], most_bytes=most_bytes) as stream:
            if len(names) == 1:
                yield stream
            else:
                inner = io.BytesIO(stream.read())
                with member_stream(inner, names[1:], most_bytes=most_bytes) as innermost:
                    yield innermost
    except DAMAGE as error:
        raise IsoglotError(f"it is cut off or damaged ({error or type(error).__name__})") from error


@contextmanager
def _member(archive: IO[bytes], name: str, *, most_bytes: int) -> Iterator[IO[bytes]]:
    start = archive.read(len(GZIP_MAGIC))
    archive.seek(0)
    if start == ZIP_MAGIC:
        with zipfile.ZipFile(archive) as zipped:
            members = {_checked_zip_name(each): each for each in zipped.infolist()}
            _refuse_doubles([each.filename for each in zipped.infolist()])
            _refuse_bomb(sum(each.file_size for each in zipped.infolist()), most_bytes=most_bytes)
            with zipped.open(members[_the_one(name, members)]) as stream:
                yield io.BufferedReader(Meter(stream, most_bytes=most_bytes))
    else:
        wanted = _surveyed_tar(archive, name, gzipped=start == GZIP_MAGIC, most_bytes=most_bytes)
        with _opened_tar(archive, gzipped=start == GZIP_MAGIC, most_bytes=most_bytes) as tar:
            for each in tar:
                if each.name == wanted and (file := tar.extractfile(each)) is not None:
                    yield io.BufferedReader(Meter(file, most_bytes=most_bytes))
                    break


@contextmanager
def _opened_tar(archive: IO[bytes], *, gzipped: bool, most_bytes: int) -> Iterator[tarfile.TarFile]:
    archive.seek(0)
    if not gzipped:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            yield tar
        return
    # Read through a meter: tarfile itself would expand any bomb to get past it.
    with gzip.GzipFile(fileobj=archive) as expanded:
        metered = io.BufferedReader(Meter(expanded, most_bytes=2 * most_bytes))  # type: ignore[arg-type]
        with tarfile.open(fileobj=metered, mode="r|") as tar:
            yield tar
        # gzip compares its checksum only when its last byte is read.
        while metered.read(CHUNK_BYTES):
            pass


def _surveyed_tar(archive: IO[bytes], name: str, *, gzipped: bool, most_bytes: int) -> str:
    """The full name of the member that is wanted, once all have been looked at."""
    with _opened_tar(archive, gzipped=gzipped, most_bytes=most_bytes) as tar:
        members: dict[str, str] = {}
        names: list[str] = []
        total = 0
        for each in tar:
            names.append(each.name)
            total += each.size
            _refuse_bomb(total, most_bytes=most_bytes)
            _refuse_hostile_name(each.name)
            if not (each.isreg() or each.isdir()):
                raise IsoglotError(f"its member {each.name!r} is a link or a device, which no data set needs")
            if each.isreg():
                members[_normal(each.name)] = each.name
        _refuse_doubles(names)
        return members[_the_one(name, members)]


def _checked_zip_name(member: zipfile.ZipInfo) -> str:
    # zipfile cuts names at NUL and turns backslashes; what the archive says is in orig_filename.
    _refuse_hostile_name(member.orig_filename)
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise IsoglotError(f"its member {member.filename!r} is a link or a device, which no data set needs")
    if member.flag_bits & ENCRYPTED:
        raise IsoglotError(f"its member {member.filename!r} is encrypted")
    return _normal(member.filename)


def _refuse_hostile_name(name: str) -> None:
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in PurePosixPath(name).parts or name[1:2] == ":":
        raise IsoglotError(f"its member {name!r} is named to be written outside of its folder")


def _refuse_doubles(names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (key := _normal(name).casefold()) in seen:
            raise IsoglotError(f"its members {seen[key]!r} and {name!r} would be one file")
        seen[key] = name


def _refuse_bomb(total: int, *, most_bytes: int) -> None:
    if total > most_bytes:
        raise IsoglotError(f"it says it expands to {total} bytes, more than the {most_bytes} it should at most")


def _normal(name: str) -> str:
    return PurePosixPath(name).as_posix()


def _the_one(name: str, members: Iterable[str]) -> str:
    ending = [each for each in members if each == name or each.endswith(f"/{name}")]
    if len(ending) != 1:
        raise IsoglotError(f"it has {len(ending) or 'no'} files {name!r} where one was expected")
    return ending[0]
