"""Treebanks are read as they are written, and refused with the line at fault."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.conllu import Tree, conllu_text, read_conllu
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import WRITTEN
from tests.evaluation.transfer.drawn_trees import trees

CONLLU = """# newdoc
# sent_id = 1
# text = Du pain coûte 10 000 euros
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\tpain\t_\t_\t_\t4\tnsubj:pass\t_\tSpaceAfter=No
4\tcoûte\tcoûter\tVERB\t_\tMood=Ind\t0\troot\t_\t_
4.1\test\têtre\tAUX\t_\t_\t_\t_\t4:cop\t_
5\t10 000\t10000\tNUM\t_\t_\t4\tobj\t_\t_

1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_

"""
TREES = [
    Tree(
        words=("De", "le", "pain", "coûte", "10 000"),
        upos=("ADP", "DET", "_", "VERB", "NUM"),
        heads=(3, 3, 4, 0, 4),
        relations=("case", "det", "nsubj:pass", "root", "obj"),
    ),
    Tree(words=("Oui",), upos=("INTJ",), heads=(0,), relations=("root",)),
]


def row(place: int | str, *, form: str = "w", upos: str = "X", head: object = 0, relation: str = "dep") -> str:
    return f"{place}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_\n"


def sentence(heads: list[int]) -> str:
    return "".join(row(place, form=f"w{place}", head=head) for place, head in enumerate(heads, start=1)) + "\n"


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_words_are_the_lines_with_whole_numbers(tmp_path: Path, ending: str, line_end: str) -> None:
    path = tmp_path / f"bank.{ending}"
    path.write_bytes(WRITTEN[ending](CONLLU.replace("\n", line_end).encode()))
    assert read_conllu(path) == TREES
    assert read_conllu(str(path)) == TREES


@given(st.lists(trees(), min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, written: list[Tree]) -> None:
    path = tmp_path_factory.mktemp("treebanks") / "bank.conllu"
    path.write_bytes(conllu_text(written).encode())
    assert read_conllu(path) == written


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (CONLLU.replace("\tADP\t_", "\tADP"), ":5: 9 columns where CoNLL-U has 10; "),
        (" \n" + CONLLU, ":1: 1 columns"),
        (CONLLU.replace("2\tle\t", "3\tle\t"), ":6: the id is '3' where word 2 should be; number"),
        (CONLLU.replace("\tDe\t", "\t\u00a0 \t"), ":5: the form of word 1 is blank; "),
        (CONLLU.replace("\tDET\t", "\t\t"), ":6: the UPOS of word 2, 'le', is blank; write _ "),
        (CONLLU.replace("3\tdet", "_\tdet"), ":6: the head of word 2, 'le', is '_'; give a word"),
        (CONLLU.replace("3\tdet", "²\tdet"), ":6: the head of word 2, 'le', is '²'; "),
        (CONLLU.replace("3\tdet", f"{'9' * 5000}\tdet"), ":6: the head of word 2, 'le', is '9{40}'; "),
        (CONLLU.replace("3\tdet", "6\tdet"), ":6: the head of word 2 'le' is 6 in a sentence of 5 words; "),
        (CONLLU.replace("\tdet\t", "\t_\t"), ":6: word 2, 'le', has no relation to its head; "),
        (CONLLU.replace("0\troot", "1\troot", 1), ":5: no word of the sentence has the head 0; "),
        (CONLLU.replace("3\tdet", "0\tdet"), ":8: words 2 'le', 4 'coûte' all have the"),
        (CONLLU.replace("3\tdet", "2\tdet"), ":6: the heads of word 2 'le' form a cycle; "),
        (CONLLU.replace("4\tnsubj", "1\tnsubj"), ":5: the heads of words 1 'De', 3 'pain' form a cycle; give one "),
        (sentence([0, 4, 2, 3, 2]), ":2: the heads of words 2 'w2', 4 'w4', 3 'w3' form a cycle"),
        (sentence([0, *range(3, 15), 2]), ":2: the heads of words 2 'w2', 3 'w3', .* 11 'w11', 3 more form"),
        ("\n" + CONLLU, ":1: a sentence without words ends here; "),
        (CONLLU + "\n", ":14: a sentence without words ends here; "),
        (CONLLU.removesuffix("\n"), ":12: no blank line ends the last sentence; fetch"),
        (CONLLU + "# text = and so on", ":14: no blank line ends the last sentence; fetch"),
        ("# a comment\n", ":1: the file ends without a sentence; "),
        ("", ": the file is empty; "),
    ],
)  # fmt: skip
def test_spoilt_treebanks_are_refused_with_their_line(tmp_path: Path, content: str, complaint: str) -> None:
    treebank = tmp_path / "bank.conllu"
    treebank.write_bytes(content.encode())
    with pytest.raises(IsoglotError, match=f"^{re.escape(str(treebank))}{complaint}"):
        read_conllu(treebank)


columns = st.sampled_from(
    ["1", "2", "1-2", "1.1", "_", "0", "", "w", "root", "#", " ", "é\r", "²", "٣", "1_0", "9" * 5000]
)
lines = st.lists(columns, min_size=9, max_size=11).map("\t".join) | st.sampled_from(["", "# x", row(1), row(2, head=1)])


@given(st.lists(lines, max_size=6).map(lambda each: "\n".join(each).encode()) | st.binary())
def test_anything_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("treebanks") / "bank.conllu"
    path.write_bytes(content)
    try:
        read = read_conllu(path)
    except IsoglotError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
    else:
        assert all(tree.words and tree.heads.count(0) == 1 for tree in read)
        assert read


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"words": ("a\tb",)}, "11 columns"),
        ({"words": ("a\0b",)}, "a line break or NUL in word 1"),
        ({"words": (" ",)}, "the form of word 1 is blank"),
        ({"relations": ("_",)}, "has no relation"),
        ({"heads": (1,)}, "no word of the sentence has the head 0"),
        ({"words": (), "upos": (), "heads": (), "relations": ()}, "a sentence without words"),
    ],
)
def test_what_would_not_be_read_again_is_not_written(change: dict[str, tuple[str, ...]], complaint: str) -> None:
    with pytest.raises(IsoglotError, match=f"^sentence 2 cannot be written as CoNLL-U: .*{complaint}"):
        conllu_text([TREES[0], replace(TREES[1], **change)])
