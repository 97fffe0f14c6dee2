"""A file by its name, plain or compressed."""

from pathlib import Path

SUFFIXES = (".gz", ".xz", ".bz2", ".zst")


def plain_name(path: Path) -> str:
    """`wiki.en.txt` for `wiki.en.txt.xz`."""
    return path.stem if path.suffix in SUFFIXES else path.name


def found(path: Path) -> Path | None:
    """The file at a path, or the same file plain or otherwise compressed, if there is one."""
    plain = path.with_name(plain_name(path))
    for each in (path, plain, *(plain.with_name(plain.name + suffix) for suffix in SUFFIXES)):
        if each.is_file():
            return each
    return None
