"""Plain settings, their canonical JSON and its sha256: the same in every process, Python version and dict order."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

NOT_IDENTITY: Mapping[str, Any] = MappingProxyType({"isoglot.identity": False})
"""Metadata of a dataclass field that says how or where something runs, not what it is."""

# Two dataclasses with equal fields are different settings, so their JSON names the class.
CLASS_KEY = "@class"


class Identified:
    """Has a digest of its own, so it may not hide inside another thing's settings."""


def json_form(value: object, *, at: str) -> Json:
    """The JSON form of a setting, which errors call `at`.

    Types count: 1, 1.0 and True are three settings. A list is a tuple, a frozenset is its members in order, and an
    enum member is its value.
    """
    match value:
        case Identified():
            raise TypeError(f"{at} holds a stage: a stage must be a field, or in a tuple or mapping of stages alone")
        case Enum():
            return json_form(value.value, at=at)
        case None | bool():
            return value
        case int():
            return int(value)
        case str():
            return str.__str__(value)
        case float() if math.isfinite(value):
            return float(value)
        case tuple() | list():
            return [json_form(member, at=f"{at}.{index}") for index, member in enumerate(value)]
        case frozenset():
            return sorted((json_form(member, at=at) for member in value), key=canonical_json)
        case Mapping() if all(isinstance(key, str) and key != CLASS_KEY for key in value):
            return {str.__str__(key): json_form(member, at=f"{at}.{key}") for key, member in value.items()}
    if is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        members = {name: json_form(member, at=f"{at}.{name}") for name, member in identity_fields(value)}
        return {CLASS_KEY: type(value).__name__} | members
    raise TypeError(
        f"{at} = {value!r} is no plain setting: use None, bool, int, finite float, str, Enum, tuple, frozenset, "
        f"a mapping with str keys or a frozen dataclass, or mark the field NOT_IDENTITY"
    )


def identity_fields(instance: object) -> Iterator[tuple[str, object]]:
    """Names and values of a dataclass's fields, but for those marked NOT_IDENTITY."""
    for each in fields(instance):  # type: ignore[arg-type]
        if NOT_IDENTITY.keys().isdisjoint(each.metadata):
            yield each.name, getattr(instance, each.name)


def canonical_json(value: Json) -> str:
    """The one text of a JSON value, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(*, kind: str, version: int, settings: Mapping[str, Json], inputs: Mapping[str, str]) -> str:
    """sha256 of everything that makes an artifact what it is; inputs are given by their own digests."""
    identity: Json = {"kind": kind, "version": version, "settings": {**settings}, "inputs": {**inputs}}
    return hashlib.sha256(canonical_json(identity).encode("ascii")).hexdigest()
