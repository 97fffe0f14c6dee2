"""A study that is like another but for a few lines."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.study.real_text import RealText
from isoglot.study.study_file import builtin_study_names, read_study
from isoglot.study.synthetic_languages import Synthetic

THREE_LANGUAGES = """
name = "three"
scale = "small"
languages = ["en", "fr", "zh"]
exhibits = ["emergence", "table-1", "figure-6"]
tasks = ["ner"]
seeds = [0, 1]

[only.figure-6]
targets = ["zh"]

[change]
updates = 1000
shape.width = 64

[text]
en = "en.txt"
fr = "fr.txt"
zh = "zh.txt"
[text.other-domain]
fr = "other.fr.txt"
zh = "other.zh.txt"
[words]
zh = "characters"

[resources]
retrieval.en-fr = ["en-fr.en", "en-fr.fr"]
retrieval.en-zh = ["en-zh.en", "en-zh.zh"]
ner.en.train = "train.en.bio"
ner.en-zh.train = "news.en.bio"
ner.fr.test = "test.fr.bio"
ner.zh.test = "test.zh.bio"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "three.toml").write_text(THREE_LANGUAGES)
    return tmp_path


def mine(folder: Path, lines: str) -> Path:
    (folder / "mine.toml").write_text(lines)
    return folder / "mine.toml"


@pytest.mark.parametrize("other", ["three.toml", *builtin_study_names()])
def test_without_other_lines_it_is_that_study(folder: Path, other: str) -> None:
    study = read_study(mine(folder, f'name = "mine"\nlike = "{other}"'))
    expected = read_study(folder / other if other.endswith(".toml") else other)
    assert study == replace(expected, name="mine", origin=study.origin)


def test_lines_replace_and_tables_are_laid_over_each_other(folder: Path) -> None:
    lines = (
        'name = "mine"\nlike = "three.toml"\nseeds = [7]\n[change]\nupdates = 2000\n[resources]\nner.fr.test = "x.bio"'
    )
    study, other = read_study(mine(folder, lines)), read_study(folder / "three.toml")
    assert (study.name, study.seeds, study.scale.updates, study.scale.shape.width) == ("mine", (7,), 2000, 64)
    assert isinstance(study.text, RealText)
    assert isinstance(other.text, RealText)
    assert study.text.resources == {**other.text.resources, "ner.fr.test": (folder / "x.bio",)}


def test_what_is_said_of_languages_that_it_has_not_falls_away(folder: Path) -> None:
    study = read_study(mine(folder, 'name = "mine"\nlike = "three.toml"\nlanguages = ["en", "fr"]'), data=Path("data"))
    assert isinstance(study.text, RealText)
    assert set(study.text.main) == {"en", "fr"}
    assert set(study.text.other_domain) == {"fr"}
    assert set(study.text.resources) == {"retrieval.en-fr", "ner.en.train", "ner.fr.test"}
    assert all(path.parent == Path("data") for paths in study.text.resources.values() for path in paths)


def test_filters_keep_what_this_study_still_has(folder: Path) -> None:
    lines = 'name = "mine"\nlike = "three.toml"\n'
    assert read_study(mine(folder, lines + "seeds = [0]")).of_exhibit("figure-6").targets == ("zh",)
    assert read_study(mine(folder, lines + 'languages = ["en", "zh"]')).only == {}
    without_its_target = read_study(mine(folder, lines + 'languages = ["en", "fr"]'))
    assert without_its_target.of_exhibit("figure-6").targets == ("fr",)
    assert read_study(mine(folder, lines + 'exhibits = ["table-1"]')).only == {}


def test_names_of_languages_that_are_those_of_keys_or_pairs_take_nothing_else_away(folder: Path) -> None:
    base = """
name = "odd"
scale = "small"
languages = ["en", "pt-br", "pt", "br", "ner", "updates"]
[change]
updates = 1000
[text]
en = "en.txt"
pt-br = "1.txt"
pt = "2.txt"
br = "3.txt"
ner = "4.txt"
updates = "5.txt"
[resources]
ner.en.train = "train.bio"
"""
    (folder / "odd.toml").write_text(base)
    study = read_study(mine(folder, 'name = "mine"\nlike = "odd.toml"\nlanguages = ["en", "pt-br"]'))
    assert isinstance(study.text, RealText)
    assert (set(study.text.main), study.scale.updates) == ({"en", "pt-br"}, 1000)
    assert set(study.text.resources) == {"ner.en.train"}


