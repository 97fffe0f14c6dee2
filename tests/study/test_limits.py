"""Limits of settings: none forgotten, none that the package's own settings break."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import pytest

from isoglot.study.scales import SCALES
from isoglot.study.synthetic_languages import SyntheticLanguage, World
from isoglot.study.toml_tables import FileKey, checked

OURS = [World(), SyntheticLanguage(name="ela"), *SCALES.values()]
WITHOUT_LIMIT = (int, float, int | None, float | None, tuple[int, ...], tuple[float, ...])


def settings_within(settings: Any) -> Iterator[Any]:
    yield settings
    for field in fields(settings):
        if is_dataclass(value := getattr(settings, field.name)):
            yield from settings_within(value)


@pytest.mark.parametrize("settings", OURS, ids=lambda settings: getattr(settings, "name", "world"))
def test_every_number_has_a_limit_that_our_own_settings_keep(settings: object) -> None:
    for part in settings_within(settings):
        for name, kind in get_type_hints(type(part), include_extras=True).items():
            value = getattr(part, name)
            assert kind not in WITHOUT_LIMIT, name
            if value is not None and not is_dataclass(value):
                as_in_file = list(value) if isinstance(value, tuple) else getattr(value, "value", value)
                assert checked(as_in_file, kind, place=FileKey(file=type(part).__name__, key=name)) == value
