"""Which files of artifacts travel to another machine: all small ones, and so most artifacts whole."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from isoglot.artifacts.checksums import check_files
from isoglot.artifacts.pack_archive import ARTIFACTS, LOGS, SUMMARIES, write_archive
from isoglot.artifacts.record import RECORD_NAME, Record, summarised_files
from isoglot.artifacts.stage import Stage
from isoglot.artifacts.store import Store


@dataclass(frozen=True, kw_only=True)
class Packed:
    """What went into an archive."""

    whole: int
    summaries: int
    num_bytes: int
    """Of the archive."""


def write_pack(
    path: Path, stages: Iterable[Stage], store: Store, *, largest_file: int, always: Collection[str]
) -> Packed:
    """Pack what a store has of the stages: files of so many bytes at most, and those of some names always."""

    def travels(name: str, num_bytes: int) -> bool:
        return num_bytes <= largest_file or name in always

    files: dict[str, Path] = {}
    logs, num_whole, num_summaries = [], 0, 0
    for stage in stages:
        told = store.told(stage)
        if told is None:
            continue
        record, folder = told.record, told.folder
        here = _here(record, folder, store=store)
        names = [name for name, file in record.files.items() if name in here and travels(name, file.bytes)]
        # What does not travel need not be read: weights may be many gigabytes.
        check_files(folder, {name: record.files[name] for name in names}, contents=True)
        is_whole = names == [*record.files]
        num_whole, num_summaries = num_whole + is_whole, num_summaries + (not is_whole)
        top = ARTIFACTS if is_whole else SUMMARIES
        files |= {f"{top}/{record.folder_name}/{name}": folder / name for name in (RECORD_NAME, *names)}
        log = store.log_folder(stage)
        if log.is_dir():
            logs.append(log.name)
            names = [name for name, num_bytes in _log_files(log) if travels(name, num_bytes)]
            files |= {f"{LOGS}/{log.name}/{name}": log / name for name in names}
    write_archive(path, files, logs=logs)
    return Packed(whole=num_whole, summaries=num_summaries, num_bytes=path.stat().st_size)


def _here(record: Record, folder: Path, *, store: Store) -> Collection[str]:
    return record.files if folder == store.folder(record) else summarised_files(folder, record)


def _log_files(log: Path) -> Iterator[tuple[str, int]]:
    """Names and bytes, in a folder that anyone may write into: a cluster's links are left out."""
    for parent, _, names in os.walk(log):
        for path in (Path(parent, name) for name in names):
            if not path.is_symlink() and path.is_file():
                yield path.relative_to(log).as_posix(), path.stat().st_size
