"""Which tasks there are, and what a study of real languages may say of their files."""

import subprocess
import sys
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError, MissingDataError
from isoglot.study.real_text import RealText
from isoglot.study.study import parse_study

REAL = """
name = "mine"
scale = "small"
languages = ["en", "fr", "zh"]
[text]
en = "en.txt"
fr = "fr.txt"
zh = "zh.txt"
[resources]
"""
FILES = """
ner.en.train = ["wiki-a", "wiki-b"]
ner.en.dev = "wiki-dev"
ner.fr.test = "/abs/fr-test"
ner.en-zh.train = "conll"
parsing.en.train = "ewt"
parsing.fr.test = "gsd"
pos.en.train = "tags"
dictionary.en-fr = "words.tsv"
"""
FR, ZH = ("en", "fr"), ("en", "zh")


def real_text(resources: str) -> RealText:
    text = parse_study(REAL + resources, origin="mine.toml", data=Path("/data")).text
    assert isinstance(text, RealText)
    return text


def test_a_study_is_read_without_loading_tasks_or_torch() -> None:
    program = (
        "import sys; from isoglot.study.study import read_study; read_study('demo'); "
        "print([name for name in sys.modules if name.startswith(('isoglot.evaluation', 'torch'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("task", "language", "split", "pair", "names"),
    [
        ("ner", "en", "train", FR, ["/data/wiki-a", "/data/wiki-b"]),
        ("ner", "en", "train", ZH, ["/data/conll"]),
        ("ner", "en", "dev", FR, ["/data/wiki-dev"]),
        ("ner", "en", "dev", ZH, ["/data/wiki-dev"]),
        ("ner", "fr", "test", FR, ["/abs/fr-test"]),
        ("pos", "en", "train", FR, ["/data/tags"]),
        ("pos", "fr", "test", FR, ["/data/gsd"]),
        ("parsing", "en", "train", FR, ["/data/ewt"]),
    ],
)
def test_files_are_found_by_pair_then_by_language(
    task: str, language: str, split: str, pair: tuple[str, str], names: list[str]
) -> None:
    found = real_text(FILES).task_files(task, language=language, split=split, pair=pair)
    assert found == tuple(map(Path, names))


def test_tasks_of_their_own_come_before_those_whose_files_they_may_read() -> None:
    text = real_text('parsing.en-fr.test = "trees of the pair"\npos.en.test = "tags"')
    assert text.task_files("pos", language="en", split="test", pair=FR) == (Path("/data/tags"),)
    text = real_text('parsing.en-fr.test = "trees of the pair"\nparsing.en.test = "trees"')
    assert text.task_files("pos", language="en", split="test", pair=FR) == (Path("/data/trees of the pair"),)
    assert text.task_files("pos", language="en", split="test", pair=ZH) == (Path("/data/trees"),)


@pytest.mark.parametrize(
    ("task", "language", "split", "purpose"),
    [
        ("nli", "en", "train", "labelled examples to fine-tune on"),
        ("nli", "en", "dev", "labelled examples to choose models by"),
        ("nli", "fr", "test", "labelled examples to score by"),
        ("parsing", "zh", "test", "labelled examples to score by"),
        ("pos", "zh", "test", "labelled examples to score by"),
    ],
)
def test_what_is_missing_is_named(task: str, language: str, split: str, purpose: str) -> None:
    pair = ZH if language == "zh" else FR
    with pytest.raises(MissingDataError) as raised:
        real_text(FILES + 'pos.fr.test = "not parsed"').task_files(task, language=language, split=split, pair=pair)
    assert str(raised.value) == f"resources.{task}.{language}.{split} is not given: name a file of {purpose} there"


@pytest.mark.parametrize(("given", "task"), [("pos.zh.test", "parsing"), ("ner.en-zh.test", "ner")])
def test_files_of_another_task_or_of_the_pair_are_not_a_targets(given: str, task: str) -> None:
    with pytest.raises(MissingDataError, match=rf"resources\.{task}\.zh\.test is not given"):
        real_text(f'{given} = "x"').task_files(task, language="zh", split="test", pair=ZH)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ('nil.en.train = "x"', r"resources: 'nil' is not one of 'dictionary', .*'nli', .*did you mean 'nli'\?"),
        ('ner.de.test = "x"', r"resources.ner.de: the languages and pairs of this study are 'en', 'fr', 'zh', 'en-fr'"),
        ('ner.en-hz.test = "x"', r"resources.ner.en-hz: the languages and pairs .*; did you mean 'en-zh'\?"),
        ('ner.fr-zh.test = "x"', r"resources.ner.fr-zh: the languages and pairs"),
        ('ner.en.tets = "x"', r"resources.ner.en.tets: unknown key; .*'train', 'dev', 'test'; did you mean 'test'\?"),
        ('ner.fr.tets = "x"', r"resources.ner.fr.tets: unknown key; the keys here are 'test'; did you mean 'test'\?"),
        ('ner.fr.train = "x"', r"resources.ner.fr.train: zero-shot transfer never reads it, .*in 'en' alone \(section"),
        ('ner.zh.dev = "x"', r"resources.ner.zh.dev: zero-shot transfer never reads it"),
        ("ner = 3", r"resources.ner: should be a table"),
        ('ner.en = "x"', r"resources.ner.en: should be a table, not the string 'x'"),
        ("ner.en.train = 3", r"resources.ner.en.train: should be a string in quotes"),
        ("ner.en.train = []", r"resources.ner.en.train: names no file"),
        ('ner.fr.test = ""', r"resources.ner.fr.test: names no file"),
    ],
)
def test_mistakes_are_named(resources: str, message: str) -> None:
    with pytest.raises(IsoglotError, match=f"^mine.toml: {message}"):
        parse_study(REAL + resources, origin="mine.toml")
