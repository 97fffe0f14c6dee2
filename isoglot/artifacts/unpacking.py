"""Artifacts from another machine put into a store, each by a rename, once all of an archive were found sound."""

import errno
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from isoglot.artifacts.checksums import FileSum, file_sums
from isoglot.artifacts.disk import clear_disk_errors, flush, write_whole
from isoglot.artifacts.lease import lease
from isoglot.artifacts.pack_archive import ARTIFACTS, LOGS, SUMMARIES, opened_archive
from isoglot.artifacts.record import RECORD_NAME, SUMMARY_NAME, Record, parsed_record, read_record
from isoglot.artifacts.store import Store, ignore_holder
from isoglot.errors import IsoglotError

UNPACKING = "unpacking"
"""In the store, while that goes on; what a kill leaves there the next one removes."""


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """What an archive brought."""

    whole: int
    summaries: int
    present: int
    """Of both, how many the store had already."""
    made_twice: tuple[str, ...]
    """Titles of those that it had with other contents, and that were left as they were."""


def unpack(archive: Path, store: Store, *, waiting: Callable[[str], None] = ignore_holder) -> Unpacked:
    """Put into the store what it lacks of an archive."""
    with opened_archive(archive):
        pass  # so that a file of another sort leaves no trace
    with clear_disk_errors(store.root):
        store.root.mkdir(parents=True, exist_ok=True)
        draft = store.root / UNPACKING
        with lease(store.root / f"{UNPACKING}.lease", waiting=waiting):
            try:
                _remove(draft)
                _extract(archive, draft)
                return _merged(draft, store, archive=archive)
            finally:
                _remove(draft)


def _remove(draft: Path) -> None:
    if draft.exists():
        shutil.rmtree(draft)


def _extract(archive: Path, draft: Path) -> None:
    with opened_archive(archive) as (manifest, members):
        for folder in (ARTIFACTS, SUMMARIES, LOGS, *(f"{LOGS}/{name}" for name in manifest.logs)):
            (draft / folder).mkdir(parents=True)
        for name, content in members:
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)


def _merged(draft: Path, store: Store, *, archive: Path) -> Unpacked:
    whole = list(_checked(draft / ARTIFACTS, archive=archive))
    summaries = list(_checked(draft / SUMMARIES, archive=archive))
    moves: list[tuple[Path, Path]] = []
    made_twice, num_present = [], 0
    for top, record in [(ARTIFACTS, each) for each in whole] + [(SUMMARIES, each) for each in summaries]:
        target = store.folder(record) if top == ARTIFACTS else store.summary_folder(record)
        present = store.told_folder(record)
        # What was measured on one making stays with it, even if it is only known by its summary here.
        if present is not None and read_record(present).files != record.files:
            made_twice.append(record.title)
            continue
        if present is not None and (present == target or top == SUMMARIES):
            num_present += 1
            continue
        # Logs first: as long as the artifact is wanting, another attempt brings what a kill has prevented.
        if (logs := draft / LOGS / record.folder_name).exists():
            moves.append((logs, store.log_folder(record)))
        moves.append((draft / top / record.folder_name, target))
    store.create()
    for source, target in moves:
        _move(source, target)
    return Unpacked(
        whole=len(whole),
        summaries=len(summaries),
        present=num_present,
        made_twice=tuple(made_twice),
    )


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


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    try:
        source.rename(target)
    except OSError as error:
        # A run may have made it meanwhile, or logs of it before.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    flush(target.parent)
