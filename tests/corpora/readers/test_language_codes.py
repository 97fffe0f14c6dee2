"""Codes that name the same language."""

import pytest

from isoglot.corpora.readers.language_codes import is_language_code, language_columns


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["en", "eng", "eng-000", "EN", "en-GB", "en_US", "txt_eng", " eng "]),
        ("fra", ["fr", "fra", "fra-000"]),
        ("zh", ["zh", "zho", "cmn", "cmn-000", "zh-Hans"]),
        ("cmn", ["zh", "zho"]),
        ("zh-Hans", ["zh", "cmn-000"]),
        ("no", ["nor", "nob-000"]),
        ("xyz", ["xyz", "xyz-000"]),  # of no list, but equal
    ],
)
def test_names_of_one_language(language: str, names: list[str]) -> None:
    for name in names:
        assert language_columns(["other", name, "weight"], language=language) == [1]


def test_names_of_another_language() -> None:
    for language, name in (("en", "enm"), ("en", "fr"), ("fr", "fro"), ("nb", "nno"), ("de", "dan"), ("xyz", "xy")):
        assert language_columns([name], language=language) == []
    # The exact name goes before its kin.
    assert language_columns(["zh-TW", "zh", "cmn-000"], language="zh") == [1]
    assert language_columns(["zh-TW", "cmn-000"], language="zh") == [0, 1]


def test_which_names_are_codes() -> None:
    assert all(map(is_language_code, ("en", "eng", "eng-000", "cmn", "zh-Hans", "ur", "SW")))
    assert not any(map(is_language_code, ("", "premise", "Yes.", "the", "x")))
