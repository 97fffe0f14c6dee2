"""BPE learned and applied: against full rescans of the text, and against subword-nmt."""

import io
import lzma
import random
from collections import Counter
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from real_data import DATA
from subword_nmt.apply_bpe import BPE

from isoglot.corpora.bpe import CHUNK_WORDS, Bpe, learn_bpe
from isoglot.corpora.hash_table import NO_SLOT, HashTable
from tests.oracles import bpe_by_rescan, segment_by_rescan

Pair = tuple[str, str]

# Few letters make ties, runs such as "aaaa" and words within words.
words = st.text("ab", min_size=1, max_size=9)
# Some far more frequent than others, as then rare pairs are not followed at first.
counts = st.integers(1, 6) | st.sampled_from([20, 90, 100, 1000, 10**6])
word_counts = st.dictionaries(words, counts, min_size=1, max_size=12)


def made_up_words(count: int) -> Counter[str]:
    generator = random.Random(0)
    syllables = [a + b for a in "bdklmnrst" for b in "aeiou"]
    stems = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(count)]
    return Counter({stem + ending: generator.randint(1, 500) for stem in stems for ending in ("", "s", "ed")})


def real_words(language: str, *, lines: int) -> Counter[str]:
    """The words of the first lines of a real text, cut at white space."""
    path = DATA / f"text/wiki.{language}.txt.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; set ISOGLOT_DATA to the folder that holds text/")
    counts: Counter[str] = Counter()
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in islice(file, lines):
            counts.update(line.split())
    return counts


# Merges that no text teaches: one may make symbols that an earlier one joins, or be there twice.
parts = st.text("ab", min_size=1, max_size=3)
any_merges = st.lists(st.tuples(parts, parts | parts.map(lambda part: part + "</w>")), max_size=12)


def marked(subwords: tuple[str, ...]) -> list[str]:
    """As subword-nmt prints them: "@@" where a word goes on, nothing at its end."""
    return [*(subword + "@@" for subword in subwords[:-1]), subwords[-1].removesuffix("</w>")]


def subword_nmt(merges: tuple[Pair, ...]) -> BPE:
    return BPE(io.StringIO("\n".join(["#version: 0.2", *(" ".join(pair) for pair in merges)]) + "\n"))


@given(any_merges, st.lists(words | st.text(st.characters(), min_size=1, max_size=6), max_size=5))
@example([("a", "b"), ("b", "a</w>"), ("a", "b")], ["aba"])
def test_segments_follow_merges_in_any_order(merges: list[Pair], words: list[str]) -> None:
    expected = [tuple(segment_by_rescan(word, merges)) for word in words]
    assert list(Bpe(merges=tuple(merges)).segment_all(words)) == expected


@given(any_merges, st.lists(st.text("abé中", min_size=1, max_size=12), max_size=5))
def test_segments_are_those_of_subword_nmt(merges: list[Pair], words: list[str]) -> None:
    theirs = subword_nmt(tuple(merges)) if merges else None
    for word, subwords in zip(words, Bpe(merges=tuple(merges)).segment_all(words), strict=True):
        # It cannot read a file without merges.
        expected = theirs.segment_tokens([word]) if theirs else [*(f"{letter}@@" for letter in word[:-1]), word[-1]]
        assert marked(subwords) == expected


def test_subword_nmt_reads_what_is_written(tmp_path: Path) -> None:
    for merges in (150, 10**4):
        bpe = learn_bpe(counts := made_up_words(100), merges=merges)
        assert bpe.exhausted == (merges == 10**4)
        bpe.write(tmp_path / "merges.txt")
        with (tmp_path / "merges.txt").open(encoding="utf-8") as file:
            theirs = BPE(file)
        for word, subwords in zip(counts, bpe.segment_all(counts), strict=True):
            assert marked(subwords) == theirs.segment_tokens([word])