def test_a_data_set_is_replaced_whole(folder: Path) -> None:
    """The commit of one is none of another."""
    pinned = f'{{ dataset = "user/name", config = "x", revision = "{"a" * 40}" }}'
    (folder / "hub.toml").write_text(THREE_LANGUAGES.replace('"fr.txt"', pinned))
    with pytest.raises(IsoglotError, match=r"text\.fr\.revision: should be the commit"):
        read_study(mine(folder, 'name = "mine"\nlike = "hub.toml"\ntext.fr = { dataset = "other/name" }'))


def test_made_up_text_takes_the_place_of_files_and_files_that_of_made_up_text(folder: Path) -> None:
    made_up = """
name = "mine"
like = "three.toml"
languages = ["ela", "oru"]
synthetic.sentences = 40_000
synthetic.languages = { ela = {}, oru = {} }
"""
    assert isinstance(read_study(mine(folder, made_up)).text, Synthetic)
    lines = 'name = "mine"\nlike = "demo"\nlanguages = ["en", "fr"]\ntext = { en = "en.txt", fr = "fr.txt" }'
    assert isinstance(read_study(mine(folder, lines)).text, RealText)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            'like = "thre.toml"',
            r"mine.toml: like: there is no study 'thre.toml'; name another file .*did you mean 'three.toml'\?",
        ),
        (
            'like = "../three.toml"',
            "mine.toml: like: there is no study '../three.toml'; name another file in the folder ",
        ),
        ("like = 3", "mine.toml: like: should be a string in quotes"),
        ('like = "mine.toml"', "mine.toml: like: there is no study 'mine.toml'; name another file "),
        ('like = "second.toml"', "mine.toml: like: .*/second.toml is like another study itself; name one that is not"),
        (
            'like = "three.toml"\nlanguages = ["fr", "en"]',
            "mine.toml: like: the files of .*three.toml are .* chosen by 'en'",
        ),
        (
            'like = "demo"\nscale = "paper"',
            r"mine.toml \(like demo\): change.optimization.warmup_updates: should be at most",
        ),
        (
            'like = "demo"\nwords.ela = "moses"',
            r"mine.toml \(like demo\): words: a study with a \[synthetic\] table makes up",
        ),
        ('like = "three.toml"\nsedes = [0]', r"mine.toml: sedes: unknown key; .*did you mean 'seeds'\?"),
        (
            'like = "three.toml"\nlanguages = 3',
            r"mine.toml \(like three.toml\): languages: should be a list in brackets",
        ),
        ('like = "three.toml"\nlanguages = ["en", "de"]', r"mine.toml \(like three.toml\): text.de: 'de' has no text"),
        ('like = "wrong.toml"', "wrong.toml: scale: this key is missing"),
        ('like = "bytes.toml"', "bytes.toml: not UTF-8 text"),
    ],
)
def test_a_mistake_is_told_of_the_file_that_it_is_in(folder: Path, lines: str, problem: str) -> None:
    (folder / "wrong.toml").write_text('name = "wrong"\nlanguages = ["en", "fr"]')
    (folder / "bytes.toml").write_bytes(b"\xff")
    (folder / "second.toml").write_text('name = "second"\nlike = "three.toml"')
    with pytest.raises(IsoglotError) as caught:
        read_study(mine(folder, f'name = "mine"\n{lines}'))
    assert re.match(re.escape(f"{folder}/") + problem, str(caught.value)), caught.value


def test_it_needs_a_name_of_its_own(folder: Path) -> None:
    with pytest.raises(IsoglotError, match=r"mine\.toml: name: this key is missing"):
        read_study(mine(folder, 'like = "three.toml"'))
