"""A whole store compared with its records, byte by byte, several files at once; and the removal of what is damaged."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, flush, lease
from isoglot.store.file_sums import FileSum, StrayError, UnreadableError, check_files, check_strays
from isoglot.store.record import Record, read_record, summarised_files
from isoglot.store.store import LEASE, PARTIAL, SUMMARIES, Store

REMOVED = "removed"
"""The end of a folder's name while it is deleted: a kill half-way leaves nothing that looks like an artifact."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A folder of the store that is not, or cannot be shown to be, as its record says."""

    folder: Path
    record: Record | None
    """None where that is damaged itself."""
    errors: tuple[IsoglotError, ...]

    @property
    def strays(self) -> list[Path]:
        """The files that do not belong there, where that is all that is wrong."""
        strays = [error.path for error in self.errors if isinstance(error, StrayError)]
        return strays if len(strays) == len(self.errors) else []

    @property
    def is_damage(self) -> bool:
        """False where files could not be read: nobody knows then whether they are as they were."""
        return any(not isinstance(error, UnreadableError) for error in self.errors)


def artifact_folders(store: Store) -> list[Path]:
    """The folders of all finished artifacts and summaries, by their names alone."""
    places = [*store.root.glob("*-*/"), *(store.root / SUMMARIES).glob("*-*/")]
    return sorted(path for path in places if not path.name.endswith((PARTIAL, REMOVED)))


def faults_in(
    folders: Iterable[Path], *, workers: int, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> list[Fault]:
    """All faults of these folders of artifacts. Every file is read; `progress` gets the bytes so far, and all."""
    records: dict[Path, Record | None] = {}
    errors: defaultdict[Path, list[IsoglotError]] = defaultdict(list)
    files: list[tuple[Path, str, FileSum]] = []
    for folder in folders:
        records[folder] = None
        try:
            record = records[folder] = read_record(folder)
            if record.folder_name != folder.name:
                raise IsoglotError(f"{folder}: its record is of another artifact ({record.folder_name})")
            names = summarised_files(folder, record) if folder.parent.name == SUMMARIES else record.files
            files += [(folder, name, record.files[name]) for name in names]
            check_strays(folder, record.files)
        except IsoglotError as error:
            errors[folder].append(error)

    def fault_of(file: tuple[Path, str, FileSum]) -> IsoglotError | None:
        folder, name, expected = file
        try:
            check_files(folder, {name: expected}, read=(name,))
        except IsoglotError as error:
            return error
        return None

    done, total = 0, sum(expected.bytes for *_, expected in files)
    # Threads suffice: hashlib lets others run while it reads. Large files first, so that none is left alone at the end.
    files.sort(key=lambda file: -file[2].bytes)
    with ThreadPoolExecutor(workers) as pool:
        for (folder, _, expected), fault in zip(files, pool.map(fault_of, files), strict=True):
            done += expected.bytes
            progress(done, total)
            if fault is not None:
                errors[folder].append(fault)
    return [
        Fault(folder=folder, record=records[folder], errors=tuple(found)) for folder, found in sorted(errors.items())
    ]


def remove(store: Store, fault: Fault) -> None:
    """Delete a damaged folder, or only the files that do not belong there, once no other process makes it."""
    with clear_disk_errors(store.root), lease(store.root / f"{fault.folder.name}{LEASE}"):
        if strays := fault.strays:
            for path in strays:
                path.unlink(missing_ok=True)
            return
        doomed = fault.folder.with_name(f"{fault.folder.name}.{REMOVED}")
        shutil.rmtree(doomed, ignore_errors=True)
        fault.folder.rename(doomed)
        flush(doomed.parent)
        shutil.rmtree(doomed)
