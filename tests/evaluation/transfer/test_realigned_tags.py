"""Tags follow their characters into words that are cut without a look at them."""

# ruff: noqa: RUF001

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.corpora.words import split_lines
from isoglot.evaluation.transfer.bio_tags import repair_bio, spans
from isoglot.evaluation.transfer.tasks.ner import needs_realignment, realigned
from isoglot.study.languages import Splitter, WordSplitting, default_splitting

JIEBA = default_splitting("zh")
CHARACTERS = WordSplitting(splitter=Splitter.CHARACTERS, language="zh")
MOSES = default_splitting("en")
# Full of words that overlap, with marks that are rewritten and some that vanish.
TANGLED = "人大学生中国民研究命日本京都，。…\u200b\u3000aZ0"

tokens = st.lists(st.one_of(st.sampled_from(TANGLED), st.sampled_from(["None", "Hong", "2008", "，，"])), max_size=9)
letters = st.sampled_from(["O", "B-PER", "B-LOC", "I-LOC", "I-PER"])


def by_hand(characters: str, tags: str) -> TaggedSentence:
    return TaggedSentence(words=tuple(characters.split()), tags=tuple(tags.split()))


def shown(sentences: Sequence[TaggedSentence]) -> list[str]:
    return [
        " ".join(f"{word}/{tag}" for word, tag in zip(sentence.words, sentence.tags, strict=True))
        for sentence in sentences
    ]


@pytest.mark.parametrize(
    ("characters", "tags", "words", "expected"),
    [
        # One entity of two words, and another right after it.
        ("北 京 大 学 生 命", "B-X I-X I-X I-X B-Y I-Y", "北京大学/B-X 生命/B-Y", (0, 0, 0, 0)),
        # A word with an entity in it is the entity, wherever that begins.
        ("江 主 席", "B-PER O O", "江主席/B-PER", (1, 1, 0, 0)),
        # The second of two entities in their only word is lost.
        ("中 日 关 系", "B-LOC B-X O O", "中日关系/B-LOC", (1, 1, 1, 0)),
        # A word goes to the one that has none, whether that began before or ends later.
        ("北 京 中 日", "B-X I-X I-X B-Y", "北京/B-X 中日/B-Y", (1, 2, 0, 0)),
        # Words are as in text for pretraining, where marks are plain and what is not printed is gone.
        ("他 ： “ 是 … 京 ”", "O B-Z I-Z O B-Y B-X O", '他/O :/B-Z "/I-Z 是/O .../B-Y 京/B-X "/O', (0, 0, 0, 0)),
        ("北 \u200b 京 \ufeff 的", "B-X I-X I-X B-Y O", "北/B-X 京/I-X 的/O", (0, 0, 1, 0)),
        # Tokens of several characters, with a space between those of Latin letters or digits.
        ("在 Hong Kong A B C", "O B-X I-X B-Z I-Z I-Z", "在/O Hong/B-X Kong/I-X ABC/B-Z", (0, 0, 0, 0)),
        # Gold tags that are not valid are repaired on the way.
        ("# 北 京 # 我", "O I-X I-Y O I-Z", "#/O 北京/B-Y #/O 我/B-Z", (0, 0, 0, 0)),
    ],
)
def test_cases_worked_by_hand(characters: str, tags: str, words: str, expected: tuple[int, int, int, int]) -> None:
    sentences, counts = realigned([by_hand(characters, tags)], JIEBA)
    assert shown(sentences) == [words]
    assert tuple(counts.values()) == expected


def test_words_are_made_small_after_they_are_cut() -> None:
    # İ becomes two characters, so that what follows has another place than in the text.
    sentence = by_hand("İ S T 北 京", "B-X I-X I-X B-Y I-Y")
    assert shown(realigned([sentence], JIEBA)[0]) == ["İ/B-X ST/I-X 北京/B-Y"]
    assert shown(realigned([sentence], replace(JIEBA, lowercase=True))[0]) == ["i̇/B-X st/I-X 北京/B-Y"]


