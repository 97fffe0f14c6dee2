"""Clear words for what the disk of the data folder refuses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import FULL, UNUSABLE


@contextmanager
def clear_folder_errors(root: Path) -> Iterator[None]:
    """Turns a full or closed data folder into an error that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise IsoglotError(
                f"no room left in the data folder {root} ({error.strerror}): free some and run again; "
                "what was fetched is kept"
            ) from error
        if error.errno in UNUSABLE:
            raise IsoglotError(
                f"the data folder {root} cannot be used ({error.strerror}): "
                "make it a folder that you may read and write, or choose another with --data"
            ) from error
        raise
