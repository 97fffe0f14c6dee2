"""Marks and controls are those of the scripts of Moses, as sacremoses has them."""

import sys
import unicodedata
from functools import cache
from itertools import chain

import pytest
from sacremoses import MosesPunctNormalizer

from isoglot.corpora.splitters.marks import CONTROLS, PLAIN_MARKS

SEPARATOR = "字"


@cache
def moses() -> dict[str, str]:
    """What every character but white space becomes."""
    characters = [
        character
        for character in map(chr, chain(range(0xD800), range(0xE000, sys.maxunicode + 1)))
        if not character.isspace() and character != SEPARATOR
    ]
    normalizer = MosesPunctNormalizer(
        lang="zh", perl_parity=True, pre_replace_unicode_punct=True, post_remove_control_chars=True
    )
    rewritten = normalizer.normalize(SEPARATOR + SEPARATOR.join(characters) + SEPARATOR).split(SEPARATOR)[1:-1]
    return {character: plain.strip() for character, plain in zip(characters, rewritten, strict=True)}


def test_marks_are_those_that_moses_rewrites() -> None:
    changed = {character: plain for character, plain in moses().items() if plain not in ("", character)}
    assert {chr(code): plain for code, plain in PLAIN_MARKS.items()} == changed


def test_controls_are_not_printed_by_moses_either() -> None:
    assert {moses()[chr(code)] for code in chain(*CONTROLS)} == {""}


@pytest.mark.parametrize("category", ["Cc", "Co"])
def test_all_control_characters_and_those_for_private_use_are_controls(category: str) -> None:
    controls = {chr(code) for code in chain(*CONTROLS)}
    assert {character for character in moses() if unicodedata.category(character) == category} <= controls