def test_a_sentence_that_comes_back_with_other_characters_stays_as_it_was() -> None:
    assert split_lines(["''北京", "''"], MOSES) == [['"', "北", "京"], ['"']]
    sentences = [by_hand("' ' A 北 京", "O O B-Z I-Y I-X"), by_hand("A b , 北", "B-X I-X O O")]
    moved, counts = realigned(sentences, replace(MOSES, lowercase=True))
    assert shown(moved) == ["'/O '/O a/B-X 北/I-X 京/I-X", "ab/B-X ,/O 北/O"]
    assert tuple(counts.values()) == (0, 0, 0, 1)
    vanishing = by_hand("\u200b", "B-X")
    assert realigned([vanishing], JIEBA)[0] == [vanishing]


def test_a_program_that_keeps_marks_as_they_are_is_followed_too() -> None:
    pairs_of_characters = (
        "import sys\nfor line in sys.stdin: print(*(line.strip()[i:i+2] for i in range(0, len(line), 2)))"
    )
    splitting = WordSplitting(
        splitter=Splitter.COMMAND, language="zh", command=(sys.executable, "-X", "utf8", "-c", pairs_of_characters)
    )
    sentences = [by_hand("在 北 京 ， 他 …", "O B-X I-X O O B-Y"), by_hand("我", "O")]
    moved, counts = realigned(sentences, splitting)
    assert shown(moved) == ["在北/B-X 京，/I-X 他…/B-Y", "我/O"]
    assert tuple(counts.values()) == (3, 2, 0, 0)


def most_with_a_word(entities: list[tuple[int, int, str]], words: list[str]) -> int:
    """The most entities that can have a word of their own, found by trying all ways to give words away."""
    choices = [
        [entity for entity in entities if set(range(*entity[:2])) & set(range(start, stop))] or [None]
        for start, stop in pairwise([0, *accumulate(map(len, words))])
    ]
    return max(len(set(given) - {None}) for given in product(*choices))


@given(tokens=tokens, data=st.data())
def test_words_do_not_depend_on_tags_and_no_more_spans_are_lost_than_must_be(
    tokens: list[str], data: st.DataObject
) -> None:
    tokens = ["人", *tokens]
    tags = data.draw(st.lists(letters, min_size=len(tokens), max_size=len(tokens)))
    sentence = TaggedSentence(words=tuple(tokens), tags=tuple(tags))
    for splitting in (JIEBA, CHARACTERS):
        (after,), counts = realigned([sentence], splitting)
        (untagged,), _ = realigned([replace(sentence, tags=("O",) * len(tokens))], splitting)
        assert after.words == untagged.words
        assert counts["sentences_not_realigned"] == 0
        assert list(after.tags) == repair_bio(after.tags)

        # The places of characters in what is left of the text.
        written = [
            {"，": ",", "，，": ",,", "。": ".", "…": "...", "\u200b": "", "\u3000": ""}.get(t, t) for t in tokens
        ]
        assert "".join(after.words) == "".join(written)
        place = [0, *accumulate(map(len, written))]
        before = [(place[start], place[stop], kind) for start, stop, kind in spans(tags)]
        place = [0, *accumulate(map(len, after.words))]
        moved = [(place[start], place[stop], kind) for start, stop, kind in spans(after.tags)]
        assert counts["lost_spans"] == len(before) - len(moved)
        assert len(moved) == most_with_a_word(before, list(after.words))
        assert counts["changed_spans"] + counts["lost_spans"] == len(before) - len(set(before) & set(moved))
        inside = [{n for n, (start, stop, _) in enumerate(before) if start <= at < stop} for at in range(place[-1])]
        straddling = [
            (start, stop)
            for start, stop in pairwise(place)
            if any(inside[start] != inside[at] for at in range(start, stop))
        ]
        assert counts["straddling_words"] == len(straddling)


def test_which_files_need_it() -> None:
    assert needs_realignment([by_hand("北 京 ， 2 0 0 8 年 V #", "O O O O O O O O O O")])
    assert not needs_realignment([by_hand("北京 大学 在 中国", "O O O O")])
    assert not needs_realignment([by_hand("a b c d e f 中", "O O O O O O O")])
    assert not needs_realignment([by_hand("Paris is in France", "O O O O")])
    assert not needs_realignment([])
