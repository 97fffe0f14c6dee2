import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import models

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.errors import IsoglotError
from tests.oracles import bpe_by_rescan, segment_by_rescan, symbols_of

ENOUGH = 1000

# Few letters make ties, runs such as "aaaa" and words within words.
words = st.text("ab", min_size=1, max_size=9)
words_with_marks = st.lists(st.sampled_from(["a", "b", "</w>"]), min_size=1, max_size=7).map("".join)
word_counts = st.dictionaries(words, st.integers(1, 6), min_size=1, max_size=12)


def made_up_words(count: int) -> Counter[str]:
    generator = random.Random(0)
    syllables = [a + b for a in "bdklmnrst" for b in "aeiou"]
    stems = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(count)]
    return Counter({stem + ending: generator.randint(1, 500) for stem in stems for ending in ("", "s", "ed")})


@given(word_counts, st.integers(0, 30))
def test_learned_merges_are_those_of_a_full_rescan(counts: dict[str, int], merges: int) -> None:
    assert list(learn_bpe(counts, merges=merges).merges) == bpe_by_rescan(counts, merges=merges)


def test_learned_merges_are_those_of_a_full_rescan_on_longer_text() -> None:
    counts = made_up_words(100)
    assert list(learn_bpe(counts, merges=150).merges) == bpe_by_rescan(counts, merges=150)


@given(st.dictionaries(words_with_marks, st.integers(1, 5), min_size=1, max_size=8))
@example({"a": 4, "a</w>aa</w>a": 3, "aa": 3})
def test_text_that_spells_the_end_of_word_mark_is_learned_like_any_other(counts: dict[str, int]) -> None:
    bpe = learn_bpe(counts, merges=ENOUGH)
    assert list(bpe.merges) == bpe_by_rescan(counts, merges=ENOUGH)
    for word in counts:
        assert "".join(bpe.segment(word)) == word + "</w>"


def test_the_most_frequent_pair_is_merged_first_and_the_first_spelled_of_equals() -> None:
    assert learn_bpe({"ba": 2, "ab": 2, "cc": 3}, merges=3).merges == (("c", "c</w>"), ("a", "b</w>"), ("b", "a</w>"))


@given(word_counts, st.integers(0, 40))
def test_merges_are_exact_or_every_word_is_one_symbol(counts: dict[str, int], merges: int) -> None:
    bpe = learn_bpe(counts, merges=merges)
    assert len(set(bpe.merges)) == len(bpe.merges)
    if bpe.exhausted:
        assert len(bpe.merges) < merges
        assert all(bpe.segment(word) == (word + "</w>",) for word in counts)
    else:
        assert len(bpe.merges) == merges


@given(word_counts, st.randoms(use_true_random=False))
def test_neither_the_order_of_lines_nor_their_cut_matters(counts: dict[str, int], shuffled: random.Random) -> None:
    text = [word for word, count in counts.items() for _ in range(count)]
    shuffled.shuffle(text)
    lines = [text[i : i + 3] for i in range(0, len(text), 3)]
    assert learn_bpe(lines, merges=20) == learn_bpe(counts, merges=20)


def test_merges_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from isoglot.corpora.bpe import learn_bpe\n"
        "words = {a + b + c: 1 for a in 'abcd' for b in 'abcd' for c in 'abcd'}\n"
        "print(learn_bpe(words, merges=50).merges)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


def test_words_counted_zero_times_teach_nothing() -> None:
    assert learn_bpe({"ab": 1, "xyz": 0}, merges=5).merges == (("a", "b</w>"),)


@given(word_counts, st.integers(0, 30), st.text("abc", min_size=1, max_size=12))
def test_segments_are_those_of_merging_one_by_one(counts: dict[str, int], merges: int, word: str) -> None:
    bpe = learn_bpe(counts, merges=merges)
    assert list(bpe.segment(word)) == segment_by_rescan(word, bpe.merges)


@given(st.lists(st.tuples(words, words), max_size=12, unique=True), words)
def test_segments_follow_merges_in_any_order(merges: list[tuple[str, str]], word: str) -> None:
    assert list(Bpe(merges=tuple(merges)).segment(word)) == segment_by_rescan(word, merges)


def test_segments_agree_with_hugging_face_tokenizers() -> None:
    counts = made_up_words(300)
    bpe = learn_bpe(counts, merges=200)
    unseen = [word[::-1] for word in counts]
    tokens = {symbol for word in [*counts, *unseen] for symbol in symbols_of(word)} | {a + b for a, b in bpe.merges}
    theirs = models.BPE(
        vocab={token: id for id, token in enumerate(sorted(tokens))},
        merges=list(bpe.merges),
        end_of_word_suffix="</w>",
    )
    for word in [*counts, *unseen]:
        assert list(bpe.segment(word)) == [token.value for token in theirs.tokenize(word)]


def test_subword_counts() -> None:
    bpe = Bpe(merges=(("a", "b"),))
    assert bpe.subword_counts({"abc": 2, "cab": 3}) == Counter({"ab": 2, "c</w>": 2, "c": 3, "a": 3, "b</w>": 3})


@given(st.dictionaries(st.text("aé中#", min_size=1, max_size=5), st.integers(1, 3), min_size=1), st.integers(0, 30))
def test_written_merges_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], merges: int
) -> None:
    path = tmp_path_factory.mktemp("bpe") / "merges.txt"
    bpe = learn_bpe(counts, merges=merges)
    bpe.write(path)
    assert Bpe.read(path) == bpe


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "merges.txt:1: "),
        ("a b\n", "merges.txt:1: "),
        ("#version: 0.2\na b\nab\n", "merges.txt:3: "),
        ("#version: 0.2\na b c\n", "merges.txt:2: "),
        ("#version: 0.2\n\na b\n", "merges.txt:2: "),
    ],
)
def test_a_spoilt_file_of_merges_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(content)
    with pytest.raises(IsoglotError, match=complaint):
        Bpe.read(path)


def test_absent_or_binary_files_of_merges_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="no such file"):
        Bpe.read(tmp_path / "merges.txt")
    (tmp_path / "merges.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(IsoglotError, match="not UTF-8"):
        Bpe.read(tmp_path / "merges.txt")


def test_text_without_words_and_negative_merges_are_refused() -> None:
    with pytest.raises(IsoglotError, match="no words"):
        learn_bpe([[], []], merges=3)
    with pytest.raises(IsoglotError, match="cannot be -1"):
        learn_bpe({"a": 1}, merges=-1)