def test_more_words_than_are_cut_at_once_stay_in_order() -> None:
    generator = random.Random(0)
    words = ["".join(generator.choices("abcdr", k=generator.randint(1, 9))) for _ in range(2 * CHUNK_WORDS + 1)]
    bpe = learn_bpe(Counter(words[:2000]), merges=300)
    assert list(bpe.segment_all(words))[::99] == list(bpe.segment_all(words[::99]))


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "fr", "de", "ru", "zh"])
def test_segments_of_real_words_are_those_of_subword_nmt(language: str) -> None:
    counts = real_words(language, lines=4000)
    seen = dict(random.Random(0).sample(sorted(counts.items()), k=len(counts) // 2))
    bpe = learn_bpe(seen, merges=4000)
    theirs = subword_nmt(bpe.merges)
    words = [word for word in counts if "</w>" not in word][:20_000]
    assert list(map(marked, bpe.segment_all(words))) == [theirs.segment_tokens([word]) for word in words]


@given(word_counts, st.integers(0, 30))
def test_subword_counts_are_those_of_running_text(counts: dict[str, int], merges: int) -> None:
    bpe = learn_bpe(counts, merges=merges)
    few = {word: count % 5 for word, count in counts.items()}
    running = (word for word, count in few.items() for _ in range(count))
    assert +bpe.subword_counts(few) == Counter(chain.from_iterable(bpe.segment_all(running)))


@given(st.dictionaries(st.text("aé中#", min_size=1, max_size=5), st.integers(1, 3), min_size=1), st.integers(0, 30))
def test_written_merges_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], merges: int
) -> None:
    path = tmp_path_factory.mktemp("bpe") / "merges.txt"
    bpe = learn_bpe(counts, merges=merges)
    bpe.write(path)
    assert Bpe.read(path) == bpe


ENOUGH = 1000

words_with_marks = st.lists(st.sampled_from(["a", "b", "</w>"]), min_size=1, max_size=7).map("".join)


@given(st.dictionaries(words_with_marks, counts, min_size=1, max_size=8))
@example({"a": 4, "a</w>aa</w>a": 3, "aa": 3})
def test_text_that_spells_the_end_of_word_mark_is_learned_like_any_other(counts: dict[str, int]) -> None:
    bpe = learn_bpe(counts, merges=ENOUGH)
    assert list(bpe.merges) == bpe_by_rescan(counts, merges=ENOUGH)
    assert ["".join(subwords) for subwords in bpe.segment_all(counts)] == [word + "</w>" for word in counts]


def test_pairs_grow_more_frequent_where_a_symbol_is_made_in_two_ways() -> None:
    # The last letters b</w> of "ab" and "cb" are one symbol; those spelled out become the same one by and by.
    counts = {"ab": 60, "cb": 9, "ab</w>": 50, "cb</w>": 8, "d": 500, "dd": 500}
    assert list(learn_bpe(counts, merges=ENOUGH).merges) == bpe_by_rescan(counts, merges=ENOUGH)


@given(word_counts, st.integers(0, 40))
@example(made_up_words(100), 150)
def test_merges_are_those_of_a_full_rescan_or_every_word_is_one_symbol(counts: dict[str, int], merges: int) -> None:
    bpe = learn_bpe(counts, merges=merges)
    assert list(bpe.merges) == bpe_by_rescan(counts, merges=merges)
    if bpe.exhausted:
        assert len(bpe.merges) < merges
        assert list(bpe.segment_all(counts)) == [(word + "</w>",) for word in counts]
    else:
        assert len(bpe.merges) == merges


def test_counts_beyond_32_bits_are_exact() -> None:
    counts = {"ab": 2**40 + 1, "cd": 2**40, "ce": 2**40 + 2}
    assert learn_bpe(counts, merges=3).merges == (("c", "e</w>"), ("a", "b</w>"), ("c", "d</w>"))


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "de", "ru", "zh"])
def test_merges_of_real_words_are_those_of_a_full_rescan(language: str) -> None:
    counts = dict(real_words(language, lines=150).most_common(1000))
    assert list(learn_bpe(counts, merges=300).merges) == bpe_by_rescan(counts, merges=300)


keys = st.lists(st.integers(0, 9) | st.integers(0, 2**62), max_size=40)


@given(keys, keys)
def test_a_crowded_hash_table_finds_every_key_and_no_other(added: list[int], asked: list[int]) -> None:
    table = HashTable(bits=len(set(added)).bit_length())
    slots = table.add(np.array(added, dtype=np.int64)).tolist()
    assert len(set(slots)) == len(set(added))
    expected = [slots[added.index(key)] if key in added else NO_SLOT for key in [*added, *asked]]
    assert table.slots(np.array([*added, *asked], dtype=np.int64)).tolist() == expected
