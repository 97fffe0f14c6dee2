"""A numbered text gives its words back, counted or line by line."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora import numbered_text
from isoglot.corpora.numbered_text import Cut, NumberedText, Split, concatenated_ranges, write_numbered_text
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from tests.oracles import text_of


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_ranges_follow_each_other(ranges: list[tuple[int, int]]) -> None:
    start_R, length_R = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    expected = [number for start, length in ranges for number in range(start, start + length)]
    assert concatenated_ranges(start_R, length_R).tolist() == expected


lines_of_words = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=6)


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
@given(train=lines_of_words, test=lines_of_words, most_words=st.integers(0, 40))
def test_words_come_back(at_once: int, train: list[list[str]], test: list[list[str]], most_words: int) -> None:
    text = text_of({Split.TRAIN: train, Split.TEST: test})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_text, "PLACES_AT_ONCE", at_once)
        assert list(text.lines(Split.TRAIN)) == train
        assert list(text.lines(Split.TEST)) == test
        assert list(text.lines(Split.DEV)) == []
        words = [word for line in train for word in line]
        assert (text.num_lines(Split.TRAIN), text.num_words(Split.TRAIN)) == (len(train), len(words))
        assert text.word_counts(Split.TRAIN) == Counter(words)
        assert text.word_counts(Split.TRAIN, most_words=most_words) == Counter(words[:most_words])


WHITESPACE = WordSplitting(splitter=Splitter.WHITESPACE, language="x")


def write_small_text(folder: Path) -> None:
    cut = Cut(dev_lines=1, test_lines=0, seed=0)
    write_numbered_text(folder, ["a b", "c", "a a"], splitting=WHITESPACE, cut=cut)


def test_a_written_text_is_mapped_and_read_only(tmp_path: Path) -> None:
    write_small_text(tmp_path)
    text = NumberedText.read(tmp_path)
    assert isinstance(text.number_N[Split.TRAIN], np.memmap)
    assert text.number_N[Split.TRAIN].dtype == np.uint8
    assert text.number_N[Split.TEST].shape == (0,)
    with pytest.raises(ValueError, match="read-only"):
        text.number_N[Split.TRAIN][0] = 0


texts = st.lists(st.text("ab \t", max_size=6), max_size=30)


def parts(folder: Path, lines: list[str], cut: Cut) -> dict[Split, list[list[str]]]:
    write_numbered_text(folder, iter(lines), splitting=WHITESPACE, cut=cut)
    text = NumberedText.read(folder)
    return {split: list(text.lines(split)) for split in Split}


@given(texts, st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**63 - 1))
def test_every_line_with_words_is_in_one_part(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], dev: int, test: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("text")
    distinct = [f"{line} {number}" if line.strip() else line for number, line in enumerate(lines)]
    words = [line.split() for line in distinct if line.strip()]
    cut = Cut(dev_lines=dev, test_lines=test, seed=seed)
    if len(words) <= dev + test:
        with pytest.raises(IsoglotError, match=f"{len(words)} lines of text that are not blank are too few"):
            parts(folder, distinct, cut)
        return
    found = parts(folder, distinct, cut)
    assert (len(found[Split.DEV]), len(found[Split.TEST])) == (dev, test)
    assert sorted(line for part in found.values() for line in part) == sorted(words)
    assert found == parts(folder, distinct, cut)
    assert {path.name for path in folder.iterdir()} == {"dev.bin", "test.bin", "text.json", "train.bin", "types.txt"}


def test_lines_are_shuffled_by_their_seed(tmp_path: Path) -> None:
    lines = [str(number) for number in range(100)]
    cuts = [Cut(dev_lines=0, test_lines=0, seed=seed) for seed in range(3)]
    orders = {tuple(word for (word,) in parts(tmp_path, lines, cut)[Split.TRAIN]) for cut in cuts}
    assert len(orders | {tuple(lines)}) == 4


@given(texts.filter(lambda lines: any(line.strip() for line in lines)), st.integers(1, 9))
def test_a_smaller_text_is_the_beginning_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], most_words: int
) -> None:
    folder = tmp_path_factory.mktemp("text")
    whole = parts(folder, lines, Cut(dev_lines=0, test_lines=0, seed=7))[Split.TRAIN]
    some = parts(folder, lines, Cut(dev_lines=0, test_lines=0, seed=7, most_words=most_words))[Split.TRAIN]
    assert some == whole[: len(some)]
    num_words = sum(map(len, some))
    assert num_words <= most_words or len(some) == 1
    assert len(some) == len(whole) or num_words + len(whole[len(some)]) > most_words


def test_the_same_bytes_for_any_number_of_workers_and_any_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"Mr. Smith's {'very ' * (number % 7)}good dog no. {number % 50}, isn't it?" for number in range(300)]
    cut = Cut(dev_lines=10, test_lines=10, seed=1)
    for name, workers, size in (("one", 1, 1 << 19), ("two", 2, 500), ("one-small", 1, 77)):
        monkeypatch.setattr(numbered_text, "BATCH_CHARACTERS", size)
        monkeypatch.setattr(numbered_text, "LINES_AT_ONCE", 8 if size < 100 else 1 << 14)
        (tmp_path / name).mkdir()
        write_numbered_text(tmp_path / name, lines, splitting=default_splitting("en"), cut=cut, workers=workers)
    one, *others = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in tmp_path.iterdir())
    assert others == [one, one]
    counts = NumberedText.read(tmp_path / "one").word_counts(Split.TRAIN)
    assert counts["Mr."] == counts["'s"] == 280
    assert counts["isn"] == counts["'t"] == 280
