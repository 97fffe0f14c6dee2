"""What a data set is: its files, where each comes from, and where it lies under the data folder."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Rewrite = Callable[[Iterable[str]], Iterator[str]]
"""Lines of an official file in, lines as our readers take them out; none with its line end."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A file that an address serves as it is."""

    url: str
    suffix: str = ""
    """The compression the file comes in, and is kept in: `.xz`, or nothing."""
    changes: bool = False
    """Whether newer versions appear at the same address."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A zip, tar or tar.gz with several files in it, kept under the data folder as it was fetched."""

    link: Link
    path: str
    most_bytes: int
    """An archive that would expand to more is not the one meant."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file in an archive."""

    archive: Archive
    names: tuple[str, ...]
    """The end of its path; several names for a file in an archive in an archive: `("en.tar.gz", "train")`."""
    rewrite: Rewrite | None = None


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file, present if it lies at its path plain or compressed."""

    path: str
    """Under the data folder, with slashes, without the suffix of a compression."""
    source: Link | Member | None = None
    """None: it can only be put there by hand."""
    sha256: str | None = None
    """Of the uncompressed bytes, and only where we measured it on the official file."""


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """What `isoglot data list` shows in a line."""

    name: str
    what: str
    home: str
    licence: str
    bytes: int
    """About so many for all of its languages, as they are fetched."""
    languages: tuple[str, ...]
    """Those that `files` is known to have files of."""
    files: Callable[[str], tuple[DataFile, ...]]
    """The files of a language; a file of two languages belongs to the one that is not English."""
    any_language: bool = False
    """Whether other codes are worth trying; one must then say which languages to fetch."""
    by_hand: str = ""
    """How to have what cannot be fetched."""
