import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.conditions import TableKind
from isoglot.corpora import streams
from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.streams import Split, TokenStream, cut_lines, encoded_lines, write_stream
from isoglot.corpora.vocabulary import END, SPECIALS, UNK, Vocabulary, build_vocabulary
from isoglot.corpora.words import word_counts
from isoglot.errors import IsoglotError

TEXT = ["mira lo tek", "tek tek .", "lo </s> mira", "a", "mirami ra", "<pad> .", "ra lo . .", "tek"]

lines_of_words = st.lists(st.text("abc ", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=10)


def learned(lines: list[str], *, merges: int = 5) -> tuple[Bpe, Vocabulary]:
    words = word_counts(lines, language="x")
    bpe = learn_bpe(words, merges=merges)
    return bpe, build_vocabulary(TableKind.UNION, counts={"x": bpe.subword_counts(words), "y": Counter("zq")})


def written(folder: Path, *, dev_lines: int = 2, test_lines: int = 1) -> dict[Split, list[str]]:
    splits = cut_lines(TEXT, dev_lines=dev_lines, test_lines=test_lines, seed=0)
    bpe, vocabulary = learned(splits[Split.TRAIN])
    write_stream(folder, language="x", splits=splits, bpe=bpe, vocabulary=vocabulary)
    return splits


@given(
    st.lists(st.text("a \t", max_size=3), max_size=30), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**63 - 1)
)
def test_splits_hold_every_line_that_is_not_blank_once(lines: list[str], dev: int, test: int, seed: int) -> None:
    numbered = [f"{line}{number}" if line.strip() else line for number, line in enumerate(lines)]
    text = [line for line in numbered if line.strip()]
    if len(text) <= dev + test:
        with pytest.raises(IsoglotError, match="too few"):
            cut_lines(numbered, dev_lines=dev, test_lines=test, seed=seed)
        return
    splits = cut_lines(numbered, dev_lines=dev, test_lines=test, seed=seed)
    assert (len(splits[Split.DEV]), len(splits[Split.TEST])) == (dev, test)
    assert sorted(line for part in splits.values() for line in part) == sorted(text)
    assert splits == cut_lines(numbered, dev_lines=dev, test_lines=test, seed=seed)


def test_lines_are_shuffled_by_their_seed() -> None:
    lines = [str(number) for number in range(100)]
    orders = {tuple(cut_lines(lines, dev_lines=0, test_lines=0, seed=seed)[Split.TRAIN]) for seed in range(3)}
    assert len(orders | {tuple(lines)}) == 4


@given(lines_of_words, lines_of_words, st.integers(0, 8))
def test_ids_are_those_of_each_line_and_word_in_turn(train: list[str], other: list[str], merges: int) -> None:
    bpe, vocabulary = learned(train, merges=merges)
    expected = []
    for line in other:
        for word in line.split():
            expected += [vocabulary.ids("x").get(subword, UNK) for subword in bpe.segment(word)]
        expected.append(END)
    assert encoded_lines(other, language="x", bpe=bpe, vocabulary=vocabulary).tolist() == expected


def test_text_that_spells_special_symbols_holds_none() -> None:
    merges = (("<", "/"), ("</", "s"), ("</s", ">"), ("</s", "></w>"))
    bpe = Bpe(merges=merges)
    assert bpe.segment("</s>x") == ("</s>", "x</w>")
    vocabulary = build_vocabulary(TableKind.JOINT, counts={"x": bpe.subword_counts({"</s>x": 1, "</s>": 1})})
    ids = encoded_lines(["</s>x </s>"], language="x", bpe=bpe, vocabulary=vocabulary).tolist()
    assert ids[-1] == END
    assert min(ids[:-1]) >= len(SPECIALS)


