import io
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE
from tokenizers import models

from isoglot.corpora.bpe import CHUNK_WORDS, Bpe, learn_bpe
from tests.corpora.counted_words import made_up_words, real_words, words
from tests.oracles import segment_by_rescan, symbols_of

Pair = tuple[str, str]

any_words = st.lists(st.text("abcé中\U0001f600", max_size=12), max_size=12)
# Merges that no text teaches: one may make symbols that an earlier one joins, or be there twice.
parts = st.text("ab", min_size=1, max_size=3)
any_merges = st.lists(st.tuples(parts, parts | parts.map(lambda part: part + "</w>")), max_size=12)


def both_ways(bpe: Bpe, words: list[str]) -> list[tuple[str, ...]]:
    together = list(bpe.segment_all(words))
    assert [bpe.segment(word) for word in words] == together
    return together


def marked(subwords: tuple[str, ...]) -> list[str]:
    """As subword-nmt prints them: "@@" where a word goes on, nothing at its end."""
    return [*(subword + "@@" for subword in subwords[:-1]), subwords[-1].removesuffix("</w>")]


def subword_nmt(merges: tuple[Pair, ...]) -> BPE:
    return BPE(io.StringIO("\n".join(["#version: 0.2", *(" ".join(pair) for pair in merges)]) + "\n"))


@given(any_merges, st.lists(words, max_size=5))
def test_segments_follow_merges_in_any_order(merges: list[Pair], words: list[str]) -> None:
    expected = [tuple(segment_by_rescan(word, merges)) for word in words]
    assert both_ways(Bpe(merges=tuple(merges)), words) == expected


@given(any_merges, st.lists(st.text("abé中", min_size=1, max_size=12), max_size=5))
def test_segments_are_those_of_subword_nmt(merges: list[Pair], words: list[str]) -> None:
    theirs = subword_nmt(tuple(merges)) if merges else None
    for word, subwords in zip(words, both_ways(Bpe(merges=tuple(merges)), words), strict=True):
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


def test_segments_agree_with_hugging_face_tokenizers() -> None:
    counts = made_up_words(300)
    bpe = learn_bpe(counts, merges=200)
    words = [*counts, *(word[::-1] for word in counts)]
    tokens = {symbol for word in words for symbol in symbols_of(word)} | {a + b for a, b in bpe.merges}
    theirs = models.BPE(
        vocab={token: id for id, token in enumerate(sorted(tokens))},
        merges=list(bpe.merges),
        end_of_word_suffix="</w>",
    )
    expected = [tuple(token.value for token in theirs.tokenize(word)) for word in words]
    assert both_ways(bpe, words) == expected


@pytest.mark.parametrize(
    ("merges", "subwords"),
    [
        ((("a", "b"), ("b", "c</w>"), ("a", "b")), ("ab", "c</w>")),
        ((("b", "c</w>"), ("a", "b"), ("b", "c</w>")), ("a", "bc</w>")),
    ],
)
def test_of_two_equal_merges_the_first_counts(merges: tuple[Pair, ...], subwords: tuple[str, ...]) -> None:
    assert both_ways(Bpe(merges=merges), ["abc"]) == [subwords]
    assert marked(subwords) == subword_nmt(merges).segment_tokens(["abc"])


def test_a_pair_is_joined_wherever_it_stands_before_an_earlier_merge_of_what_it_made() -> None:
    assert both_ways(Bpe(merges=(("ab", "a"), ("a", "b"))), ["ababc"]) == [("ab", "ab", "c</w>")]


def test_more_words_than_are_cut_at_once_stay_in_order() -> None:
    generator = random.Random(0)
    words = ["".join(generator.choices("abcdr", k=generator.randint(1, 9))) for _ in range(2 * CHUNK_WORDS + 1)]
    bpe = learn_bpe([words[:2000]], merges=300)
    both_ways(bpe, words)


@pytest.mark.real_data
@pytest.mark.parametrize("language", ["en", "fr", "de", "ru", "zh"])
def test_segments_of_real_words_are_those_of_subword_nmt(language: str) -> None:
    counts = real_words(language, lines=4000)
    seen = dict(random.Random(0).sample(sorted(counts.items()), k=len(counts) // 2))
    bpe = learn_bpe(seen, merges=4000)
    theirs = subword_nmt(bpe.merges)
    words = [word for word in counts if "</w>" not in word][:20_000]
    assert [marked(subwords) for subwords in both_ways(bpe, words)] == [theirs.segment_tokens([word]) for word in words]
