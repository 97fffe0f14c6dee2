"""Every place where isoglot leaves the paper or fills its silence, read from the marks in its own code.

Docs do not travel with an installed package, and its code does. docs/departures.md argues each of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import isoglot

MARK = "Departure: "


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One mark."""

    file: str
    """From the package's folder: "isoglot/study/scales.py"."""
    sentence: str


@cache
def departures() -> tuple[Departure, ...]:
    """All of them, by file and in the order they stand there."""
    package = Path(isoglot.__file__).parent
    return tuple(
        Departure(file=path.relative_to(package.parent).as_posix(), sentence=sentence)
        for path in sorted(package.rglob("*.py"))
        for sentence in marked_sentences(path.read_text(encoding="utf-8"))
    )


def marked_sentences(code: str) -> Iterator[str]:
    """What a mark says, to the end of its comment."""
    said: list[str] = []
    for line in (*code.splitlines(), ""):
        sign, _, comment = line.strip().partition(" ")
        goes_on = sign == "#" and not comment.startswith(MARK)
        if said and not goes_on:
            yield " ".join(said)
            said = []
        if sign == "#" and (said or comment.startswith(MARK)):
            said.append(comment.removeprefix(MARK))
