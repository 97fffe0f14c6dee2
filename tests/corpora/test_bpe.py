import io
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE

from isoglot.corpora.bpe import CHUNK_WORDS, Bpe, learn_bpe
from isoglot.errors import IsoglotError
from tests.corpora.counted_words import made_up_words, real_words, word_counts, words
from tests.oracles import segment_by_rescan

Pair = tuple[str, str]

# Merges that no text teaches: one may make symbols that an earlier one joins, or be there twice.
parts = st.text("ab", min_size=1, max_size=3)
any_merges = st.lists(st.tuples(parts, parts | parts.map(lambda part: part + "</w>")), max_size=12)


def marked(subwords: tuple[str, ...]) -> list[str]:
    """As subword-nmt prints them: "@@" where a word goes on, nothing at its end."""
    return [*(subword + "@@" for subword in subwords[:-1]), subwords[-1].removesuffix("</w>")]


def subword_nmt(merges: tuple[Pair, ...]) -> BPE:
    return BPE(io.StringIO("\n".join(["#version: 0.2", *(" ".join(pair) for pair in merges)]) + "\n"))


@given(any_merges, st.lists(words, max_size=5))
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


def test_of_two_equal_merges_the_first_counts() -> None:
    merges = (("a", "b"), ("b", "c</w>"), ("a", "b"))
    assert Bpe(merges=merges).segment("abc") == ("ab", "c</w>")
    assert subword_nmt(merges).segment_tokens(["abc"]) == ["ab@@", "c"]


def test_of_places_of_a_pair_that_overlap_every_second_one_is_joined() -> None:
    assert Bpe(merges=(("a", "a"),)).segment("aaab") == ("aa", "a", "b</w>")


def test_more_words_than_are_cut_at_once_stay_in_order() -> None:
    generator = random.Random(0)
    words = ["".join(generator.choices("abcdr", k=generator.randint(1, 9))) for _ in range(2 * CHUNK_WORDS + 1)]
    bpe = learn_bpe([words[:2000]], merges=300)
    assert list(bpe.segment_all(words))[::99] == [bpe.segment(word) for word in words[::99]]


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
    running = (subword for word, count in few.items() for _ in range(count) for subword in bpe.segment(word))
    assert +bpe.subword_counts(few) == Counter(running)


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
