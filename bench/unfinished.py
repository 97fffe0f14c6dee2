"""Models in training, taken from a machine that may go away to the next one.

A snapshot has a model's last checkpoint and the models that it rests on, so that training goes on from there bit for
bit. It is larger than what one call brings home. So each call leaves some of its parts, and when all are home, the next
call begins another snapshot. A part's name has the snapshot's time and the number of parts:
`unfinished.1795183200.03-of-16`.
"""

import os
import shutil
import tarfile
from contextlib import suppress
from itertools import groupby
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

PREFIX = "unfinished."


def leave(folders: list[Path], *, to: Path, waiting: Path, most: int, bytes_of_a_part: int) -> None:
    """Move the next parts, at most so many, to a folder. `waiting` keeps those that later calls leave."""
    if not (waiting.is_dir() and any(waiting.iterdir())):
        with TemporaryDirectory(dir=waiting.parent) as folder:
            scratch = Path(folder, "parts")
            scratch.mkdir()
            write_snapshot(folders, to=scratch, bytes_of_a_part=bytes_of_a_part)
            shutil.rmtree(waiting, ignore_errors=True)
            scratch.rename(waiting)
    for part in sorted(waiting.iterdir())[:most]:
        shutil.move(part, to / part.name)
        print("left", part.name)


def write_snapshot(folders: list[Path], *, to: Path, bytes_of_a_part: int) -> None:
    archive = to / "snapshot.tar"
    with tarfile.open(archive, "w") as tar:
        for folder in folders:
            add_work(folder, tar, scratch=to / "checkpoint")
        is_empty = not tar.getmembers()
    num_parts, name = ceil(archive.stat().st_size / bytes_of_a_part), f"{PREFIX}{time():.0f}"
    with archive.open("rb") as packed:
        for number in range(0 if is_empty else num_parts):
            part = to / f"{name}.{number + 1:02d}-of-{num_parts:02d}"
            part.write_bytes(packed.read(bytes_of_a_part))
    archive.unlink()


def add_work(folder: Path, tar: tarfile.TarFile, *, scratch: Path) -> None:
    """Add what training goes on from, while it goes on: the checkpoint first, and checksums of all files last."""
    from isoglot.model.checkpoints import LATEST, PREVIOUS
    from isoglot.model.work_files import CHECKPOINTS, SUMS_NAME

    scratch.unlink(missing_ok=True)
    for name in (LATEST, PREVIOUS):
        # While a new one is put into place, the last one has the other name.
        with suppress(FileNotFoundError):
            os.link(folder / CHECKPOINTS / name, scratch)
            break
    else:
        return
    tar.add(scratch, f"{folder.name}/{CHECKPOINTS}/{LATEST}")
    scratch.unlink()
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != CHECKPOINTS]
    for path in sorted(files, key=lambda path: path.name == SUMS_NAME):
        # Drafts, in folders of their own, may be gone by now.
        if path.parent.suffix != ".writing":
            tar.add(path, f"{folder.name}/{path.relative_to(folder)}")


def whole_snapshot(folder: Path) -> list[Path]:
    """All parts of the latest snapshot that is there whole, in order; none where there is no such snapshot."""
    found = sorted(folder.glob(f"{PREFIX}*"))
    snapshots = [[*parts] for _, parts in groupby(found, key=lambda part: part.name.split(".")[1])]
    return next((parts for parts in reversed(snapshots) if len(parts) == int(parts[0].name.split("-of-")[1])), [])


def put_into_place(parts: list[Path], *, store: Path) -> None:
    """Let training go on from a snapshot, and not from what the store has of it, if that is not finished."""
    store.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=store.parent) as folder:
        archive = Path(folder, "snapshot.tar")
        with archive.open("wb") as joined:
            for part in parts:
                joined.write(part.read_bytes())
        shutil.unpack_archive(archive, Path(folder, "work"), filter="data")
        for work in Path(folder, "work").iterdir():
            if not (store / work.stem).exists():
                shutil.rmtree(store / work.name, ignore_errors=True)
                work.rename(store / work.name)
                print("training goes on in", work.name)
