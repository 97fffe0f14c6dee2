"""Dictionaries in the formats that people have them in."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.readers.dictionaries import read_dictionary
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import WRITTEN

EN_FR = ("en", "fr")

words = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="\ufffd"), min_size=1)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


def read(path: Path, content: str) -> list[tuple[str, str, float]]:
    path.write_text(content, encoding="utf-8", newline="")
    return [(entry.source, entry.target, entry.weight) for entry in read_dictionary(path, languages=EN_FR)]


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


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("to give up\tabandonner\t3\tenwiktionary\na\tb\t2e3\n", [("to give up", "abandonner", 3), ("a", "b", 2000)]),
        ("the le\nthe\tla\r\n\n l'été\tsummer \n", [("the", "le", 1), ("the", "la", 1), ("l'été", "summer", 1)]),
        # Words that headers have may be entries.
        ("weight poids\nquality\tqualité\n", [("weight", "poids", 1), ("quality", "qualité", 1)]),
        ("weight\tpoids\t0.5\n", [("weight", "poids", 0.5)]),
        # A pair is given once, where it first stands, with its largest weight.
        ("a\tb\t2\nb\ta\t1\na\tb\t5\na\tb\t3\na\tc\t1\n", [("a", "b", 5), ("b", "a", 1), ("a", "c", 1)]),
        # Rows of lost letters are left out.
        ("年\tyear\n\ufffd\t\ufffd\n月\tmo\ufffdth\n日\tday\n", [("年", "year", 1), ("日", "day", 1)]),
    ],
)
def test_rows_without_a_header(tmp_path: Path, content: str, expected: list[tuple[str, str, float]]) -> None:
    assert read(tmp_path / "dict", content) == expected


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
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
def test_real_dictionaries_have_the_pairs_that_their_description_says() -> None:
    folder = DATA / "eval"
    readme = (folder / "README.md").read_text(encoding="utf-8")
    described = re.findall(r"`((?:dict|muse)/(..)-(..)\.[^`]+)` \|[^|]*\| (\d+) pairs, (\d+) ", readme)
    assert len(described) == 28
    for name, source, target, num_pairs, num_sources in described:
        dictionary = read_dictionary(folder / name, languages=(source, target))
        lost_letters = name == "muse/zh-en.txt.gz"
        assert len(dictionary) + lost_letters == int(num_pairs)
        assert len({entry.source.lower() for entry in dictionary}) + lost_letters == int(num_sources)
        if votes := re.search(rf"`{re.escape(name)}`.*votes {{(.*?)}}", readme):
            counted = dict(re.findall(r"'(\d)': (\d+)", votes[1]))
            weights = [entry.weight for entry in dictionary]
            assert {vote: str(weights.count(float(vote))) for vote in counted} == counted


HEADER = "eng-000,fra-000,trans_quality\n"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("the le\nthe\n", "dict:2: two words"),
        ("the le\n\nthe le la\n", "dict:3: two words"),
        ("the\tle\tla vie\n", "dict:1: the weight must be a number above 0, not 'la vie'"),
        ("the\tle\t1\nthe\tla\n", "dict:2: 2 columns where source, target and weight were expected"),
        ("the\tle\t1\n\tla\t1\n", "dict:2: the source is empty"),
        ("the\tle\t1\nthe\tla\tmany\n", "dict:2: the weight must be a number above 0, not 'many'"),
        ("the\tle\t1\nthe\tla\t0\n", "dict:2: the weight must be a number above 0, not '0'"),
        ("the\tle\t1\nthe\tla\tnan\n", "dict:2: the weight must be a number above 0, not 'nan'"),
        (HEADER + "cat,chat\n", "dict:2: 2 columns where the header has 3"),
        (HEADER + 'cat,"ch"at,3\n', "dict:2: a field is wrongly quoted"),
        (HEADER + "cat,,3\n", "dict:2: the target is empty"),
        ("eng-000,fra-000,fra-001,quality\n", "dict:1: the header should name one column 'fr', and names 2 such"),
        ("eng-000,fra-000,score\n", "dict:1: the header should name one column trans_q.* names 0 such; it has eng"),
        ("\n\n", "dict: no entries"),
        ("\ufffd a\n", "dict: no entries"),
        ("The cat sat on the mat.\n", "dict:1: two words .*, not 'The cat sat.*; a dictionary has"),
        ('{"txt": "chat", "uid": "fra-000"}\n', "dict:1: two words .*, not '{"),
        (HEADER + "a\rb,c,1\n", "dict:2: a field is wrongly quoted"),
    ],
)  # fmt: skip
def test_spoilt_rows_are_refused_with_their_line(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        read(tmp_path / "dict", content)


fields = st.sampled_from(
    ["en", "fr", "eng-000", "quality", "weight", "1", "nan", "-3", "cat", " ", '"', '""', "\ufffd", "é\r"]
)
rows = st.lists(
    st.lists(fields | st.text(max_size=3), max_size=5).flatmap(
        lambda row: st.sampled_from("\t ,").map(lambda tab: tab.join(row))
    )
)


@given(
    rows.map(lambda lines: "\n".join(lines).encode(errors="surrogatepass")) | st.binary(),
    st.sampled_from(sorted(WRITTEN)),
)
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes, kind: str) -> None:
    path = tmp_path_factory.mktemp("dictionaries") / "dict"
    path.write_bytes(WRITTEN[kind](content))
    try:
        dictionary = read_dictionary(path, languages=("en", "fr"))
    except IsoglotError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
    else:
        assert all(entry.source.strip() and entry.target.strip() and entry.weight > 0 for entry in dictionary)
        assert len({(entry.source, entry.target) for entry in dictionary}) == len(dictionary) > 0
