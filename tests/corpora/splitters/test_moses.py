"""Words of sentences, worked by hand and as sacremoses finds them one line at a time."""

# ruff: noqa: RUF001 - look-alikes are what the rules are about

import lzma
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.splitters.moses import SWAP, SWAP_AT_END, Rule, rewriting, split_lines

RULES: list[Rule] = [
    (" +", " "),
    ("a", "bb"),
    (r"\(", " ("),
    (r"\.b", "."),
    (r"\r", ""),
    (r"(\d) %", r"\g<1>%"),
    (r"\) ([ab.])", r")\1"),
    (SWAP, r'"\1\2'),
    (SWAP_AT_END, r'"\1\2'),
    (r"b\s*", "."),
    (r"([^a])", r"<\1>"),
    (r"a\.+b", "X"),
    ("a*b", "X"),
    # Nothing is known of what these need; they must still match what they match.
    *((pattern, "X") for pattern in ("a|b", "(ab)*1", "(ab)?1", "a?b", "a{2}", "^a", "b$", r"\ba", ".%")),
    (re.compile(r"(a)b"), r"\1"),
    ("a", r"\\"),
]
CHARACTERS = "aaabb1   %().\"<\r'\u00a0,"
LINES = st.lists(st.text(st.sampled_from(CHARACTERS), max_size=12), min_size=1, max_size=6)


@pytest.mark.parametrize("rule", RULES, ids=str)
@settings(max_examples=40)
@given(lines=LINES)
@example(lines=["a   b", '..".."..a..".<', '."<..."  '])
def test_one_rule(rule: Rule, lines: list[str]) -> None:
    expected = [re.sub(*rule, line) for line in lines]
    assert rewriting([rule])("\n" + "\n".join(lines) + "\n") == "\n" + "\n".join(expected) + "\n"


REAL_LINES = 20_000

WORKED = [
    ("en", "Mr. Smith's dog didn't bark.", "Mr. Smith 's dog didn 't bark ."),
    ("en", "It cost $5,300, in all; 3.5% more.", "It cost $ 5,300 , in all ; 3.5 % more ."),
    ("en", "rock'n'roll of the 1990's", "rock 'n'roll of the 1990 's"),
    ("en", "“It’s over”, she said…", '" It \'s over , " she said ...'),
    ("en", "the U.S. Army (est. 1775) – not e.g. a “club.”", 'the U.S. Army ( est . 1775 ) - not e.g. a " club . "'),
    ("en", "a\tb\u200bc \u00ad d\u3000e\u2028f", "abc d e f"),
    ("fr", "L’eau d'Évian, aujourd'hui\u00a0!", "L' eau d' Évian , aujourd' hui !"),
    ("fr", "«\u00a0C'est M. Hugo\u00a0», dit-il\u00a0: 3 %", '" C\' est M. Hugo " , dit-il : 3 %'),
    ("fr", "10\u00a0000 et nº\u00a05,6", "10,000 et nº 5,6"),
    ("fr", "fin.\u00a0»\u00a0Puis", 'fin " . Puis'),
    ("de", "„Ja“, sagte Dr. Müller – und ging's an.", '" Ja " , sagte Dr. Müller - und ging \' s an .'),
    ("ru", "В 1990 г. он сказал: «Да, т. е. нет…»", 'В 1990 г. он сказал : " Да , т. е. нет ... "'),
    ("en", "Ｏｋ：１２，５（ｘ）。Yes！", "Ｏｋ : 12,5 ( ｘ ) . Yes !"),
    ("de", "bis 3.5. Dann Abend.\u2009und Tag", "bis 3.5 . Dann Abend. und Tag"),
    ("en", " ,5 and ,5 or '5 '5", ",5 and , 5 or ' 5 ' 5"),
    ("en", "\u200b '5 ' \u200b '5", "'5 ' '5"),
    ("xx", "Mr. O'Neil, p. 5.", "Mr. O ' Neil , p . 5 ."),
]

MARKS = "'',,..()[]{}<>;:!?%-–—`´‘’‚“”„«»…。．，：（）０９～━|&@_"
SPACES_AND_CONTROLS = "    \u00a0\u3000\u2028\u2009\u0085\x1c\x1e\r\n\t\x0b\x00\u200b\u00ad\ue000"
LETTERS_AND_NUMBERS = "abAZsé5³Ⅷ٣º€中カ한яЖ\u0301\u094d🙂"
WORDS = (
    "Mr. No. Nr. z. B. U.S. г. etc. lower DOTMULTI DOT THISISPROTECTED000 5,300 '5 .' .\" ,\" '' ... don't l'eau 1990's"
)
WITH_SPACES = [" %", " :", " ;", ") .", "' '", "\u00a0«\u00a0", "\u00a0»\u00a0", "nº\u00a0", "\u00a0cm", "5\u00a0000"]
PIECES = [*MARKS, *SPACES_AND_CONTROLS, *LETTERS_AND_NUMBERS, *WORDS.split(), *WITH_SPACES]
# Marks so close together that the match of one rule may hide another's.
CROWDED_LINES = st.text("'aab1 '", max_size=12) | st.text(",,a11 ", max_size=12)
ODD_LINES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | CROWDED_LINES


