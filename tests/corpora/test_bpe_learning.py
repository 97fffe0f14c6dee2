import io
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from subword_nmt.learn_bpe import learn_bpe as learn_with_subword_nmt

from isoglot.corpora.bpe import learn_bpe
from isoglot.errors import IsoglotError
from tests.corpora.counted_words import counts, made_up_words, real_words, word_counts
from tests.oracles import bpe_by_rescan, joined, symbols_of

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


def first_merges_without_ties(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Merges up to the first that another pair is as frequent as."""
    words = {word: symbols_of(word) for word in counts}
    merges = []
    while True:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in words.items():
            for pair in pairwise(symbols):
                pairs[pair] += counts[word]
        (best, most), (_, second) = pairs.most_common(2)
        if most == second:
            return merges
        merges.append(best)
        words = {word: joined(symbols, best) for word, symbols in words.items()}


@pytest.mark.parametrize("stems", [20, 200])
def test_merges_are_those_of_subword_nmt_where_no_two_pairs_tie(stems: int) -> None:
    # Of equals it takes the last in code point order, and from the first tie on all else may differ.
    counts = made_up_words(stems)
    expected = first_merges_without_ties(counts)
    assert len(expected) >= 10
    theirs = io.StringIO()
    lines = io.StringIO("".join(f"{word} {number}\n" for word, number in counts.items()))
    learn_with_subword_nmt(lines, theirs, len(expected), min_frequency=0, is_dict=True)
    ours = learn_bpe(counts, merges=len(expected))
    assert [f"{left} {right}" for left, right in ours.merges] == theirs.getvalue().splitlines()[1:]


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
    merges = 300
    learned = learn_bpe(counts, merges=merges)
    assert list(learned.merges) == bpe_by_rescan(counts, merges=merges)
    assert not learned.exhausted
