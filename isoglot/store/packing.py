"""Which files of artifacts travel to another machine: all small ones, and so most artifacts whole."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.store.pack_archive import ARTIFACTS, LOGS, SUMMARIES, write_archive
from isoglot.store.record import RECORD_NAME, Record, check_files, summarised_files
from isoglot.store.stage import Stage
from isoglot.store.store import Store


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

    files: dict[str, Path | bytes] = {}
    logs, num_whole, num_summaries = [], 0, 0
    for stage in stages:
        told = store.lookup(stage)
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
            files |= {f"{LOGS}/{log.name}/{name}": content for name, content in _log_files(log, travels)}
    write_archive(path, files, logs=logs)
    return Packed(whole=num_whole, summaries=num_summaries, num_bytes=path.stat().st_size)


def _here(record: Record, folder: Path, *, store: Store) -> Collection[str]:
    return record.files if folder == store.folder(record) else summarised_files(folder, record)


def _log_files(log: Path, travels: Callable[[str, int], bool]) -> Iterator[tuple[str, bytes]]:
    """Names and contents, in a folder that anyone may write into: a cluster's links are left out.

    They are read at once, as whoever writes one may cut or remove it before its turn in the archive comes.
    """
    for parent, _, names in os.walk(log):
        for path in (Path(parent, name) for name in names):
            name = path.relative_to(log).as_posix()
            with suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode) and travels(name, status.st_size):
                    with path.open("rb") as file:
                        yield name, file.read(status.st_size)
