"""The exceptions for mistakes that the user can fix, and suggestions for misspelt words."""

from collections.abc import Iterable
from difflib import get_close_matches


class IsoglotError(Exception):
    """Names the file, line, key or flag at fault and the fix. The user of a command sees no traceback.

    >>> ig.Study.load("dem")
    Traceback (most recent call last):
    isoglot.errors.IsoglotError: dem: no such study; ...did you mean 'demo'?
    """


class MissingDataError(IsoglotError):
    """A file that a part of a study needs is missing. The rest of the study goes on without it."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like this one, or None if no word is similar."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'seeds'?"`, or nothing if no known word is similar."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"
