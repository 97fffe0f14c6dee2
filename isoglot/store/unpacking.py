"""Unpacks artifacts from another machine into a store, each by one rename, after the whole archive was checked."""

import errno
import json
import lzma
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from isoglot.errors import IsoglotError, option
from isoglot.files import clear_disk_errors, flush, lease, parsed_json, refuse_links, write_whole
from isoglot.store.file_sums import EVERYTHING, RECORD_NAME, SUMMARY_NAME, file_sum, file_sums
from isoglot.store.packing import ARTIFACTS, FORMAT, LOGS, MANIFEST, SUMMARIES, is_program, is_xz, manifest_sum
from isoglot.store.record import Record, check_format, parsed_record, read_artifact, read_record, summarised_files
from isoglot.store.store import Store

UNPACKING = "unpacking"
"""The folder in the store for work in progress. The next unpacking removes what a kill leaves there."""
FOLDER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{16}")
DAMAGE = (lzma.LZMAError, tarfile.TarError, EOFError, ValueError, OverflowError)
CHUNK_BYTES = 1 << 20
MOST_MANIFEST_BYTES = 1 << 26
COPY_AGAIN = "copy the archive again, or pack it again"


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """The artifacts that an archive brought."""

    whole: int
    summaries: int
    present: int  # how many of both the store had already
    made_twice: tuple[str, ...]
    """Titles of those that the store has with other contents. The store's own stay."""
    on_made_twice: int
    """How many new ones rest on one that did not come, and so belong to another making than the store's."""


def unpack(archive: Path, store: Store, *, waiting: Callable[[str], None] | None = None) -> Unpacked:
    """Put those artifacts of an archive into the store that it lacks."""
    draft = store.root / UNPACKING
    with clear_disk_errors(store.root), _opened(archive) as (tar, packed):
        members, logs = _read_manifest(archive, tar)
        _check_room(archive, sum(member.bytes for member in members.values()), root=store.root)
        store.root.mkdir(parents=True, exist_ok=True)
        try:
            for place in (draft, store.root / SUMMARIES, store.root / LOGS):
                refuse_links(place, below=store.root)
            with lease(store.root / f"{UNPACKING}.lease", waiting=waiting):
                try:
                    shutil.rmtree(draft, ignore_errors=True)
                    for folder in (ARTIFACTS, SUMMARIES, LOGS, *(f"{LOGS}/{name}" for name in logs)):
                        (draft / folder).mkdir(parents=True)
                    _extract(archive, tar, members, draft=draft)
                    # xz compares its checksum when the last byte is read.
                    while packed.read(CHUNK_BYTES):
                        pass
                    return _merge(draft, store, archive=archive)
                finally:
                    shutil.rmtree(draft, ignore_errors=True)
        finally:
            # A refused archive leaves no new folder: this fails where the store has anything in it.
            with suppress(OSError):
                store.root.rmdir()


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[tarfile.TarFile, lzma.LZMAFile]]:
    """Open an archive for reading, with errors of the reading turned into a sentence about the archive."""
    try:
        file = archive.open("rb")
    except OSError as error:
        raise IsoglotError(f"{archive}: cannot be read ({error.strerror})") from error
    with file:
        if not is_xz(archive):
            raise _no_archive(archive)
        try:
            with lzma.open(file, format=lzma.FORMAT_XZ) as packed, _opened_tar(archive, packed) as tar:
                yield tar, packed
        except DAMAGE as error:
            cause = error or type(error).__name__
            raise IsoglotError(
                f"{archive}: cut off or damaged ({cause}); copy it again from where it was packed"
            ) from error


def _opened_tar(archive: Path, packed: lzma.LZMAFile) -> tarfile.TarFile:
    try:
        # Streamed, as nothing can be sought in an xz file: members come in their order, the manifest first.
        return tarfile.open(fileobj=packed, mode="r|")
    except tarfile.TarError as error:
        raise _no_archive(archive) from error


def _no_archive(path: Path) -> IsoglotError:
    return IsoglotError(f"{path}: not an archive of `isoglot pack`")


