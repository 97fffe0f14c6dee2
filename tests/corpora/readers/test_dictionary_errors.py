"""Dictionaries that are not what they should be."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.dictionaries import read_dictionary
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import WRITTEN

HEADER = "eng-000,fra-000,trans_quality\n"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("the le\nthe\n", "dict:2: two words"),
        ("the le\n\nthe le la\n", "dict:3: two words"),
        ("the\tle\nthe\t\n", "dict:2: two words"),
        ("the\tle\tla vie\n", "dict:1: the weight must be a number above 0, not 'la vie'"),
        ("the\tle\t1\nthe\tla\n", "dict:2: source, target and weight expected with tabs between them, not 2 columns"),
        ("the\tle\t1\nthe\tla\t1\tx\ty\n", "dict:2: source, target and weight .* not 5 columns"),
        ("the\tle\t1\n\tla\t1\n", "dict:2: the source is empty"),
        ("the\tle\t1\nthe\t \t1\n", "dict:2: the target is empty"),
        ("the\tle\t1\nthe\tla\tmany\n", "dict:2: the weight must be a number above 0, not 'many'"),
        ("the\tle\t1\nthe\tla\t\n", "dict:2: the weight must be a number above 0, not ''"),
        ("the\tle\t1\nthe\tla\t0\n", "dict:2: the weight must be a number above 0, not '0'"),
        ("the\tle\t1\nthe\tla\t-2\n", "dict:2: the weight must be a number above 0, not '-2'"),
        ("the\tle\t1\nthe\tla\tnan\n", "dict:2: the weight must be a number above 0, not 'nan'"),
        ("the\tle\t1\nthe\tla\tinf\n", "dict:2: the weight must be a number above 0, not 'inf'"),
        (HEADER + "cat,chat\n", "dict:2: 2 columns, but the header has 3"),
        (HEADER + 'cat,"chat,3\n', "dict:2: a field is wrongly quoted"),
        (HEADER + 'cat,"ch"at,3\n', "dict:2: a field is wrongly quoted"),
        (HEADER + "cat,,3\n", "dict:2: the target is empty"),
        ("eng-000,deu-000,trans_quality\ncat,Katze,3\n", "dict:1: the header should name one column fr, and names 0 "),
        ("eng-000,fra-000,fra-001,quality\n", "dict:1: the header should name one column fr, and names 2 such"),
        ("eng-000,fra-000,score\n", "dict:1: the header should name one column trans_q.* names 0 such; it has eng"),
        ("eng-000,fra-000,weight,votes\n", "dict:1: the header should name one column trans_q.* names 2 such"),
        ("\n\n", "dict: no entries"),
        (HEADER, "dict: no entries"),
        ("\ufffd a\n", "dict: no entries"),
        ("The cat sat on the mat.\n", "dict:1: not a row of a dictionary: 'The cat sat"),
        ("word\n", "dict:1: not a row of a dictionary: 'word'"),
        ('{"txt": "chat", "uid": "fra-000"}\n', "dict:1: not a row of a dictionary: '{"),
        ("1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n", "dict:1: not a row of a dictionary"),
        ("a\rb\tc\t1\n", None),
        (HEADER + "a\rb,c,1\n", "dict:2: a field is wrongly quoted"),
    ],
)  # fmt: skip
def test_spoilt_rows_are_refused_with_their_line(tmp_path: Path, content: str, complaint: str | None) -> None:
    path = tmp_path / "dict"
    path.write_text(content, encoding="utf-8", newline="")
    if complaint is None:
        assert len(read_dictionary(path, languages=("en", "fr"))) == 1
        return
    with pytest.raises(IsoglotError, match=complaint):
        read_dictionary(path, languages=("en", "fr"))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="no such file"):
        read_dictionary(tmp_path / "absent", languages=("en", "fr"))
    (tmp_path / "latin").write_bytes("été\tsummer\n".encode("latin-1"))
    with pytest.raises(IsoglotError, match="latin:1: byte 0xE9 at place 1 "):
        read_dictionary(tmp_path / "latin", languages=("fr", "en"))


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
