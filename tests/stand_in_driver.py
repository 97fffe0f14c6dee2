"""A program that stands in for nvidia-smi, on machines with and without GPUs."""

from collections.abc import Sequence
from pathlib import Path


def write_driver(folder: Path, *, lines: Sequence[str]) -> None:
    """Have nvidia-smi in a folder answer -L with these lines."""
    program = folder / "nvidia-smi"
    answer = "\n".join(lines)
    program.write_text(f"#!/bin/sh\n[ \"$1\" = -L ] && cat <<'END'\n{answer}\nEND\n")
    program.chmod(0o755)
