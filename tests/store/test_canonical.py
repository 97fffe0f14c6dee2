import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.store import NOT_IDENTITY
from isoglot.store.canonical import NOT_IDENTITY_AT_DEFAULT, Json, canonical_json, digest_of, json_form


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


@dataclass(frozen=True, kw_only=True)
class Point:
    x: int
    y: float = 0.5
    label: Path | None = field(default=None, metadata=NOT_IDENTITY)


@dataclass(frozen=True, kw_only=True)
class Grown:
    x: int
    added: Colour = field(default=Colour.RED, metadata=NOT_IDENTITY_AT_DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Vector:
    x: int
    y: float = 0.5


@dataclass
class Mutable:
    x: int = 1


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
# Few values, so that two drawn apart are often equal, or nearly.
CONFUSABLE = st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, "", "1", "null", "a", "é", "\ud800"])


def nested(leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keys = st.sampled_from(["a", "b", "a.b", "0", "x", "y"])
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(keys, inner, max_size=3)
            | st.builds(Point, x=inner)
            | st.builds(Vector, x=inner)
        ),
        max_leaves=8,
    )


def text_of(value: object) -> str:
    return canonical_json(json_form(value, at="Toy.field"))


def are_same(a: object, b: object) -> bool:
    """The obvious definition of equal settings; 0.0 and -0.0 differ in their signs."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(are_same, a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(are_same(a[key], b[key]) for key in a)
    if isinstance(a, Point | Vector) and isinstance(b, Point | Vector):
        return are_same(a.x, b.x) and are_same(a.y, b.y)
    return a == b and str(a) == str(b)


@given(nested(CONFUSABLE), nested(CONFUSABLE))
def test_equal_settings_have_equal_text_and_different_ones_different(a: object, b: object) -> None:
    assert (text_of(a) == text_of(b)) == are_same(a, b)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Colour.RED, '"red"'),
        (Level.LOW, "1"),
        (frozenset({10, 9, Colour.RED}), '["red",10,9]'),
        ({Colour.RED: 1e-8}, '{"red":1e-08}'),
        ({"é": (True, 1, 1.0, None)}, '{"\\u00e9":[true,1,1.0,null]}'),
        (Point(x=1), '{"@class":"Point","x":1,"y":0.5}'),
        (Grown(x=1), '{"@class":"Grown","x":1}'),
        (Grown(x=1, added=Colour.BLUE), '{"@class":"Grown","added":"blue","x":1}'),
    ],
)
def test_canonical_text(value: object, text: str) -> None:
    assert text_of(value) == text


def test_digest_is_pinned() -> None:
    """It must never change: every store in the world would be made again."""
    settings: dict[str, Json] = {
        "rate": 1e-4,
        "name": "é",
        "layers": [1, 2],
        "none": None,
        "nested": {"b": True, "a": 2},
    }
    digest = digest_of(kind="token-streams", version=3, settings=settings, inputs={"texts.fr": "ab" * 32})
    assert digest == "5bac061c552e27f054024fc506e8c1a4b20a762534f20ab41ba7f9fe6687879d"


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, Path("x"), {1, 2}, b"x", 1j, object(), int, Mutable(), {1: 2}, {"@class": "Point"}],
    # An address would give the test another name in each process.
    ids=lambda value: "object" if type(value) is object else repr(value),
)
def test_a_value_that_is_not_plain_is_refused_by_the_name_of_its_field(value: object) -> None:
    with pytest.raises(TypeError, match=r"Toy\.field\.deep\.1 = "):
        json_form({"deep": [0, value]}, at="Toy.field")
