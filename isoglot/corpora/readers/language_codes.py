"""The codes that files call languages by: "en", "eng", "en-GB" and PanLex's "eng-000" are one language."""

import re
from collections.abc import Sequence
from pathlib import Path

from isoglot.errors import IsoglotError

# Each language by ISO 639-1 and ISO 639-3, and by the one that PanLex and Tatoeba mean where the second is of several.
_CODES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
_LANGUAGES = [set(codes.split("/")) for codes in _CODES.split()]
# A code may be that of two languages: nob is nb, and what no mostly is.
_GROUPS = {code: set().union(*(each for each in _LANGUAGES if code in each)) for one in _LANGUAGES for code in one}


def is_language_code(name: str) -> bool:
    """Whether a name is that of a language in ISO 639-1, or of the same one in ISO 639-3 or PanLex."""
    return _language_part(name) in _GROUPS


def language_columns(names: Sequence[str], *, language: str) -> list[int]:
    """Where a language stands in a row of names; one spelled exactly so is taken alone: of zh zh-TW, the first."""
    exact = [place for place, name in enumerate(names) if name.strip() == language]
    wanted = _language_part(language)
    group = _GROUPS.get(wanted, {wanted})
    return exact or [place for place, name in enumerate(names) if _language_part(name) in group]


def language_column(names: Sequence[str], *, language: str) -> int:
    return single_column(language_columns(names, language=language), repr(language), names=names)


def single_column(places: Sequence[int], name: str, *, names: Sequence[str]) -> int:
    """The one place of several that a header's column may have, or an error that lists the header."""
    if len(places) != 1:
        has = ", ".join(names)
        raise IsoglotError(f"the header should name one column {name}, and names {len(places)} such; it has {has}")
    return places[0]


def _language_part(name: str) -> str:
    # Merged tables have columns such as txt_eng beside txt_fra.
    return re.split("[-_]", name.strip().lower().removeprefix("txt_"), maxsplit=1)[0]
