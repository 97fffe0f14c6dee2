"""Word vectors as fastText, word2vec and GloVe write them."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.word_vectors import fasttext_vectors, read_word_vectors
from isoglot.errors import IsoglotError
from isoglot.study.searches import FastText
from tests.corpora.readers.compressed_texts import WRITTEN

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_words_and_their_numbers(tmp_path: Path, kind: str, header: str) -> None:
    path = tmp_path / f"wiki.fr.vec.{kind}"
    # fastText leaves a space at the end of its lines.
    path.write_bytes(WRITTEN[kind](f"{header}</s> 0 -1 \nété 1e-3 2.5 \r\n, 3 4\n".encode()))
    found, vector_WD = read_word_vectors(path, most_words=10)
    assert found == ["</s>", "été", ","]
    assert vector_WD.dtype == np.float32
    assert vector_WD.tolist() == pytest.approx(np.array([[0, -1], [1e-3, 2.5], [3, 4]], dtype=np.float32))


def test_of_words_that_are_the_same_in_lower_case_the_first_is_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "vec", "Paris 1 0\nle 2 0\nparis 3 0\nLE 4 0\nla 5 0\n")
    found, vector_WD = read_word_vectors(path, most_words=3)
    assert (found, vector_WD[:, 0].tolist()) == (["paris", "le", "la"], [1, 2, 5])
    # A word may have spaces in it.
    spaced = ["new york", ". . .", " x", "at 3 pm", "a\u00a0b"]
    path = written(tmp_path / "vec", "a 1 2 3\n" + "".join(f"{word} 4 5 6\n" for word in spaced))
    assert read_word_vectors(path, most_words=10)[0] == ["a", *spaced]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("a 1 2\nb 3\n", ":2: 1 numbers after the word, where 2 are expected"),
        ("a 1 2\nb 3 4 5\n", ":2: 3 numbers after the word, where 2 are expected"),
        ("a 1 2\n\nb 3 4\n", ":2: 0 numbers after the word, where 2 are expected"),
        ("a 1 2\nb 3 x\n", ":2: the vector of 'b': could not convert string to float: 'x'"),
        ("a 1 2\nb nan 2\n", ":2: the vector of 'b' is not of finite numbers"),
        ("a 1 2\nb 2 1e39\n", ":2: the vector of 'b' is not of finite numbers"),
        ("a 1 2\n 3 4\n", ":2: no word before the numbers"),
        ("2 2\n", ": no word vectors"),
        ("3 2\na 1 2\nb 1 2\n", ": 2 words, but its first line says 3; fetch the file again"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = written(tmp_path / "vec", content)
    with pytest.raises(IsoglotError, match=re.escape(f"{path}{complaint}")):
        read_word_vectors(path, most_words=10)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(words, st.lists(numbers, min_size=width, max_size=width)), min_size=1)
    ),
)
def test_written_rows_are_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, list[float]]]) -> None:
    lines = [f"{len(rows)} {len(rows[0][1])}\n", *(f"{word} {' '.join(map(repr, vector))}\n" for word, vector in rows)]
    path = written(tmp_path_factory.mktemp("vec") / "v", "".join(lines))
    found, vector_WD = read_word_vectors(path, most_words=100)
    # Of words that are the same in lower case, the first counts.
    expected = {word.lower(): vector for word, vector in reversed(rows)}
    assert dict(zip(found, vector_WD.tolist(), strict=True)) == expected


SETTINGS = FastText(dimensions=16, epochs=5, least_count=2, buckets=1000)


def trained(lines: list[list[str]], *, folder: Path, settings: FastText = SETTINGS, most_words: int = 100):
    pytest.importorskip("floret")
    return fasttext_vectors(lines, settings=settings, most_words=most_words, threads=1, draft=folder / "text.txt")


def test_words_are_in_lower_case_and_the_most_frequent_first(tmp_path: Path) -> None:
    lines = [["The", "cat", "the", "__label__x", "été"], ["the", "Cat", "__label__x", "Été", "once", "</s>"]] * 10
    words, vector_WD = trained([*lines, ["rare"]], folder=tmp_path)
    assert words[0] == "the"
    assert set(words) == {"the", "cat", "été", "__label__x", "once"}
    assert vector_WD.shape == (5, 16)
    assert vector_WD.dtype == np.float32
    assert list(tmp_path.iterdir()) == []
    assert trained(lines, folder=tmp_path, most_words=2)[0] in (["the", "cat"], ["the", "été"], ["the", "__label__x"])


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="least_count"):
        trained([["a", "b"]], folder=tmp_path)
    with pytest.raises(IsoglotError, match=r"lower alignment\.fasttext\.least_count"):
        trained([["once"]] * 1 + [[]] * 10, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_floret_the_command_to_install_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "floret", None)
    with pytest.raises(IsoglotError, match=r"pip install floret"):
        fasttext_vectors([["a"]], settings=SETTINGS, most_words=1, threads=1, draft=tmp_path / "text.txt")
