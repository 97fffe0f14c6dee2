"""Tensors in files, and checksums of the files that one attempt at a training leaves to the next."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from isoglot.files import file_to_extend, flush, sha256_of, text_sum

if TYPE_CHECKING:
    from torch import Tensor

CHECKPOINTS = "checkpoints"
"""The folder of checkpoints inside the folder of what is trained."""
SUMS_NAME = ".isoglot-sums"


class WorkSums:
    """Checksums of the files that an attempt leaves in its folder, for the attempt that goes on from them."""

    # A line is added before its file is put into place, so a kill leaves a file with the sum of one of its lines. Lines
    # begin with their line break: after one that a power cut has torn, the next is whole.

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, path: Path, sha256: str) -> None:
        line = f"{sha256} {path.relative_to(self.folder).as_posix()}"
        with file_to_extend(self.folder / SUMS_NAME) as file:
            file.write(f"\n{text_sum(line)[:16]} {line}".encode())
            os.fsync(file.fileno())

    def by_name(self) -> dict[str, list[str]]:
        """The sums of each file, oldest first, without lines that are damaged themselves."""
        sums: dict[str, list[str]] = {}
        with suppress(FileNotFoundError):
            for line in (self.folder / SUMS_NAME).read_bytes().decode(errors="replace").split("\n"):
                seal, _, rest = line.partition(" ")
                sha256, _, name = rest.partition(" ")
                if seal == text_sum(rest)[:16]:
                    sums.setdefault(name, []).append(sha256)
        return sums

    def damaged(self, names: Iterable[str], *, latest: bool) -> str | None:
        """The first of these files that is missing, or has the sum of none of its lines; or not of its latest one."""
        sums = self.by_name()
        for name in names:
            try:
                if sha256_of(self.folder / name) in sums.get(name, [])[-1 if latest else 0 :]:
                    continue
            except FileNotFoundError:
                pass
            return name
        return None


class WriteTensors(Protocol):
    """A function that writes tensors into a file, at once like `write_tensors` or later."""

    def __call__(
        self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None
    ) -> None: ...


def write_tensors(
    tensors: Mapping[str, Tensor],
    path: Path,
    *,
    metadata: Mapping[str, str] | None = None,
    sums: WorkSums | None = None,
    previous: Path | None = None,
) -> None:
    """Replace a safetensors file in one step. The next call removes what a kill has left.

    Its checksum goes to `sums`, and the file that it replaces to `previous`.
    """
    from safetensors.torch import save_file

    # safetensors writes a draft under a random name beside its target; in its own folder the draft can be removed.
    scratch = path.with_name(path.name + ".writing")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    fresh = scratch / path.name
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(on_cpu, fresh, metadata=dict(metadata) if metadata is not None else None)
    fresh.chmod(scratch.stat().st_mode & 0o666)  # safetensors lets only the owner read it
    flush(fresh)
    if sums is not None:
        sums.add(path, sha256_of(fresh))
    if previous is not None:
        with suppress(FileNotFoundError):
            path.replace(previous)
    fresh.replace(path)
    scratch.rmdir()
