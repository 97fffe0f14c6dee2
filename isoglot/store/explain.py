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
        if _is_of_unlike_lists(name, a, b):
            # What stands at one place of both is no pair, so the whole lists are shown, once.
            if name.endswith(".0"):
                path, lists = name.removesuffix(".0"), (_titles(name, each, known=known) for each in (a, b))
                yield Difference(path=f"{at}{path}", **dict(zip("ab", lists, strict=True)))
        elif input_a is not None and input_b is not None:
            yield from _between(input_a, input_b, at=f"{at}{name} > ", known=known, seen=seen)
        elif digests[0] != digests[1]:
            yield Difference(path=f"{at}{name}", a=digests[0][:16], b=digests[1][:16])


def _is_of_unlike_lists(name: str, a: Described, b: Described) -> bool:
    return name.rpartition(".")[2].isdecimal() and len(_list_at(name, a)) != len(_list_at(name, b))


def _list_at(name: str, described: Described) -> list[str]:
    """The digests of the list that an input such as texts.0 stands in."""
    start = f"{name.rpartition('.')[0]}."
    inputs = described.input_digests
    return [inputs[each] for each in sorted(inputs) if each.startswith(start) and each[len(start) :].isdecimal()]


def _titles(name: str, described: Described, *, known: dict[str, Described]) -> str:
    digests = _list_at(name, described)
    return "; ".join(known[each].title if each in known else each[:16] for each in digests) or ABSENT


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
