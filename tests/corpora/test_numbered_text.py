"""A numbered text gives its words back, counted or line by line."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora import numbered_text
from isoglot.corpora.numbered_text import LINE_END, Cut, NumberedText, Split, numbered, write_numbered_text
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting

lines_of_words = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=6)


def test_types_are_numbered_as_they_come_up() -> None:
    types, number_N = numbered(["bab", "", "ac"])
    assert types == ["b", "a", "c"]
    assert number_N.tolist() == [1, 2, 1, LINE_END, LINE_END, 2, 3, LINE_END]


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
@given(train=lines_of_words, test=lines_of_words, most_words=st.integers(0, 40))
def test_words_come_back(at_once: int, train: list[list[str]], test: list[list[str]], most_words: int) -> None:
    text = NumberedText.of({Split.TRAIN: train, Split.TEST: test})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_text, "PLACES_AT_ONCE", at_once)
        assert list(text.lines(Split.TRAIN)) == train
        assert list(text.lines(Split.TEST)) == test
        assert list(text.lines(Split.DEV)) == []
        words = [word for line in train for word in line]
        assert (text.num_lines(Split.TRAIN), text.num_words(Split.TRAIN)) == (len(train), len(words))
        assert text.word_counts(Split.TRAIN) == Counter(words)
        assert text.word_counts(Split.TRAIN, most_words=most_words) == Counter(words[:most_words])


def written(folder: Path) -> None:
    write_numbered_text(
        folder,
        ["a b", "c", "a a"],
        splitting=WordSplitting(splitter=Splitter.WHITESPACE, language="x"),
        cut=Cut(dev_lines=1, test_lines=0, seed=0),
    )


def test_a_written_text_is_mapped_and_read_only(tmp_path: Path) -> None:
    written(tmp_path)
    text = NumberedText.read(tmp_path)
    assert isinstance(text.number_N[Split.TRAIN], np.memmap)
    assert text.number_N[Split.TRAIN].dtype == np.uint8
    assert text.number_N[Split.TEST].shape == (0,)
    with pytest.raises(ValueError, match="read-only"):
        text.number_N[Split.TRAIN][0] = 0


@pytest.mark.parametrize("name", ["train.bin", "types.txt", "text.json"])
@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_damaged_text_is_refused_by_name(tmp_path: Path, name: str, damage: str) -> None:
    written(tmp_path)
    path = tmp_path / name
    if damage == "gone":
        path.unlink()
    elif name == "types.txt":
        path.write_bytes(b"\xff")
    else:
        path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(IsoglotError, match=rf"text\.json: not a numbered text .*; delete {tmp_path}"):
        NumberedText.read(tmp_path)