class _Member(NamedTuple):
    bytes: int
    sha256: str


def _read_manifest(archive: Path, tar: tarfile.TarFile) -> tuple[dict[str, _Member], list[str]]:
    """Every file by its name in the archive, and the artifacts with a folder of logs, even an empty one."""
    first = tar.next()
    content = None if first is None or first.name != MANIFEST else tar.extractfile(first)
    if first is None or content is None:
        raise _no_archive(archive)
    if first.size > MOST_MANIFEST_BYTES:
        raise IsoglotError(f"{archive}: {MANIFEST} in it has {first.size:,} bytes, more than any archive needs")
    text = content.read()
    try:
        fields = parsed_json(text)
        number = int(fields["format"])
        check_format(number, newest=FORMAT, path=archive)
        if number < FORMAT:
            raise IsoglotError(f"{archive} has format {number}, which is no longer read: pack it again")
        if fields["sha256"] != manifest_sum(fields):
            raise ValueError("its checksum is that of another text")
        members = {
            str(name): _Member(int(each["bytes"]), str(each["sha256"])) for name, each in fields["members"].items()
        }
        logs = [str(name) for name in fields["logs"]]
        if any(member.bytes < 0 for member in members.values()):
            raise ValueError("a negative size")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise IsoglotError(f"{archive}: damaged ({MANIFEST} in it does not say what it holds)") from error
    for name in (*members, *(f"{LOGS}/{folder}/-" for folder in logs)):
        _refuse_foreign(archive, name)
    if folders := {str(parent) for name in members for parent in Path(name).parents} & {*members}:
        raise IsoglotError(f"{archive}: its member {min(folders)!r} is both a file and a folder")
    return members, logs


def _refuse_foreign(archive: Path, name: str) -> None:
    """Raise for a member that would be written anywhere but into the folder of an artifact."""
    top, _, rest = name.partition("/")
    folder, _, file = rest.partition("/")
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in name.split("/"):
        raise IsoglotError(f"{archive}: its member {name!r} is named to be written outside of the store")
    if top == LOGS and is_program(file):
        fix = "if nobody has planted it, pack again with this isoglot, which leaves such files out"
        raise IsoglotError(f"{archive}: its member {name!r} is a program, and no log; {fix}")
    if top not in (ARTIFACTS, SUMMARIES, LOGS) or not FOLDER.fullmatch(folder) or {"", "."} & {*file.split("/")}:
        raise IsoglotError(f"{archive}: its member {name!r} is no file of an artifact")


def _check_room(archive: Path, needed: int, *, root: Path) -> None:
    disk = shutil.disk_usage(next(each for each in (root, *root.parents) if each.exists()))
    # A file system of unknown size reports 0.
    if disk.total and needed > disk.free:
        raise IsoglotError(
            f"{archive}: what is in it takes {needed:,} bytes, and {disk.free:,} are free for the store {root}: free "
            f"some, or choose a store on another disk with {option('store')}"
        )


def _extract(archive: Path, tar: tarfile.TarFile, left: dict[str, _Member], *, draft: Path) -> None:
    """Write every member below the draft folder, and raise at the first that differs from the manifest."""
    for member in tar:
        if member.offset == 0:  # the manifest, which tarfile yields once more
            continue
        _refuse_foreign(archive, member.name)
        content = tar.extractfile(member) if member.isreg() else None
        if content is None:
            raise IsoglotError(f"{archive}: its member {member.name!r} is a link or no plain file")
        expected = left.pop(member.name, None)
        other = IsoglotError(f"{archive}: its member {member.name!r} is not as {MANIFEST} in it says")
        if expected is None or expected.bytes != member.size:
            raise other
        path = draft / member.name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as target:
                shutil.copyfileobj(content, target, CHUNK_BYTES)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            name = Path(str(error.filename)).name[:40]
            raise IsoglotError(f"{archive}: the name of a file in it is too long for a disk ({name}...)") from error
        if file_sum(path).sha256 != expected.sha256:
            raise other
    if left:
        raise IsoglotError(f"{archive}: {len(left)} files are missing in it, {min(left)!r} among them")


