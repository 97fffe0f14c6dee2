"""Safetensors files that a kill cannot leave in pieces."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from safetensors.torch import save_file
from torch import Tensor


class WriteTensors(Protocol):
    """Puts tensors into a file, at once as `write_tensors` does or later."""

    def __call__(
        self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None
    ) -> None: ...


def write_tensors(tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Replace a file in one step; what a kill leaves besides the old one or the new one, the next writing removes."""
    # In a folder of its own: safetensors first writes beside its target, under another random name each time.
    scratch = path.with_name(path.name + ".writing")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    fresh = scratch / path.name
    save_file(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        fresh,
        metadata=dict(metadata) if metadata is not None else None,
    )
    fresh.chmod(scratch.stat().st_mode & 0o666)  # safetensors lets only its owner read it
    with fresh.open("rb") as written:
        os.fsync(written.fileno())
    fresh.replace(path)
    scratch.rmdir()