@cache
def sacremoses_words(language: str) -> Callable[[str], list[str]]:
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer = MosesPunctNormalizer(
        lang=language, pre_replace_unicode_punct=True, post_remove_control_chars=True, perl_parity=True
    )
    tokenizer = MosesTokenizer(lang=language)
    return lambda line: tokenizer.tokenize(normalizer.normalize(line), escape=False)


@pytest.mark.parametrize(("language", "line", "words"), WORKED)
def test_lines_worked_by_hand(language: str, line: str, words: str) -> None:
    assert split_lines([line], language=language) == [words.split(" ")]


@pytest.mark.parametrize("language", ["en", "fr", "xx"])
@given(lines=st.lists(ODD_LINES, max_size=12))
def test_words_are_those_of_sacremoses(language: str, lines: list[str]) -> None:
    assert split_lines(lines, language=language) == [sacremoses_words(language)(line) for line in lines]


@pytest.mark.parametrize("language", ["de", "en", "ru"])
@given(lines=st.lists(ODD_LINES | st.text('a."< ', max_size=12), max_size=12))
def test_perl_quotes_are_the_rules_of_sacremoses_with_the_line_end_that_perl_sees(
    language: str, lines: list[str]
) -> None:
    plain = [line.replace("\n", " ") for line in lines]
    expected = [sacremoses_words(language)(line + "\n") for line in plain]
    assert split_lines(plain, language=language, perl_quotes=True) == expected


@pytest.mark.skipif(shutil.which("perl") is None, reason="no perl here, which the rule is written in")
def test_the_rule_itself_is_perls() -> None:
    """The line of normalize-punctuation.perl for all languages but English and Czech."""
    lines = ['Er sagte: "Ja."', '"Ja..." ', '"a."<b', 'x."."', '".', '."', "ja.", 'a."b."']
    script = r"s/(\.+)\"(\s*[^<])/\"$1$2/g"
    text = "".join(f"{line}\n" for line in lines)
    perls = subprocess.run(["perl", "-pe", script], input=text, capture_output=True, text=True, check=True).stdout
    assert [re.sub(SWAP_AT_END, r'"\1\2', line) for line in lines] == perls.splitlines()
    assert [re.sub(SWAP, r'"\1\2', line) for line in lines] != perls.splitlines()
    words = split_lines(['Er sagte: "Ja."'], language="de", perl_quotes=True)
    assert words == [["Er", "sagte", ":", '"', "Ja", '"', "."]]


@pytest.mark.campaign
def test_every_language_of_sacremoses() -> None:
    from sacremoses.corpus import NonbreakingPrefixes

    prefixes = NonbreakingPrefixes()
    for language in sorted({*prefixes.available_langs, "ko", "cz", "unknown", ""}):
        abbreviations = [word.split()[0] for word in islice(prefixes.words(language), 6)]
        lines = [f"{word}. 5 中文한 l'a {word}. Ein," for word in abbreviations]
        assert split_lines(lines, language=language) == [sacremoses_words(language)(line) for line in lines]


@pytest.mark.parametrize("piece", ["a'", "5,", "a.", '".', "\u00a0", "DOT"])
def test_very_long_lines(piece: str) -> None:
    line = piece * (10_000 // len(piece)) + "MULTI"
    assert split_lines([line], language="fr") == [sacremoses_words("fr")(line)]


def test_a_very_long_run_of_dots_takes_no_time() -> None:
    start = time.process_time()
    assert split_lines(["a" + "." * 100_000 + ' "'], language="fr") == [["a", "." * 100_000, '"']]
    assert time.process_time() - start < 5


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
@pytest.mark.parametrize("language", ["en", "fr", "de", "ru"])
def test_real_text_is_split_as_by_sacremoses_and_at_least_four_times_faster(language: str) -> None:
    with lzma.open(DATA / f"text/wiki.{language}.txt.xz", "rt", encoding="utf-8", newline="\n") as file:
        lines = list(islice((line.removesuffix("\n") for line in file if line.strip()), REAL_LINES))
    assert len(lines) == REAL_LINES
    split_lines(lines[:100], language=language)
    start = time.process_time()
    words = split_lines(lines, language=language)
    ours = time.process_time() - start
    start = time.process_time()
    expected = list(map(sacremoses_words(language), lines))
    theirs = time.process_time() - start
    assert words == expected
    assert theirs / ours >= 4
