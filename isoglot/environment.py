"""Whole numbers that the user sets in the environment."""

import os

from isoglot.errors import IsoglotError


def number_in(variable: str, *, of: str) -> int | None:
    """The number of something that an environment variable gives; None where it is not set."""
    wanted = os.environ.get(variable)
    if not wanted:
        return None
    if not wanted.isdecimal() or int(wanted) < 1:
        raise IsoglotError(f"{variable}={wanted!r} is no number of {of}; unset it, or give 1 or more")
    return int(wanted)
