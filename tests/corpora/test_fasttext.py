"""Vectors trained by floret: that they are of the words asked for, and that they mean something."""

import sys
from pathlib import Path

import numpy as np
import pytest

from isoglot.corpora.word_vectors import fasttext_vectors
from isoglot.errors import IsoglotError
from isoglot.study.searches import FastText

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


def test_words_of_like_use_get_like_vectors(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    # Spellings of a topic have nothing in common, so likeness can only come from the lines that words stand in.
    spelled = ["".join(letters) for letters in random.choice(list("abcdefghijklmnop"), (200, 4)).tolist()]
    topics = [spelled[:100], spelled[100:]]
    lines = [list(random.choice(topics[number % 2], 10)) for number in range(2000)]
    eager = FastText(dimensions=16, epochs=10, least_count=2, buckets=1000, learning_rate=0.2)
    words, vector_WD = trained(lines, folder=tmp_path, settings=eager, most_words=1000)
    centred_WD = vector_WD - vector_WD.mean(0)
    unit_WD = centred_WD / np.linalg.norm(centred_WD, axis=1, keepdims=True)
    of_first_W = np.array([word in topics[0] for word in words])
    nearest_W = (unit_WD @ unit_WD.T - 2 * np.eye(len(words))).argmax(1)
    assert (of_first_W[nearest_W] == of_first_W).mean() > 0.95


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
