import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.bpe_learning import NO_RANK, PairRanks, numbered_symbols, packed, without_overlaps
from isoglot.errors import IsoglotError
from tests.corpora.counted_words import counts, made_up_words, real_words, word_counts
from tests.oracles import bpe_by_rescan, symbols_of

ENOUGH = 1000

words_with_marks = st.lists(st.sampled_from(["a", "b", "</w>"]), min_size=1, max_size=7).map("".join)


@given(word_counts, st.integers(0, 30))
def test_learned_merges_are_those_of_a_full_rescan(counts: dict[str, int], merges: int) -> None:
    assert list(learn_bpe(counts, merges=merges).merges) == bpe_by_rescan(counts, merges=merges)


def test_learned_merges_are_those_of_a_full_rescan_on_longer_text() -> None:
    counts = made_up_words(100)
    assert list(learn_bpe(counts, merges=150).merges) == bpe_by_rescan(counts, merges=150)


@given(st.dictionaries(words_with_marks, counts, min_size=1, max_size=8))
@example({"a": 4, "a</w>aa</w>a": 3, "aa": 3})
def test_text_that_spells_the_end_of_word_mark_is_learned_like_any_other(counts: dict[str, int]) -> None:
    bpe = learn_bpe(counts, merges=ENOUGH)
    assert list(bpe.merges) == bpe_by_rescan(counts, merges=ENOUGH)
    for word in counts:
        assert "".join(bpe.segment(word)) == word + "</w>"


def test_pairs_grow_more_frequent_where_a_symbol_is_made_in_two_ways() -> None:
    # The last letters b</w> of "ab" and "cb" are one symbol; those spelled out become the same one by and by.
    counts = {"ab": 60, "cb": 9, "ab</w>": 50, "cb</w>": 8, "d": 500, "dd": 500}
    assert list(learn_bpe(counts, merges=ENOUGH).merges) == bpe_by_rescan(counts, merges=ENOUGH)


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


@pytest.mark.campaign
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


def test_counts_beyond_32_bits_are_exact() -> None:
    counts = {"ab": 2**40 + 1, "cd": 2**40, "ce": 2**40 + 2}
    assert learn_bpe(counts, merges=3).merges == (("c", "e</w>"), ("a", "b</w>"), ("c", "d</w>"))


def test_text_without_words_and_negative_merges_are_refused() -> None:
    with pytest.raises(IsoglotError, match="no words"):
        learn_bpe([[], []], merges=3)
    with pytest.raises(IsoglotError, match="cannot be -1"):
        learn_bpe({"a": 1}, merges=-1)


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "de", "ru", "zh"])
def test_merges_of_real_words_are_those_of_a_full_rescan(language: str) -> None:
    counts = dict(real_words(language, lines=150).most_common(1000))
    assert list(learn_bpe(counts, merges=300).merges) == bpe_by_rescan(counts, merges=300)


numbers = st.integers(0, 9) | st.integers(0, 2**31 - 1)
pairs = st.lists(st.tuples(numbers, numbers), max_size=40)


def ranks(table: PairRanks, asked: list[tuple[int, int]]) -> list[int]:
    column = np.array(asked, dtype=np.int32).reshape(-1, 2)
    return table.of(column[:, 0], column[:, 1]).tolist()


@given(pairs, pairs)
def test_ranks_are_first_places_in_the_list(learned: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    expected = [learned.index(pair) if pair in learned else NO_RANK for pair in [*learned, *asked]]
    assert ranks(PairRanks(learned), [*learned, *asked]) == expected


def test_pairs_that_fall_into_one_slot_are_told_apart() -> None:
    # Thousands of pairs in four times as many slots: many must share one.
    learned = [(left, right) for left in range(80) for right in range(80)]
    table = PairRanks(learned)
    assert ranks(table, learned) == list(range(len(learned)))
    assert set(ranks(table, [(left + 80, right) for left, right in learned])) == {NO_RANK}


@given(st.integers(-2, 2**31 - 1), st.integers(-2, 2**31 - 1))
def test_packed_pairs_are_negative_just_if_a_part_is(left: int, right: int) -> None:
    (pair,) = packed(np.array([left], dtype=np.int32), np.array([right], dtype=np.int32)).tolist()
    assert (pair < 0) == (left < 0 or right < 0)
    if pair >= 0:
        assert divmod(pair, 2**32) == (left, right)


@given(st.lists(st.text(st.characters(), min_size=1, max_size=6), max_size=6))
def test_numbers_stand_for_the_symbols_of_each_word(words: list[str]) -> None:
    symbols, number_S, end_W = numbered_symbols(words)
    spelled = [symbols[number] for number in number_S.tolist()]
    bounds = pairwise([0, *end_W.tolist()])
    assert [spelled[start:end] for start, end in bounds] == [symbols_of(word) for word in words]
    assert len(set(symbols)) == len(symbols)


@given(st.lists(st.booleans(), max_size=30))
def test_of_places_that_overlap_every_second_is_left_out(holds: list[bool]) -> None:
    at = [place for place, held in enumerate(holds) if held]
    expected = []
    for place in at:
        expected.append(not (expected and place - 1 in at and expected[-1]))
    at_P = np.array(at, dtype=np.int64)
    assert without_overlaps(at_P, next_P=at_P + 1).tolist() == expected
