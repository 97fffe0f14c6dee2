"""Every language gets the splitter that suits it, and every switch is heard."""

from dataclasses import replace

import pytest

from isoglot.corpora.words import split_lines, split_words, whole_words
from isoglot.study.languages import Splitter, WordSplitting, default_splitting


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("en", "Mr. Smith's dog isn't here.", ["Mr.", "Smith", "'s", "dog", "isn", "'t", "here", "."]),
        ("fr", "L\u2019ami d'Anne, aujourd'hui.", ["L'", "ami", "d'", "Anne", ",", "aujourd'", "hui", "."]),
        ("de", "Das ist z. B. gut.", ["Das", "ist", "z.", "B.", "gut", "."]),
        ("ru", "Да, это «кот».", ["Да", ",", "это", '"', "кот", '"', "."]),
        ("zh", "我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("sw", "Habari, dunia!", ["Habari", ",", "dunia", "!"]),
        ("th", "ไทย", ["ไท", "ย"]),
    ],
)
def test_words_of_a_language(language: str, line: str, words: list[str]) -> None:
    assert split_words(line, language) == words


@pytest.mark.parametrize("language", ["en", "zh", "ja", "sw"])
def test_a_blank_line_has_no_words(language: str) -> None:
    assert split_words(" \t\u3000", language) == []


def test_case_is_kept_unless_asked_otherwise() -> None:
    kept = default_splitting("de")
    assert split_lines(["Der Hund"], kept) == [["Der", "Hund"]]
    lower = WordSplitting(splitter=kept.splitter, language="de", lowercase=True)
    assert split_lines(["Der Hund"], lower) == [["der", "hund"]]


@pytest.mark.parametrize(
    ("splitter", "written"),
    [
        (Splitter.MOSES, ('"', "l'", "ABC", "\u200b")),
        (Splitter.JIEBA, ('"', "l'", "ABC", "\u200b")),
        (Splitter.WHITESPACE, ("«", "l’", "A\u200bBC", "\u200b")),  # noqa: RUF001
    ],
)
def test_words_of_others_are_written_as_a_splitter_writes_its_own(splitter: Splitter, written: tuple[str, ...]) -> None:
    """As many as before: what is nothing but a mark that is not printed stays."""
    words = ("«", "l’", "A\u200bBC", "\u200b")  # noqa: RUF001
    splitting = WordSplitting(splitter=splitter, language="en")
    assert whole_words(words, splitting) == written
    assert whole_words(words, replace(splitting, lowercase=True)) == tuple(word.lower() for word in written)
