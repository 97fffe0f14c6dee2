"""Programs that stand in for those of NVIDIA's driver, on machines with and without GPUs."""

from collections.abc import Sequence
from pathlib import Path


def write_driver(folder: Path, *, lines: Sequence[str]) -> None:
    """Have nvidia-smi in a folder answer -L with these lines."""
    program = folder / "nvidia-smi"
    answer = "\n".join(lines)
    program.write_text(f"#!/bin/sh\n[ \"$1\" = -L ] && cat <<'END'\n{answer}\nEND\n")
    program.chmod(0o755)


def write_mps(folder: Path, *, does: str) -> None:
    """Have the service by which processes share a GPU do this."""
    program = folder / "nvidia-cuda-mps-control"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
