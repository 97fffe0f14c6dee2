"""Values checked against the types of dataclass fields."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.study.scales import DEMO
from isoglot.study.searches import Search
from isoglot.study.toml_tables import FileKey, changed, checked, file_paths, made_from

PLACE = FileKey(file="mine.toml", key="key")


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, kw_only=True)
class Inner:
    sizes: tuple[int, ...] = ()
    colour: Colour = Colour.RED


@dataclass(frozen=True, kw_only=True)
class Outer:
    rate: float
    inner: Inner = Inner()
    limit: float | None = None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (True, float),
        (1, bool),
        ("1", int),
        (float("inf"), float),
        ("blue", Colour),
        ([1, "2"], tuple[int, ...]),
        (1, tuple[int, ...]),
        ({}, list),
    ],
)
def test_values_of_another_type_are_refused(value: object, kind: object) -> None:
    with pytest.raises(IsoglotError, match=r"^mine.toml: key: "):
        checked(value, kind, place=PLACE)


@given(sizes=st.lists(st.integers(), unique=True), colour=st.sampled_from(Colour))
def test_changes_reach_inner_settings_and_leave_the_rest(sizes: list[int], colour: Colour) -> None:
    outer = Outer(rate=0.1, limit=0.2)
    result = changed(outer, {"inner": {"sizes": sizes, "colour": colour.value}}, place=PLACE)
    assert result == Outer(rate=0.1, limit=0.2, inner=Inner(sizes=tuple(sizes), colour=colour))
    assert changed(outer, {}, place=PLACE) == outer


def test_every_number_of_a_list_is_held_to_the_limit_of_its_field() -> None:
    search = DEMO.word_tasks
    assert changed(search, {"batches": [1, 64]}, place=PLACE).batches == (1, 64)
    assert changed(search, {"learning_rates": [1, 1e-4]}, place=PLACE).learning_rates == (1.0, 1e-4)
    with pytest.raises(IsoglotError, match=r"key\.batches: should be at least 1, not 0$"):
        changed(search, {"batches": [1, 0]}, place=PLACE)
    with pytest.raises(IsoglotError, match=r"key\.learning_rates: should be above 0, not -1\.0$"):
        made_from(
            {"batches": [1], "learning_rates": [0.1, -1]},
            Search,
            place=PLACE,
            epochs=1,
            schedule=search.schedule,
            beta2=0.9,
        )


def test_a_list_names_nothing_twice_and_is_empty_only_where_that_is_its_default() -> None:
    search = DEMO.word_tasks
    assert changed(search, {"head_learning_rates": []}, place=PLACE) == search
    with pytest.raises(IsoglotError, match=r"key\.learning_rates: needs at least 1, and has 0"):
        changed(search, {"learning_rates": []}, place=PLACE)
    with pytest.raises(IsoglotError, match=r"key\.learning_rates: 1\.0 stands there twice"):
        changed(search, {"learning_rates": [1, 1.0]}, place=PLACE)


def test_paths_of_one_file_or_several() -> None:
    data = Path("/data")
    assert file_paths("a", data=data, place=PLACE) == (Path("/data/a"),)
    assert file_paths(["b", "/abs/a"], data=data, place=PLACE) == (Path("/data/b"), Path("/abs/a"))
    for nothing in ("", [], ["a", ""]):
        with pytest.raises(IsoglotError, match=r"^mine.toml: key: names no file"):
            file_paths(nothing, data=data, place=PLACE)
    with pytest.raises(IsoglotError, match=r"^mine.toml: key: should be a string in quotes"):
        file_paths(["a", 3], data=data, place=PLACE)
