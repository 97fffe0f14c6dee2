"""Ranges of settings: none forgotten, none that the package's own settings break."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import get_type_hints

import pytest

from isoglot.study.limits import LIMITS
from isoglot.study.scales import SCALES
from isoglot.study.synthetic_languages import SyntheticLanguage, World

NUMBERS = (int, float, int | None, float | None, tuple[int, ...], tuple[float, ...])


@pytest.mark.parametrize("settings", LIMITS, ids=lambda settings: settings.__name__)
def test_every_number_has_a_limit_and_every_limit_a_number(settings: type) -> None:
    kinds = get_type_hints(settings)
    numbers = {field.name for field in fields(settings) if kinds[field.name] in NUMBERS}
    assert set(LIMITS[settings]) == numbers


def settings_within(settings: object) -> Iterator[object]:
    yield settings
    for field in fields(settings):
        if is_dataclass(value := getattr(settings, field.name)):
            yield from settings_within(value)


@pytest.mark.parametrize(
    "settings",
    [World(), SyntheticLanguage(name="ela"), *SCALES.values()],
    ids=lambda settings: getattr(settings, "name", "world"),
)
def test_our_own_settings_are_within_their_limits(settings: object) -> None:
    for part in settings_within(settings):
        for name, limit in LIMITS[type(part)].items():
            value = getattr(part, name)
            numbers = value if isinstance(value, tuple) else (value,)
            assert all(number is None or limit.holds(number) for number in numbers), f"{name} should be {limit.words}"


def test_every_part_of_a_scale_has_limits() -> None:
    for scale in SCALES.values():
        assert {type(part) for part in settings_within(scale)} <= set(LIMITS)
