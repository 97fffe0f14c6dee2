"""The catalogue holds together, and its checksums are those of the official files."""

import re
from fnmatch import fnmatchcase

import pytest
from real_data import DATA

from isoglot.corpora.download.catalogue import (
    DATA_SETS,
    OFFICIAL_SHA256,
    files_of,
    files_to_fetch,
    named_data_set,
)
from isoglot.corpora.download.checking import CHECKS, problem_of
from isoglot.corpora.download.unpacking import nli_pairs, wikiann_words
from isoglot.corpora.readers.decompression import found
from isoglot.errors import IsoglotError

FILES = [file for data_set in DATA_SETS for file in files_of(data_set)]


def test_every_place_belongs_to_one_file() -> None:
    paths = [file.path for file in FILES]
    assert len(set(paths)) == len(paths)
    assert all(re.fullmatch(r"(text|eval/\w+)/[\w.-]+", path) for path in paths)
    assert [path for path in paths if not any(fnmatchcase(path, pattern) for pattern in CHECKS)] == []


def test_addresses_are_safe_and_whole() -> None:
    urls = [file.url for file in FILES if file.url]
    assert len(urls) > 60
    for url in urls:
        assert re.fullmatch(r"https://[\w.-]+/[^\s{}]+", url)
    for data_set in DATA_SETS:
        assert {bool(file.url) for file in files_of(data_set)} == {not data_set.by_hand}, data_set.name


@pytest.mark.parametrize(
    ("name", "language", "fetched", "url"),
    [
        (
            "wikipedia",
            "zh-yue",
            "text/zh_yuewiki-latest-pages-articles.xml.bz2",
            "/zh_yuewiki/latest/zh_yuewiki-latest",
        ),
        ("cc100", "fr", "text/cc100.fr.txt.xz", "/cc-100/fr.txt.xz"),
        ("cc100", "zh", "text/cc100.zh.txt.xz", "/cc-100/zh-Hans.txt.xz"),
        ("ud", "ru", "eval/ud/ru_gsd-ud-dev.conllu", "/UD_Russian-GSD/r2.3/ru_gsd-ud-dev.conllu"),
        ("xnli", "sw", "downloads/XNLI-1.0.zip", "/XNLI/XNLI-1.0.zip"),
        ("wikiann", "eo", "downloads/panx_dataset.tar", "/panx_dataset.tar?dl=1"),
        ("tatoeba", "sw", "eval/tatoeba/tatoeba.swh-eng.swh", "/v1/tatoeba.swh-eng.swh"),
    ],
)
def test_the_first_file_of_a_language(name: str, language: str, fetched: str, url: str) -> None:
    file = named_data_set(name).files(language)[0]
    assert file.fetched_path == fetched
    assert url in file.url


def test_every_checksum_has_its_file() -> None:
    assert {file.path: file.sha256 for file in FILES if file.sha256} == OFFICIAL_SHA256
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in OFFICIAL_SHA256.values())


@pytest.mark.parametrize("code", ["", "../x", "f", "é", "fr\n"])
def test_no_code_of_a_language(code: str) -> None:
    with pytest.raises(IsoglotError, match=r"--languages: .* is not the code of a language"):
        files_of(named_data_set("wikipedia"), [code])


def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(IsoglotError, match="--languages: ud has no files of 'eo' here; try en, fr, de, ru, zh"):
        files_of(named_data_set("ud"), ["fr", "eo"])
    with pytest.raises(IsoglotError, match="no data set is called 'xlni'; did you mean 'xnli'"):
        named_data_set("xlni")
    with pytest.raises(IsoglotError, match="wikipedia is about 46 GB for en, fr, de, ru, zh: say which languages"):
        files_to_fetch(named_data_set("wikipedia"), None)
    assert len(files_to_fetch(named_data_set("wikipedia"), ["fr"])) == 1
    assert len(files_to_fetch(named_data_set("ud"), None)) == 13


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
def test_every_data_set_that_is_there_is_in_order_and_official() -> None:
    there = {file.path: place for file in FILES if (place := found(DATA / file.path)) is not None}
    assert len(there) > 80
    assert len(OFFICIAL_SHA256.keys() & there.keys()) == len(OFFICIAL_SHA256) == 26
    assert [problem for path in there.values() if (problem := problem_of(path, root=DATA))] == []


def test_lines_as_our_readers_take_them() -> None:
    table = ["gold_label\tsentence1\tsentence2", "neutral\ta\tb", "-\tc\td"]
    assert list(nli_pairs(table, source="mnli_train")) == ["a\tb\tneutral\tmnli_train"]
    rows = ["P\tfr\tH 1\tneutral\tx", "Q\ten\tH 2\tneutral\tx", "R\tfr\tH 3\t-\tx", "S\tfr\t\u2028\tentailment\tx"]
    official = ["sentence1\tlanguage\tsentence2\tgold_label\tgenre", *rows]
    assert list(nli_pairs(official, language="fr")) == ["P\tH 1\tneutral", "S\t\u2028\tentailment"]
    with pytest.raises(IsoglotError, match="line 3: 2 columns where the header has 3"):
        list(nli_pairs([*table[:2], "neutral\ta"]))
    for bad in ([], [""], ["gold_label\tsentence1"], table):
        with pytest.raises(IsoglotError, match="line 1: the header has no column"):
            list(nli_pairs(bad, language="fr"))
    lines = ["zh:前\tB-LOC", "", "zh:zh:\tO"]
    assert list(wikiann_words(lines, language="zh")) == ["前\tB-LOC", "", "zh:\tO"]
    with pytest.raises(IsoglotError, match=r"line 1: 'zh:前\\tB-LOC' should begin with 'en:'"):
        list(wikiann_words(lines, language="en"))
