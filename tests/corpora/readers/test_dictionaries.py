"""Dictionaries in the formats that people have them in."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.readers.dictionaries import DictionaryEntry, read_dictionary
from tests.corpora.readers.compressed_texts import WRITTEN

EN_FR = ("en", "fr")

words = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="\ufffd"), min_size=1)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


def read(path: Path, content: str, languages: tuple[str, str] = EN_FR) -> list[tuple[str, str, float]]:
    path.write_text(content, encoding="utf-8", newline="")
    return [(entry.source, entry.target, entry.weight) for entry in read_dictionary(path, languages=languages)]


@pytest.mark.parametrize("kind", WRITTEN)
def test_pairs_as_of_muse(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"en-fr.{kind}"
    path.write_bytes(WRITTEN[kind]("the le\nthe\tla\r\n\n l'été\tsummer \n".encode()))
    assert read_dictionary(path, languages=EN_FR) == [
        DictionaryEntry(source="the", target="le", weight=1),
        DictionaryEntry(source="the", target="la", weight=1),
        DictionaryEntry(source="l'été", target="summer", weight=1),
    ]


def test_rows_with_weights(tmp_path: Path) -> None:
    content = "to give up\tabandonner\t3\tenwiktionary,freedict\nweight\tpoids\t0.5\na\tb\t2e3\n"
    assert read(tmp_path / "dict.tsv", content) == [
        ("to give up", "abandonner", 3),
        ("weight", "poids", 0.5),
        ("a", "b", 2000),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "eng-000\tfra-000\ttrans_quality\ncat\tchat\t17\nsay \"hi\"\t\"dire \"\"salut\"\"\"\t4\n",
        "id,fra-000,eng-000,Quality\n1,chat,cat,17\n2,\"dire \"\"salut\"\"\",\"say \"\"hi\"\"\",4\n",
        "\"txt_eng\",\"langvar_uid_eng\",\"txt_fra\",\"weight\"\n\"cat\",\"eng-000\",\"chat\",17\n"
        "\"say \"\"hi\"\"\",,\"dire \"\"salut\"\"\",4\n",
        "votes\ten\tfr\n17\tcat\tchat\n\n4\t\"say \"\"hi\"\"\"\tdire \"salut\"\n",
    ],
)  # fmt: skip
def test_tables_as_of_panlex(tmp_path: Path, content: str) -> None:
    assert read(tmp_path / "panlex", content) == [("cat", "chat", 17), ('say "hi"', 'dire "salut"', 4)]


def test_words_that_headers_have_may_be_entries(tmp_path: Path) -> None:
    assert read(tmp_path / "muse", "weight poids\nquality\tqualité\n") == [
        ("weight", "poids", 1),
        ("quality", "qualité", 1),
    ]
    assert read(tmp_path / "weighted", "weight\tpoids\t3\n") == [("weight", "poids", 3)]


def test_a_pair_is_given_once_where_it_first_stands_with_its_largest_weight(tmp_path: Path) -> None:
    content = "a\tb\t2\nb\ta\t1\na\tb\t5\na\tb\t3\na\tc\t1\n"
    assert read(tmp_path / "dict", content) == [("a", "b", 5), ("b", "a", 1), ("a", "c", 1)]


def test_rows_of_lost_letters_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "zh-en.txt"
    path.write_text("年\tyear\n\ufffd\t\ufffd\n月\tmo\ufffdth\n日\tday\n", encoding="utf-8")
    dictionary = read_dictionary(path, languages=("zh", "en"))
    assert [entry.source for entry in dictionary] == ["年", "日"]
    assert dictionary.left_out == 2


@given(st.dictionaries(st.tuples(phrases, phrases), st.floats(1e-300, 1e300), min_size=1))
def test_written_rows_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, weights: dict[tuple[str, str], float]
) -> None:
    path = tmp_path_factory.mktemp("dictionaries") / "dict"
    rows = [(source, target, weight) for (source, target), weight in weights.items()]
    content = "".join(f"{source}\t{target}\t{weight}\n" for source, target, weight in rows)
    assert read(path, content) == rows
    table = "".join(
        f'{weight},"{b.replace(chr(34), chr(34) * 2)}","{a.replace(chr(34), chr(34) * 2)}"\n' for a, b, weight in rows
    )
    assert read(path, "quality,fr,en\n" + table) == rows


@pytest.mark.real_data
def test_real_dictionaries_have_the_pairs_that_their_description_says() -> None:
    folder = DATA / "eval"
    if not folder.exists():
        pytest.skip(f"no dictionaries in {folder}; set ISOGLOT_DATA")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    described = re.findall(r"`((?:dict|muse)/(..)-(..)\.[^`]+)` \|[^|]*\| (\d+) pairs, (\d+) ", readme)
    assert len(described) == 28
    left_out = {}
    for name, source, target, num_pairs, num_sources in described:
        dictionary = read_dictionary(folder / name, languages=(source, target))
        assert len(dictionary) + dictionary.left_out == int(num_pairs)
        assert len({entry.source.lower() for entry in dictionary}) + dictionary.left_out == int(num_sources)
        left_out[name] = dictionary.left_out
        if votes := re.search(rf"`{re.escape(name)}`.*votes {{(.*?)}}", readme):
            counted = dict(re.findall(r"'(\d)': (\d+)", votes[1]))
            weights = [entry.weight for entry in dictionary]
            assert {vote: str(weights.count(float(vote))) for vote in counted} == counted
    assert {name for name, count in left_out.items() if count} == {"muse/zh-en.txt.gz"}
