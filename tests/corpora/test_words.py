from collections import Counter

from isoglot.corpora.words import split_words, word_counts


def test_unregistered_languages_are_split_at_white_space() -> None:
    assert split_words("  mira\tlo\u00a0tek . \n", "made-up") == ["mira", "lo", "tek", "."]
    assert split_words(" \n", "made-up") == []


def test_word_counts() -> None:
    assert word_counts(["b a", "", "a c a"], language="made-up") == Counter(a=3, b=1, c=1)