def test_a_written_stream_is_read_again(tmp_path: Path) -> None:
    splits = written(tmp_path)
    bpe, vocabulary = learned(splits[Split.TRAIN])
    stream = TokenStream.open(tmp_path)
    assert (stream.language, stream.table_size, stream.dtype) == ("x", vocabulary.size("x"), "uint16")
    for split, lines in splits.items():
        ids = TokenStream.read(tmp_path, split)
        assert isinstance(ids, np.memmap)
        assert ids.tolist() == encoded_lines(lines, language="x", bpe=bpe, vocabulary=vocabulary).tolist()
        assert stream.tokens[split] == len(ids)
        assert stream.lines[split] == len(lines) == np.count_nonzero(ids == END)
        with pytest.raises(ValueError, match="read-only"):
            ids[0] = 0


def test_the_same_bytes_are_written_whatever_is_encoded_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "whole")
    monkeypatch.setattr(streams, "CHUNK_LINES", 2)
    written(tmp_path / "chunks")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == ["dev.bin", "stream.json", "test.bin", "train.bin"]
    for name in names:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "chunks" / name).read_bytes()


def test_blank_lines_are_not_written(tmp_path: Path) -> None:
    bpe, vocabulary = learned(["a b"])
    splits = {Split.TRAIN: ["", "a b", " "], Split.DEV: [""], Split.TEST: []}
    stream = write_stream(tmp_path, language="x", splits=splits, bpe=bpe, vocabulary=vocabulary)
    assert stream.lines == {Split.TRAIN: 1, Split.DEV: 0, Split.TEST: 0}
    assert stream.ids(Split.DEV).shape == (0,)
    assert stream.ids(Split.DEV).dtype == np.uint16


@pytest.mark.parametrize(("table_size", "dtype"), [(1 << 16, np.uint16), ((1 << 16) + 1, np.uint32)])
def test_ids_are_kept_in_the_smallest_type_that_fits(tmp_path: Path, table_size: int, dtype: type) -> None:
    tokens = [f"{number:05}" for number in range(table_size - len(SPECIALS) - 1)]
    vocabulary = Vocabulary(kind=TableKind.JOINT, tables={"x": (*SPECIALS, *tokens, "z</w>")})
    splits = {Split.TRAIN: ["z"], Split.DEV: ["z"], Split.TEST: ["z"]}
    write_stream(tmp_path, language="x", splits=splits, bpe=Bpe(merges=()), vocabulary=vocabulary)
    ids = TokenStream.read(tmp_path, Split.TRAIN)
    assert ids.dtype == dtype
    assert ids.tolist() == [table_size - 1, END]


def test_spoilt_streams_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=r"stream\.json: no such file"):
        TokenStream.open(tmp_path)
    written(tmp_path)
    train = (tmp_path / "train.bin").read_bytes()
    for spoilt in (train[:-1], train[:-2], train + b"\0\0", b""):
        (tmp_path / "train.bin").write_bytes(spoilt)
        with pytest.raises(IsoglotError, match=rf"train\.bin: has {len(spoilt)} bytes where .* {len(train)}"):
            TokenStream.read(tmp_path, Split.TRAIN)
    (tmp_path / "train.bin").unlink()
    with pytest.raises(IsoglotError, match=r"train\.bin: no such file"):
        TokenStream.read(tmp_path, Split.TRAIN)
    assert len(TokenStream.read(tmp_path, Split.DEV)) > 0


@pytest.mark.parametrize(
    "change", [{"dtype": "uint32"}, {"dtype": "float"}, {"table_size": 1 << 17}, {"lines": {}}, {"tokens": None}]
)
def test_spoilt_descriptions_are_refused_by_name(tmp_path: Path, change: dict[str, object]) -> None:
    written(tmp_path)
    path = tmp_path / "stream.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(IsoglotError, match=r"stream\.json: "):
        TokenStream.open(tmp_path)
    path.write_text("{")
    with pytest.raises(IsoglotError, match=r"stream\.json: "):
        TokenStream.open(tmp_path)
