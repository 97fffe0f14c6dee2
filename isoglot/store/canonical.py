"""Digests of settings: plain values become canonical JSON, and its sha256 names an artifact.

The text must be the same in every process, Python version and dict order, so keys are sorted, everything is ASCII, and
types without one stable form are refused.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias

from isoglot.files import text_sum

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

NOT_IDENTITY: Mapping[str, Any] = MappingProxyType({"isoglot.identity": False})
"""Metadata of a dataclass field that has no part in the identity, such as a path or a device."""
NOT_IDENTITY_AT_DEFAULT: Mapping[str, Any] = MappingProxyType({"isoglot.identity": "unless default"})
"""Metadata of a field that was added later: at its default it leaves the digests of older artifacts as they were."""

# Two dataclasses with equal fields are different settings, so their JSON names the class.
CLASS_KEY = "@class"


class Identified:
    """Something with its own digest, which must not be hidden inside the settings of another."""


def json_form(value: object, *, at: str) -> Json:
    """The JSON form of a setting; `at` is its name in errors.

    Types count: 1, 1.0 and True are three settings. A tuple is the same as a list, a frozenset becomes its sorted
    members, and an enum member its value.
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
    """Names and values of a dataclass's fields, without those that their metadata leave out."""
    for each in fields(instance):  # type: ignore[arg-type]
        value, marks = getattr(instance, each.name), each.metadata.items()
        is_left_out = NOT_IDENTITY.items() <= marks or (
            NOT_IDENTITY_AT_DEFAULT.items() <= marks and value == each.default
        )
        if not is_left_out:
            yield each.name, value


def canonical_json(value: Json) -> str:
    """The one text of a JSON value, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(*, kind: str, version: int, settings: Mapping[str, Json], inputs: Mapping[str, str]) -> str:
    """The sha256 of an artifact's identity. Inputs count by their own digests, and so does all that they rest on."""
    identity: Json = {"kind": kind, "version": version, "settings": {**settings}, "inputs": {**inputs}}
    return text_sum(canonical_json(identity))
