"""The one exception for a mistake the user can mend."""

from collections.abc import Iterable
from difflib import get_close_matches


class IsoglotError(Exception):
    """Names the file, line, key or flag at fault, and what would be right; shown without a traceback."""


class MissingDataError(IsoglotError):
    """A file that a part of a study needs is not there; the rest of the study can go on without."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, if any is like it at all."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'seeds'?"`, or nothing if no known word is near."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"
