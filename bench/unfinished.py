"""Models in training, taken from a machine that may go away to the next one.

A snapshot has a model's last checkpoint and the models that it rests on, so that training goes on from there bit for
bit. It is larger than what one call brings home. So each call leaves some of its parts, and when all have left, the
next call begins another snapshot. The name of a part has the model, its updates, and the number of parts:
`unfinished.4a1fe16f.00230400.003-of-016`.
"""

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

PREFIX = "unfinished."


def leave(folders: list[Path], *, to: Path, waiting: Path, most: int, bytes_of_a_part: int) -> None:
    """Put the next parts, at most so many, into a folder. `waiting` keeps those that later calls leave."""
    if not (waiting.is_dir() and any(waiting.iterdir())):
        with TemporaryDirectory(dir=waiting.parent) as scratch:
            parts = Path(scratch, "parts")
            parts.mkdir()
            for folder in folders:
                write_snapshot(folder, to=parts, bytes_of_a_part=bytes_of_a_part)
            shutil.rmtree(waiting, ignore_errors=True)
            parts.rename(waiting)
    for part in sorted(waiting.iterdir())[: max(most, 0)]:
        # A call may be killed meanwhile, and half a part must not look like one.
        draft = shutil.copyfile(part, to / f"draft.{part.name}")
        draft.rename(to / part.name)
        part.unlink()
        print("left", part.name)


def write_snapshot(folder: Path, *, to: Path, bytes_of_a_part: int) -> None:
    """Write the parts of one model, while its training goes on; none if there is no checkpoint, or it has ended."""
    from isoglot.model.checkpoints import LATEST, PREVIOUS
    from isoglot.model.work_files import CHECKPOINTS, SUMS_NAME

    linked, archive = to / "linked", to / "snapshot.tar"
    (linked / CHECKPOINTS).mkdir(parents=True)
    for name in (LATEST, PREVIOUS):
        # While a new one is put into place, the last one has the other name.
        with suppress(FileNotFoundError):
            os.link(folder / CHECKPOINTS / name, linked / CHECKPOINTS / LATEST)
            break
    if not (update := updates_of(linked)):
        shutil.rmtree(linked)
        return
    with tarfile.open(archive, "w") as tar:
        tar.add(linked, folder.name)
        files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != CHECKPOINTS]
        # Checksums last, as they have a line for each file before it is there. Drafts have a suffix of their own.
        for path in sorted(files, key=lambda path: path.name == SUMS_NAME):
            if path.suffix != ".partial" and path.parent.suffix != ".writing":
                with suppress(FileNotFoundError):
                    tar.add(path, f"{folder.name}/{path.relative_to(folder)}")
    shutil.rmtree(linked)
    if folder.is_dir():
        num_parts = ceil(archive.stat().st_size / bytes_of_a_part)
        with archive.open("rb") as packed:
            for number in range(1, num_parts + 1):
                part = to / f"{PREFIX}{folder.stem[-8:]}.{update:08d}.{number:03d}-of-{num_parts:03d}"
                part.write_bytes(packed.read(bytes_of_a_part))
    archive.unlink()


def updates_of(folder: Path) -> int:
    """The updates that a folder's checkpoint has behind it; 0 where there is none."""
    from isoglot.model.checkpoints import stored_state

    return int(stored_state(folder).get("update", 0))


def snapshots(folder: Path) -> Iterator[tuple[str, list[Path], bool]]:
    """The model, the parts, and whether all are there: of each snapshot, those with fewer updates first."""
    parts = sorted(folder.glob(f"{PREFIX}*"))
    for (model, _), found in groupby(parts, key=lambda part: part.name.split(".")[1:3]):
        of_one = [*found]
        yield model, of_one, len(of_one) == int(of_one[0].name.split("-of-")[1])


def whole_snapshots(folder: Path) -> list[list[Path]]:
    """The parts of each model's last snapshot, by updates, among those that are there whole."""
    return [*{model: parts for model, parts, is_whole in snapshots(folder) if is_whole}.values()]


def put_into_place(parts: list[Path], *, store: Path) -> None:
    """Let training go on from a snapshot, if what the store has of the model is not further on."""
    store.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=store.parent) as folder:
        archive = Path(folder, "snapshot.tar")
        with archive.open("wb") as joined:
            for part in parts:
                joined.write(part.read_bytes())
        shutil.unpack_archive(archive, Path(folder, "work"), filter="data")
        for work in Path(folder, "work").iterdir():
            here = store / work.name
            if not (store / work.stem).exists() and updates_of(work) > updates_of(here):
                shutil.rmtree(here, ignore_errors=True)
                work.rename(here)
                print("training goes on in", work.name)
