"""The file that artifacts travel in: a tar.xz whose first member names the others; same files, same bytes."""

import io
import json
import lzma
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from isoglot.errors import IsoglotError
from isoglot.files import flush, lease
from isoglot.store.canonical import Json

MANIFEST = "isoglot-pack.json"
FORMAT = 1
ARTIFACTS, SUMMARIES, LOGS = "artifacts", "summaries", "logs"
"""Folders of the archive: those that travel whole, those that do not, and what their making was like."""
XZ_MAGIC = b"\xfd7zXZ\0"
FOLDER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{16}")
# Nearly as small as xz makes it by default, in a ninth of the time; gold answers that many runs are tested by stand
# there once, since they lie less than 16 MB apart.
FILTERS: Sequence[Mapping[str, Any]] = ({"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": 1 << 24},)
DAMAGE = (lzma.LZMAError, tarfile.TarError, EOFError, ValueError, OverflowError)
CHUNK_BYTES = 1 << 20
MOST_MANIFEST_BYTES = 1 << 26


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What an archive holds."""

    members: Mapping[str, int]
    """Bytes of every file by its name in the archive."""
    logs: Sequence[str]
    """Artifacts that have a folder of logs, be it empty."""

    def content(self) -> bytes:
        """As it stands in the archive."""
        told: Json = {"format": FORMAT, "logs": [*self.logs], "members": {**self.members}}
        return (json.dumps(told, indent=1) + "\n").encode()


def write_archive(path: Path, files: Mapping[str, Path | bytes], *, logs: Sequence[str]) -> None:
    """Write files or contents under the names that they are to have; an older archive stays until this one is whole."""
    draft = path.with_name(f"{path.name}.partial")
    try:
        with lease(path.with_name(f"{path.name}.lease"), waiting=lambda _: None):
            try:
                _write(draft, files, logs=logs)
                flush(draft)
                draft.replace(path)
                flush(path.parent)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from error


def is_xz(path: Path) -> bool:
    """Whether a file begins as every archive does."""
    try:
        # What is no file, as a pipe, might have nothing to be read.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return _begins_as_xz(file)
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from error


def _begins_as_xz(file: IO[bytes]) -> bool:
    return file.read(len(XZ_MAGIC)) == XZ_MAGIC


def _write(draft: Path, files: Mapping[str, Path | bytes], *, logs: Sequence[str]) -> None:
    members = {
        name: len(file) if isinstance(file, bytes) else file.stat().st_size for name, file in sorted(files.items())
    }
    manifest = Manifest(members=members, logs=sorted(logs)).content()
    with (
        lzma.open(draft, "wb", format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=FILTERS) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.addfile(_header(MANIFEST, len(manifest)), io.BytesIO(manifest))
        for name, num_bytes in members.items():
            source = files[name]
            with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
                tar.addfile(_header(name, num_bytes), file)


def _header(name: str, num_bytes: int) -> tarfile.TarInfo:
    """Without what differs from one machine, person or day to the next."""
    header = tarfile.TarInfo(name)
    header.size, header.mode = num_bytes, 0o644
    return header


@contextmanager
def opened_archive(path: Path) -> Iterator[tuple[Manifest, Iterator[tuple[str, Iterator[bytes]]]]]:
    """What an archive says it holds, then its members one after the other; refused at the first that is not so.

    Only when the last member was taken, is it known that nothing is wanting.
    """
    try:
        packed = path.open("rb")
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from error
    with packed, ExitStack() as opened:
        if not _begins_as_xz(packed):
            raise _no_archive(path)
        packed.seek(0)
        with _clear_damage(path):
            file = opened.enter_context(lzma.open(packed, format=lzma.FORMAT_XZ))
            tar = opened.enter_context(_opened_tar(path, file))
            manifest = _manifest(path, tar)
        yield manifest, _members(path, tar, file, manifest=manifest)


@contextmanager
def _clear_damage(path: Path) -> Iterator[None]:
    """Around what reads the archive, and nothing else: errors of whoever reads its members are their own."""
    try:
        yield
    except DAMAGE as error:
        raise IsoglotError(
            f"{path}: cut off or damaged ({error or type(error).__name__}); copy it again from where it was packed"
        ) from error


def _opened_tar(path: Path, file: lzma.LZMAFile) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=file, mode="r|")
    except tarfile.TarError as error:
        raise _no_archive(path) from error


def _no_archive(path: Path) -> IsoglotError:
    return IsoglotError(f"{path}: not an archive of `isoglot pack`")


def _manifest(path: Path, tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    content = None if first is None or first.name != MANIFEST else tar.extractfile(first)
    if first is None or content is None:
        raise _no_archive(path)
    if first.size > MOST_MANIFEST_BYTES:
        raise IsoglotError(f"{path}: {MANIFEST} in it has {first.size:,} bytes, more than any archive needs")
    text = content.read()
    try:
        told = json.loads(text)
        number = int(told["format"])
        if number > FORMAT:
            raise IsoglotError(f"{path} has format {number}, and this isoglot reads up to {FORMAT}: update isoglot")
        manifest = Manifest(
            members={str(name): int(size) for name, size in told["members"].items()},
            logs=[str(name) for name in told["logs"]],
        )
        if any(size < 0 for size in manifest.members.values()):
            raise ValueError("a size below nought")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise IsoglotError(f"{path}: damaged ({MANIFEST} in it does not say what it holds)") from error
    for name in (*manifest.members, *(f"{LOGS}/{folder}/-" for folder in manifest.logs)):
        _refuse_foreign(path, name)
    if inside := {str(parent) for name in manifest.members for parent in Path(name).parents} & {*manifest.members}:
        raise IsoglotError(f"{path}: its member {min(inside)!r} is both a file and a folder")
    return manifest


def _refuse_foreign(path: Path, name: str) -> None:
    """Whatever would be written elsewhere than into the folder of an artifact."""
    top, _, rest = name.partition("/")
    folder, _, file = rest.partition("/")
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
        raise IsoglotError(f"{path}: its member {name!r} is named to be written outside of the store")
    if top not in (ARTIFACTS, SUMMARIES, LOGS) or not FOLDER.fullmatch(folder) or {"", "."} & {*file.split("/")}:
        raise IsoglotError(f"{path}: its member {name!r} is no file of an artifact")


def _members(
    path: Path, tar: tarfile.TarFile, file: lzma.LZMAFile, *, manifest: Manifest
) -> Iterator[tuple[str, Iterator[bytes]]]:
    left = dict(manifest.members)
    with _clear_damage(path):
        for each in tar:
            if each.name == MANIFEST and each.offset == 0:
                continue
            _refuse_foreign(path, each.name)
            if not each.isreg():
                raise IsoglotError(f"{path}: its member {each.name!r} is a link or no plain file")
            content = tar.extractfile(each)
            if content is None or left.pop(each.name, None) != each.size:
                raise IsoglotError(f"{path}: its member {each.name!r} is not as {MANIFEST} in it says")
            yield each.name, _chunks(path, content)
        # Checksums of xz are compared when its last byte is read.
        while file.read(CHUNK_BYTES):
            pass
    if left:
        raise IsoglotError(f"{path}: {len(left)} files are wanting in it, {min(left)!r} among them")


def _chunks(path: Path, content: IO[bytes]) -> Iterator[bytes]:
    with _clear_damage(path):
        while chunk := content.read(CHUNK_BYTES):
            yield chunk
