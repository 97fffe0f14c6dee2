from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora import numbered_text
from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream, Windows, write_stream
from isoglot.corpora.vocabulary import END, SPECIALS, UNK, Vocabulary, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.study.conditions import TableKind
from tests.oracles import text_of, windows_one_by_one

TEXT = {
    Split.TRAIN: ["mira lo tek", "tek tek .", "lo </s> mira", "a", "mirami ra"],
    Split.DEV: ["<pad> .", "ra lo . ."],
    Split.TEST: ["tek"],
}
lines_of_words = st.lists(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1), min_size=1, max_size=10)


def learned(text: NumberedText, *, merges: int = 5) -> tuple[Bpe, Vocabulary]:
    words = text.word_counts(Split.TRAIN)
    bpe = learn_bpe(words, merges=merges)
    return bpe, build_vocabulary(TableKind.UNION, counts={"x": bpe.subword_counts(words), "y": Counter("zq")})


def written(folder: Path) -> tuple[Bpe, Vocabulary]:
    text = text_of({split: [line.split() for line in lines] for split, lines in TEXT.items()})
    bpe, vocabulary = learned(text)
    write_stream(folder, language="x", text=text, bpe=bpe, vocabulary=vocabulary)
    return bpe, vocabulary


def ids_by_loops(lines: list[list[str]], bpe: Bpe, vocabulary: Vocabulary) -> list[int]:
    ids = []
    for line in lines:
        for word in line:
            ids += [vocabulary.ids("x").get(subword, UNK) for subword in next(bpe.segment_all([word]))]
        ids.append(END)
    return ids


@given(train=lines_of_words, dev=lines_of_words, merges=st.integers(0, 8))
def test_ids_are_those_of_each_line_and_word_in_turn(
    tmp_path_factory: pytest.TempPathFactory, train: list[list[str]], dev: list[list[str]], merges: int
) -> None:
    text = text_of({Split.TRAIN: train, Split.DEV: dev})
    bpe, vocabulary = learned(text, merges=merges)
    stream = write_stream(tmp_path_factory.mktemp("stream"), language="x", text=text, bpe=bpe, vocabulary=vocabulary)
    for split, lines in ((Split.TRAIN, train), (Split.DEV, dev), (Split.TEST, [])):
        assert stream.ids(split).tolist() == ids_by_loops(lines, bpe, vocabulary)


def test_a_written_stream_is_read_again(tmp_path: Path) -> None:
    bpe, vocabulary = written(tmp_path)
    stream = TokenStream.open(tmp_path)
    assert (stream.language, stream.table_size, stream.dtype) == ("x", vocabulary.size("x"), "uint16")
    for split, lines in TEXT.items():
        ids = stream.ids(split)
        assert isinstance(ids, np.memmap)
        assert ids.tolist() == ids_by_loops([line.split() for line in lines], bpe, vocabulary)
        assert stream.tokens[split] == len(ids)
        assert stream.lines[split] == len(lines) == np.count_nonzero(ids == END)
        with pytest.raises(ValueError, match="read-only"):
            ids[0] = 0


def test_the_same_bytes_are_written_whatever_is_encoded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "whole")
    monkeypatch.setattr(numbered_text, "PLACES_AT_ONCE", 2)
    written(tmp_path / "chunks")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == ["dev.bin", "stream.json", "test.bin", "train.bin"]
    for name in names:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "chunks" / name).read_bytes()


@pytest.mark.parametrize(("table_size", "dtype"), [(1 << 16, np.uint16), ((1 << 16) + 1, np.uint32)])
def test_ids_are_kept_in_the_smallest_type_that_fits(tmp_path: Path, table_size: int, dtype: type) -> None:
    tokens = [f"{number:05}" for number in range(table_size - len(SPECIALS) - 1)]
    vocabulary = Vocabulary(kind=TableKind.JOINT, tables={"x": (*SPECIALS, *tokens, "z</w>")})
    text = text_of({Split.TRAIN: [["z"]]})
    stream = write_stream(tmp_path, language="x", text=text, bpe=Bpe(merges=()), vocabulary=vocabulary)
    ids = stream.ids(Split.TRAIN)
    assert ids.dtype == dtype
    assert ids.tolist() == [table_size - 1, END]


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 60), st.integers(0, 60), st.integers(0, 2**31))
def test_windows_are_those_of_a_walk_one_by_one(length: int, extra: int, position: int, count: int, seed: int) -> None:
    ids = np.arange(100, 100 + length + extra, dtype=np.uint16)
    windows = Windows(ids, length=length, seed=seed, name="fr")
    # Other passes are remembered meanwhile.
    windows.take(90, 30)
    taken = windows.take(position, count)
    walk = windows_one_by_one(ids.tolist(), length=length, seed=seed, name="fr")
    assert taken.shape == (count, length)
    assert taken.dtype == np.int64
    assert taken.tolist() == list(islice(walk, position, position + count))


def test_a_stream_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(IsoglotError, match="'fr' has 3 tokens, less than one window of 4"):
        Windows(np.arange(3, dtype=np.uint16), length=4, seed=0, name="fr")
