"""Exported tokenizers find our words in raw text: Moses by its rules, characters, and Chinese after jieba itself."""

# ruff: noqa: RUF001 - look-alikes are what the rules are about

import random
import time
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import UNK
from isoglot.corpora.words import split_lines
from isoglot.model.interchange.word_rules import CUT_BEFOREHAND
from isoglot.study.conditions import TableKind
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from tests.corpora.splitters.test_moses import PIECES, WORKED
from tests.model.tiny_exports import exported, learned

LINES = {
    "en": [
        "Mr. Smith's dog didn't bark, e.g. at 5 p.m.!",
        "“It cost $5,300 (3.5% more),” she said… [sic]",
        "rock'n'roll of the 1990's — don't; see No. 5 and No. six.",
        "'Twas the dogs' U.S. tour. Was it '5' or \"6\"?",
        "A\tb\u00a0c: x/y, a@b.org & 1,2,3...",
    ],
    "fr": [
        "L’eau d'Évian, aujourd'hui\u00a0!",
        "«\u00a0C'est M. Hugo\u00a0», dit-il\u00a0: 3\u00a0%",
        "J't'aime, qu'il dit... 10\u00a0000 fois.",
        'Il a dit "non." Puis rien, etc. (fin)',
    ],
    "de": ["„Ja“, sagte Dr. Müller – und ging's an.", "Das ist z. B. am 3. Mai um 17.30 Uhr; so-und-so."],
    "ru": ["В 1990 г. он сказал: «Да, т. е. нет…»", "Кто-то спросил: „Где?“ — и ушёл, объём 5,5 %."],
    "ja": ["「はい」と、3.14は１９９０年に言った。", "カタカナ OK, ไทย!"],
    "zh": [
        "我来到北京清华大学，1990年。",
        "“他说：‘好！’”价格是３.14元……（AT&T、c++）",
        "他叫杭研大厦\u200b里的欧阳建国 ，\u3000对吗？",
    ],
}


def words_and_ids(tokenizer: Any, text: str) -> tuple[list[str], list[int]]:
    steps = tokenizer.backend_tokenizer
    words = steps.pre_tokenizer.pre_tokenize_str(steps.normalizer.normalize_str(text))
    return [word for word, _ in words], tokenizer(text)["input_ids"]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("code", LINES)
def test_ids_of_raw_text_are_ours(code: str, lowercase: bool, jieba: ModuleType) -> None:
    splitter = default_splitting(code).splitter
    splitting = WordSplitting(splitter=splitter, language=code, lowercase=lowercase)
    lines = split_lines(LINES[code], splitting)
    bpe, vocabulary = learned({code: [word for line in lines for word in line]}, kind=TableKind.JOINT, merges=40)
    tokenizer = exported(code, bpe=bpe[code], vocabulary=vocabulary, splitting=splitting)
    sentences = encoded_sentences(lines, language=code, bpe=bpe[code], vocabulary=vocabulary)
    for text, ours in zip(LINES[code], sentences, strict=True):
        given = " ".join(jieba.cut(text)) if splitter in CUT_BEFOREHAND else text
        assert words_and_ids(tokenizer, given) == ([*ours.words], [*ours.ids])
        assert UNK not in ours.ids
        # White space alone finds other words, in every one of these lines.
        assert [*ours.words] != (text.lower() if lowercase else text).split()
        start, end = tokenizer(given, return_offsets_mapping=True)["offset_mapping"][-2]
        assert given[start:end].strip()


@cache
def tokenizer_of(splitting: WordSplitting) -> Any:
    """One that knows no letter."""
    bpe, vocabulary = learned({splitting.language: ["x"]}, kind=TableKind.JOINT, merges=1)
    return exported(splitting.language, bpe=bpe[splitting.language], vocabulary=vocabulary, splitting=splitting)


@pytest.mark.parametrize(("language", "line", "words"), WORKED)
def test_lines_worked_by_hand(language: str, line: str, words: str) -> None:
    assert words_and_ids(tokenizer_of(default_splitting(language)), line)[0] == words.split(" ")


@pytest.mark.parametrize("splitter", [Splitter.MOSES, Splitter.MOSES_PERL_QUOTES])
@pytest.mark.parametrize(("language", "lowercase"), [("en", False), ("fr", True), ("de", True)])
def test_the_oddest_of_lines_are_cut_otherwise_once_in_a_hundred_times(
    language: str, lowercase: bool, splitter: Splitter
) -> None:
    """Where marks stand so close that a match of Moses hides the next; its own word for dots is left out."""
    draw = random.Random(0)
    pieces = [piece for piece in PIECES if piece != "DOTMULTI"]
    lines = ["".join(draw.choices(pieces, k=10)) for _ in range(480)]
    lines += [f"{line}{end}" for line in lines[:10] for end in ('."', '..." ')]
    splitting = WordSplitting(splitter=splitter, language=language, lowercase=lowercase)
    tokenizer, ours = tokenizer_of(splitting), split_lines(lines, splitting)
    same = [words_and_ids(tokenizer, line)[0] == words for line, words in zip(lines, ours, strict=True)]
    assert sum(same) >= 495


@pytest.mark.parametrize("piece", ["a. ", "a.", "5,", ".", '."a', "' ", "\u00a0", "«"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_very_long_lines_take_no_time(language: str, piece: str) -> None:
    line = piece * (20_000 // len(piece))
    splitting = default_splitting(language)
    tokenizer = tokenizer_of(splitting)
    start = time.process_time()
    words, _ = words_and_ids(tokenizer, line)
    assert time.process_time() - start < 5
    assert words == split_lines([line], splitting)[0]


BY_CHARACTERS = WordSplitting(splitter=Splitter.CHARACTERS, language="ja")
CHARACTER_LINES = st.text("日本กำเ็ខែ្មကျ္ー゛。…ab é3.,1!\ufe0f\u200b\x1c\u3000\n", max_size=20) | st.text(max_size=9)


@given(line=CHARACTER_LINES)
def test_characters_are_ours_whatever_the_text(line: str) -> None:
    assert words_and_ids(tokenizer_of(BY_CHARACTERS), line)[0] == split_lines([line], BY_CHARACTERS)[0]


@given(text=st.text("人大学生中国ab1.-+%，。…“”？\u200b\ue000 \u3000\té한", max_size=14))
def test_chinese_words_of_jieba_are_made_plain_as_ours(text: str, jieba: ModuleType) -> None:
    splitting = default_splitting("zh")
    assert words_and_ids(tokenizer_of(splitting), " ".join(jieba.cut(text)))[0] == split_lines([text], splitting)[0]
