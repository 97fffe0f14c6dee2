"""Tables read into dataclasses: changes within settings, lists, and limits that our own settings have and keep."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.study.scales import DEMO, SCALES
from isoglot.study.synthetic_languages import SyntheticLanguage, World
from isoglot.study.toml_tables import LARGEST, FileKey, changed, checked

PLACE = FileKey(file="mine.toml", key="key")
WITHOUT_LIMIT = (int, float, int | None, float | None, tuple[int, ...], tuple[float, ...])


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


@given(sizes=st.lists(st.integers(-LARGEST, LARGEST), unique=True), colour=st.sampled_from(Colour))
def test_changes_reach_inner_settings_and_leave_the_rest(sizes: list[int], colour: Colour) -> None:
    outer = Outer(rate=0.1, limit=0.2)
    result = changed(outer, {"inner": {"sizes": sizes, "colour": colour.value}}, place=PLACE)
    assert result == Outer(rate=0.1, limit=0.2, inner=Inner(sizes=tuple(sizes), colour=colour))
    assert changed(outer, {}, place=PLACE) == outer


def test_a_list_names_nothing_twice_and_is_empty_only_where_that_is_its_default() -> None:
    search = DEMO.word_tasks
    assert changed(search, {"learning_rates": [1, 1e-4]}, place=PLACE).learning_rates == (1.0, 1e-4)
    assert changed(search, {"head_learning_rates": []}, place=PLACE) == search
    with pytest.raises(IsoglotError, match=r"key\.learning_rates: needs at least 1, and has 0"):
        changed(search, {"learning_rates": []}, place=PLACE)
    with pytest.raises(IsoglotError, match=r"key\.learning_rates: 1\.0 stands there twice"):
        changed(search, {"learning_rates": [1, 1.0]}, place=PLACE)


def settings_within(settings: Any) -> Iterator[Any]:
    yield settings
    for field in fields(settings):
        if is_dataclass(value := getattr(settings, field.name)):
            yield from settings_within(value)


@pytest.mark.parametrize(
    "settings", [World(), SyntheticLanguage(name="ela"), *SCALES.values()], ids=lambda each: type(each).__name__
)
def test_every_number_has_a_limit_that_our_own_settings_keep(settings: object) -> None:
    for part in settings_within(settings):
        for name, kind in get_type_hints(type(part), include_extras=True).items():
            value = getattr(part, name)
            assert kind not in WITHOUT_LIMIT, name
            if value is not None and not is_dataclass(value):
                as_in_file = list(value) if isinstance(value, tuple) else getattr(value, "value", value)
                assert checked(as_in_file, kind, place=PLACE) == value
