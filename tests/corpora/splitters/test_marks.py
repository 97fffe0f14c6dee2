"""Marks and controls are those of the scripts of Moses, as sacremoses has them."""

# ruff: noqa: RUF001

import sys
import unicodedata
from functools import cache
from itertools import accumulate, chain

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer

from isoglot.corpora.splitters.marks import CONTROLS, PLAIN_MARKS, split_lines

SEPARATOR = "字"


@cache
def moses(end: int = 0x10000) -> dict[str, str]:
    """The replacement of every character before `end` but white space."""
    every = map(chr, chain(range(0xD800), range(0xE000, end)))
    characters = [character for character in every if not character.isspace() and character != SEPARATOR]
    normalizer = MosesPunctNormalizer(
        lang="zh", perl_parity=True, pre_replace_unicode_punct=True, post_remove_control_chars=True
    )
    rewritten = normalizer.normalize(SEPARATOR + SEPARATOR.join(characters) + SEPARATOR).split(SEPARATOR)[1:-1]
    return {character: plain.strip() for character, plain in zip(characters, rewritten, strict=True)}


def test_marks_are_those_that_moses_rewrites() -> None:
    changed = {character: plain for character, plain in moses().items() if plain not in ("", character)}
    assert {chr(code): plain for code, plain in PLAIN_MARKS.items()} == changed


@pytest.mark.campaign
def test_controls_are_those_that_moses_does_not_print() -> None:
    controls = {chr(code) for code in chain(*CONTROLS)}
    rewritten = moses(sys.maxunicode + 1)
    assert {rewritten[control] for control in controls} == {""}
    assert {character for character in rewritten if unicodedata.category(character) in ("Cc", "Co")} <= controls


SCRIPTS = ("Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Hiragana", "Katakana", "Han")
REWRITTEN = PLAIN_MARKS | dict.fromkeys(chain(*CONTROLS), "")


# What this Python and the regex library both know.
ASSIGNED = "".join(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) != "Cn")
ALPHABETS = {script: "".join(regex.findall(rf"\p{{Script={script}}}", ASSIGNED)) for script in SCRIPTS}
scripts = st.sampled_from(SCRIPTS).flatmap(lambda script: st.text(ALPHABETS[script], max_size=12))
mixed = st.lists(scripts | st.text(max_size=6), max_size=5).map("".join)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("日本語の、テスト。「はい」", '日 本 語 の , テ ス ト . " は い "'),
        ("東京タワー 333ｍ Tokyo3.14", "東 京 タ ワ ー 333ｍ Tokyo3.14"),
        ("１，０００．５円、5. 1.a", "1,000.5 円 , 5 . 1 . a"),
        ("か\u3099っこう ｶﾞ 𠮷", "か\u3099 っ こ う ｶﾞ 𠮷"),
        ("ภาษาไทยเป็นน้ำ ๑๒", "ภา ษา ไท ย เป็ น น้ำ ๑ ๒"),
        ("ພາສາລາວ ເປັນ", "ພາ ສາ ລາ ວ ເປັ ນ"),
        ("ភាសាខ្មែរ ស្រុក។", "ភា សា ខ្មែ រ ស្រុ ក ។"),
        ("မြန်မာ မန္တလေး", "မြ န် မာ မ န္တ လေး"),
        ("བོད་སྐད།", "བོ ད ་ སྐ ད །"),
        ("한국어 안녕 don't 中文", "한국어 안녕 don ' t 中 文"),
        ("हिन्दी русский e\u0301te\u0301", "हिन्दी русский e\u0301te\u0301"),
        ("❤️!?😀", "❤️ ! ? 😀"),
        ("co\xadoperate\u200b x\ufeffy", "cooperate xy"),
        ("\u3000 \t\u2028", ""),
    ],
)
def test_splits_worked_by_hand(line: str, words: str) -> None:
    assert split_lines(["", line]) == [[], words.split()]


@given(mixed)
def test_nothing_is_lost_and_no_word_holds_white_space(line: str) -> None:
    (words,) = split_lines([line])
    assert "".join(words) == "".join(line.translate(REWRITTEN).split())
    assert [word for word in words if word.split() != [word]] == []


@given(scripts)
def test_no_character_is_cut_from_what_unicode_attaches_to_it(line: str) -> None:
    (words,) = split_lines([line])
    attached = regex.findall(r"\X", line.translate(REWRITTEN))
    assert set(accumulate(map(len, words))) <= set(accumulate(map(len, attached)))
