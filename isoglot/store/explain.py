"""The settings in which two artifacts differ, searched through all their inputs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from isoglot.store.canonical import Json
from isoglot.store.record import Record
from isoglot.store.stage import Stage

ABSENT = "(absent)"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A setting such as "run.optimization.learning_rate", or in an input's input "streams.fr > vocabulary > merges"."""

    path: str
    a: Json
    b: Json


Described: TypeAlias = Stage | Record


def differences(a: Described, b: Described, known: Iterable[Described]) -> list[Difference]:
    """The settings that make the digests of a and b differ; `known` has the records or stages of their inputs."""
    return list(_between(a, b, at="", known={each.digest: each for each in known}, seen=set()))


def _between(
    a: Described, b: Described, *, at: str, known: dict[str, Described], seen: set[tuple[str, str]]
) -> Iterator[Difference]:
    # An input that two stages share is reported at one of them.
    if a.digest == b.digest or (a.digest, b.digest) in seen:
        return
    seen.add((a.digest, b.digest))
    if a.kind != b.kind:
        yield Difference(path=f"{at}kind", a=a.kind, b=b.kind)
        return
    if a.version != b.version:
        yield Difference(path=f"{at}version", a=a.version, b=b.version)
    for name in a.settings | b.settings:
        yield from _between_json(a.settings.get(name, ABSENT), b.settings.get(name, ABSENT), at=f"{at}{name}")
    for name in sorted(a.input_digests.keys() | b.input_digests.keys()):
        digests = a.input_digests.get(name, ABSENT), b.input_digests.get(name, ABSENT)
        input_a, input_b = known.get(digests[0]), known.get(digests[1])
        path, _, place = name.rpartition(".")
        lists = [_listed(path, each, known=known) for each in (a, b)] if place.isdecimal() else [[], []]
        if len(lists[0]) != len(lists[1]):
            # What stands at one place of both is no pair, so the whole lists are shown, once.
            if place == "0":
                texts = ["; ".join(each) or ABSENT for each in lists]
                yield Difference(path=f"{at}{path}", a=texts[0], b=texts[1])
        elif input_a is not None and input_b is not None:
            yield from _between(input_a, input_b, at=f"{at}{name} > ", known=known, seen=seen)
        elif digests[0] != digests[1]:
            yield Difference(path=f"{at}{name}", a=digests[0][:16], b=digests[1][:16])


def _listed(path: str, described: Described, *, known: dict[str, Described]) -> list[str]:
    """Titles of the inputs in a list such as texts, in its order; of one that is not known, its digest."""
    inputs = {name.rpartition("."): digest for name, digest in described.input_digests.items()}
    found = {int(end): digest for (start, _, end), digest in inputs.items() if start == path and end.isdecimal()}
    return [known[each].title if each in known else each[:16] for _, each in sorted(found.items())]


def _between_json(a: Json, b: Json, *, at: str) -> Iterator[Difference]:
    members_a, members_b = _members(a), _members(b)
    # Types are compared as well: 1, 1.0 and True are equal to Python, and three settings to a digest.
    if type(a) is type(b) and (members_a or members_b):
        for key in members_a | members_b:
            yield from _between_json(members_a.get(key, ABSENT), members_b.get(key, ABSENT), at=f"{at}.{key}")
    elif (type(a), a) != (type(b), b):
        yield Difference(path=at, a=a, b=b)


def _members(value: Json) -> dict[str, Json]:
    if isinstance(value, list):
        return {str(index): member for index, member in enumerate(value)}
    return value if isinstance(value, dict) else {}
