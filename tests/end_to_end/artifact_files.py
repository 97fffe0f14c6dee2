"""The files of a store, for comparing one with another."""

from pathlib import Path


def artifact_files(store: Path) -> dict[str, bytes]:
    """Every file of every artifact but its record, which holds times."""
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in store.glob("*-*/**/*")
        if path.is_file() and path.name != "record.json"
    }
