"""What a study asked for as its provenance tells it, which needs neither the study's file nor its data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isoglot.errors import IsoglotError
from isoglot.report.json_values import read_as
from isoglot.report.provenance import Provenance
from isoglot.study.conditions import DEFAULT, Condition, condition_named
from isoglot.study.exhibit_names import EVERYTHING, WITHOUT_CONDITIONS, Narrowing
from isoglot.study.scales import Scale
from isoglot.study.toml_tables import Place


@dataclass(frozen=True, kw_only=True)
class Asked:
    """As far as a page speaks of it."""

    name: str
    languages: tuple[str, ...]
    conditions: tuple[Condition, ...]
    exhibits: tuple[str, ...]
    seeds: tuple[int, ...]
    only: dict[str, Narrowing]
    """By exhibit, for those that are about less than all of it."""
    scale: Scale
    is_made_up: bool

    def conditions_of(self, exhibit: str) -> tuple[Condition, ...]:
        """None, if it was not asked for."""
        only = self.only.get(exhibit, EVERYTHING)
        return tuple(
            each for each in self.conditions if exhibit in self.exhibits and only.keeps("conditions", each.name)
        )

    @property
    def shown_conditions(self) -> tuple[Condition, ...]:
        """Those that any of its exhibits is about."""
        shown = {
            condition
            for exhibit in self.exhibits
            for condition in ((DEFAULT,) if exhibit in WITHOUT_CONDITIONS else self.conditions_of(exhibit))
        }
        return tuple(each for each in dict.fromkeys((*self.conditions, DEFAULT)) if each in shown)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """Those that study_settings writes and a page shows in its own words."""

    languages: tuple[str, ...]
    conditions: tuple[str, ...]
    exhibits: tuple[str, ...]
    seeds: tuple[int, ...]
    only: dict[str, Narrowing] | None = None
    scale: Scale


def asked_in(provenance: Provenance, *, file: str = "provenance.json") -> Asked:
    """`file` is where it was read from, for messages."""
    place = Place(file=file, key="settings")
    settings: _Settings = read_as(_Settings, provenance.settings, place=place)
    return Asked(
        name=provenance.study,
        languages=settings.languages,
        conditions=tuple(_conditions(settings.conditions, place=place.at("conditions"))),
        exhibits=settings.exhibits,
        seeds=settings.seeds,
        only=settings.only or {},
        scale=settings.scale,
        is_made_up=provenance.is_made_up,
    )


def _conditions(names: tuple[str, ...], *, place: Place) -> Iterator[Condition]:
    for name in names:
        try:
            yield condition_named(name)
        except IsoglotError as error:
            raise place.error(str(error)) from None
