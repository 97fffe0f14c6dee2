"""Which numbers make sense in a setting: types of fields that carry their limit, and how to say it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, get_args, get_type_hints

from isoglot.errors import IsoglotError


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A test that a number, or every number of a list, must pass."""

    holds: Callable[[float], bool]
    words: str  # after "should be"


def at_least(least: int) -> Limit:
    return Limit(holds=lambda number: number >= least, words=f"at least {least}")


Count = Annotated[int, at_least(1)]
CountOrZero = Annotated[int, at_least(0)]
TwoOrMore = Annotated[int, at_least(2)]
Seed = Annotated[int, Limit(holds=lambda number: 0 <= number < 2**32, words="from 0 to 4294967295")]
Positive = Annotated[float, Limit(holds=lambda number: number > 0, words="above 0")]
UpToTen = Annotated[float, Limit(holds=lambda number: 0 <= number <= 10, words="from 0 to 10")]
Share = Annotated[float, Limit(holds=lambda number: 0 <= number <= 1, words="from 0 to 1")]
ShareBelowOne = Annotated[float, Limit(holds=lambda number: 0 <= number < 1, words="at least 0 and below 1")]
ShareInside = Annotated[float, Limit(holds=lambda number: 0 < number < 1, words="above 0 and below 1")]


def refuse_outside_limits(settings: object, *, title: str) -> None:
    """For settings that are made in Python: the same limits that hold in files."""
    for name, kind in get_type_hints(type(settings), include_extras=True).items():
        value = getattr(settings, name)
        for limit in get_args(kind)[1:]:
            if not limit.holds(value):
                raise IsoglotError(f"{title}: {name} must be {limit.words}, not {value}")
