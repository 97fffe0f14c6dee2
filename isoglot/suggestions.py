"""What somebody may have meant by a word that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, if any is like it at all."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def suggestion(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'seeds'?"`, or nothing if no known word is near."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"