def _merge(draft: Path, store: Store, *, archive: Path) -> Unpacked:
    records = {top: list(_checked(draft / top, archive=archive)) for top in (ARTIFACTS, SUMMARIES)}
    moves: list[tuple[Path, Path]] = []
    dropped, brought, num_present = list[Record](), list[Record](), 0
    for top, record in [(top, record) for top, some in records.items() for record in some]:
        source = draft / top / record.folder_name
        target = store.folder(record) if top == ARTIFACTS else store.summary_folder(record)
        present = _sound_folder(record, store=store)
        # The store's own stays, since its results were measured on it; those that come were measured on the other.
        if present is not None and read_record(present).files != record.files:
            dropped.append(record)
            continue
        if present is None:
            brought.append(record)
        elif not _has_more(source, record, target=target, present=present):
            num_present += 1
            continue
        # Logs come first: while the artifact is missing, another attempt completes what a kill has prevented.
        if (logs := draft / LOGS / record.folder_name).exists():
            for path in (*logs.rglob("*"), logs):
                flush(path)
            moves.append((logs, store.log_folder(record)))
        if top == SUMMARIES and target.exists():
            moves.append((target, source.with_name(f"{source.name}.old")))
        moves.append((source, target))
    store.create()
    for source, target in moves:
        target.parent.mkdir(exist_ok=True)
        try:
            source.rename(target)
        except OSError as error:
            # A run may have made the artifact, or logs of it, meanwhile.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        flush(target.parent)
    # Records made from a dropped one, directly or through others that came along.
    resting = {each.digest for each in dropped}
    while more := {each.digest for each in brought if resting & {*each.inputs.values()}} - resting:
        resting |= more
    return Unpacked(
        whole=len(records[ARTIFACTS]),
        summaries=len(records[SUMMARIES]),
        present=num_present,
        made_twice=tuple(each.title for each in dropped),
        on_made_twice=len(resting) - len(dropped),
    )


def _sound_folder(record: Record, *, store: Store) -> Path | None:
    """The store's folder of the artifact or its summary; a damaged summary does not count."""
    folder = store.find_folder(record)
    if folder is not None and folder == store.summary_folder(record):
        try:
            read_artifact(folder, stage=record, read=EVERYTHING, is_summary=True)
        except IsoglotError:
            return None
    return folder


def _has_more(source: Path, record: Record, *, target: Path, present: Path) -> bool:
    """Whether the new one is whole and the store has a summary, or is a summary of more files."""
    if source.parent.name == ARTIFACTS:
        return present != target
    return present == target and {*summarised_files(present, record)} < {*summarised_files(source, record)}


def _checked(folder: Path, *, archive: Path) -> Iterator[Record]:
    """The records of a folder's artifacts, once every file is as its record says and on the disk itself."""
    for draft in sorted(folder.iterdir()):
        place = f"{archive}: {folder.name}/{draft.name}"
        try:
            record = parsed_record((draft / RECORD_NAME).read_bytes(), path=f"{place}/{RECORD_NAME}")
        except FileNotFoundError:
            raise IsoglotError(f"{place} has no {RECORD_NAME}; {COPY_AGAIN}") from None
        except ValueError as error:
            raise IsoglotError(f"{place}/{RECORD_NAME} {error}; {COPY_AGAIN}") from error
        if record.folder_name != draft.name:
            raise IsoglotError(f"{place}/{RECORD_NAME} is of another artifact ({record.folder_name})")
        sums = file_sums(draft, leave_out=RECORD_NAME)
        for name in sorted({*sums, *(record.files if folder.name == ARTIFACTS else ())}):
            if sums.get(name) != record.files.get(name):
                raise IsoglotError(
                    f"{place}/{name} is not what its record says (it is missing, or its sha256 differs); {COPY_AGAIN}"
                )
        if folder.name == SUMMARIES:
            write_whole(draft / SUMMARY_NAME, json.dumps({"files": [*sums]}, indent=1) + "\n")
        flush(draft)
        yield record
