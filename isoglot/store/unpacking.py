"""Artifacts from another machine put into a store, each by a rename, once all of an archive were found sound."""

import errno
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, flush, lease, write_whole
from isoglot.store.pack_archive import ARTIFACTS, LOGS, SUMMARIES, Manifest, opened_archive
from isoglot.store.record import (
    RECORD_NAME,
    SUMMARY_NAME,
    FileSum,
    Record,
    file_sums,
    parsed_record,
    read_record,
    read_summary,
    summarised_files,
)
from isoglot.store.store import Store, ignore_holder

UNPACKING = "unpacking"
"""In the store, while that goes on; what a kill leaves there the next one removes."""
SHOWN_OF_NAME = 40


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """What an archive brought."""

    whole: int
    summaries: int
    present: int
    """Of both, how many the store had already."""
    made_twice: tuple[str, ...]
    """Titles of those that it had with other contents, and that were left as they were."""
    on_made_twice: int
    """Of those that came, how many rest on one that did not: they belong to another making than the store's."""


def unpack(archive: Path, store: Store, *, waiting: Callable[[str], None] = ignore_holder) -> Unpacked:
    """Put into the store what it lacks of an archive."""
    with opened_archive(archive) as (manifest, _), clear_disk_errors(store.root):
        _refuse_without_room(archive, manifest, root=store.root)
    with clear_disk_errors(store.root), _nothing_left_of(store.root):
        store.root.mkdir(parents=True, exist_ok=True)
        draft = store.root / UNPACKING
        with lease(store.root / f"{UNPACKING}.lease", waiting=waiting):
            try:
                _remove(draft)
                _extract(archive, draft)
                return _merged(draft, store, archive=archive)
            finally:
                _remove(draft)


def _refuse_without_room(archive: Path, manifest: Manifest, *, root: Path) -> None:
    disk = shutil.disk_usage(next(each for each in (root, *root.parents) if each.exists()))
    wanted = sum(manifest.members.values())
    # File systems that do not know their size say it is nought.
    if disk.total and wanted > disk.free:
        raise IsoglotError(
            f"{archive}: what is in it takes {wanted:,} bytes, and {disk.free:,} are free for the store {root}: free "
            "some, or choose a store on another disk with --store"
        )


@contextmanager
def _nothing_left_of(root: Path) -> Iterator[None]:
    """Take the store's folder away again if it was not there before and nothing came into it."""
    new = [each for each in (root, *root.parents) if not each.exists()]
    try:
        yield
    finally:
        with suppress(OSError):
            for each in new:
                each.rmdir()


def _remove(draft: Path) -> None:
    if draft.exists():
        shutil.rmtree(draft)


def _extract(archive: Path, draft: Path) -> None:
    try:
        with opened_archive(archive) as (manifest, members):
            for folder in (ARTIFACTS, SUMMARIES, LOGS, *(f"{LOGS}/{name}" for name in manifest.logs)):
                (draft / folder).mkdir(parents=True)
            for name, content in members:
                path = draft / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    file.writelines(content)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        name = Path(str(error.filename)).name[:SHOWN_OF_NAME]
        raise IsoglotError(f"{archive}: the name of a file in it is too long for a disk ({name}...)") from error


def _merged(draft: Path, store: Store, *, archive: Path) -> Unpacked:
    whole = list(_checked(draft / ARTIFACTS, archive=archive))
    summaries = list(_checked(draft / SUMMARIES, archive=archive))
    moves: list[tuple[Path, Path]] = []
    dropped, brought, num_present = list[Record](), list[Record](), 0
    for top, record in [(ARTIFACTS, each) for each in whole] + [(SUMMARIES, each) for each in summaries]:
        source = draft / top / record.folder_name
        target = store.folder(record) if top == ARTIFACTS else store.summary_folder(record)
        present = _sound_folder(record, store=store)
        # The first stays, since results here were measured on it; those that come were measured on the second.
        if present is not None and read_record(present).files != record.files:
            dropped.append(record)
            continue
        if present is None:
            brought.append(record)
        elif not _tells_more(source, record, target=target, present=present):
            num_present += 1
            continue
        # Logs first: as long as the artifact is wanting, another attempt brings what a kill has prevented.
        if (logs := draft / LOGS / record.folder_name).exists():
            _flush_all(logs)
            moves.append((logs, store.log_folder(record)))
        if top == SUMMARIES and target.exists():
            moves.append((target, source.with_name(f"{source.name}.old")))
        moves.append((source, target))
    store.create()
    for source, target in moves:
        _move(source, target)
    return Unpacked(
        whole=len(whole),
        summaries=len(summaries),
        present=num_present,
        made_twice=tuple(each.title for each in dropped),
        on_made_twice=_num_resting_on(dropped, among=brought),
    )


def _sound_folder(record: Record, *, store: Store) -> Path | None:
    """Where the store tells of the artifact; a summary that is damaged does not."""
    folder = store.find_folder(record)
    if folder is not None and folder == store.summary_folder(record):
        try:
            read_summary(folder, stage=record, contents=True)
        except IsoglotError:
            return None
    return folder


def _tells_more(source: Path, record: Record, *, target: Path, present: Path) -> bool:
    """Whether what comes is whole and there is a summary, or is a summary of more files."""
    if source.parent.name == ARTIFACTS:
        return present != target
    return present == target and {*summarised_files(present, record)} < {*summarised_files(source, record)}


def _num_resting_on(dropped: Sequence[Record], *, among: Sequence[Record]) -> int:
    """How many were made from one that was dropped, or from what was made from it and came along."""
    resting = {each.digest for each in dropped}
    while more := {each.digest for each in among if resting & {*each.inputs.values()}} - resting:
        resting |= more
    return len(resting) - len(dropped)


def _checked(folder: Path, *, archive: Path) -> Iterator[Record]:
    """Records of what lies there, once every file is as these say and on the disk itself."""
    for draft in sorted(folder.iterdir()):
        place = f"{archive}: {folder.name}/{draft.name}"
        record = _record(draft, place=place)
        sums = file_sums(draft, leave_out=[RECORD_NAME])
        _refuse_other(record.files, sums, place=place, whole=folder.name == ARTIFACTS)
        if folder.name == SUMMARIES:
            write_whole(draft / SUMMARY_NAME, json.dumps({"files": [*sums]}, indent=1) + "\n")
        flush(draft / RECORD_NAME)
        flush(draft)
        yield record


def _record(draft: Path, *, place: str) -> Record:
    try:
        record = parsed_record((draft / RECORD_NAME).read_bytes(), path=f"{place}/{RECORD_NAME}")
    except FileNotFoundError:
        raise IsoglotError(f"{place} has no {RECORD_NAME}; copy the archive again, or pack it again") from None
    except ValueError as error:
        raise IsoglotError(f"{place}/{RECORD_NAME} {error}; copy the archive again, or pack it again") from error
    if record.folder_name != draft.name:
        raise IsoglotError(f"{place}/{RECORD_NAME} is of another artifact ({record.folder_name})")
    return record


def _refuse_other(expected: Mapping[str, FileSum], found: Mapping[str, FileSum], *, place: str, whole: bool) -> None:
    for name in sorted(expected.keys() | found.keys() if whole else found):
        if found.get(name) != expected.get(name):
            raise IsoglotError(
                f"{place}/{name} is not what its record says (it is missing, or its sha256 is another); copy the "
                "archive again, or pack it again"
            )


def _flush_all(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        flush(path)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    try:
        source.rename(target)
    except OSError as error:
        # A run may have made it meanwhile, or logs of it before.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    flush(target.parent)
