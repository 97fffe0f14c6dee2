"""Words are those of jieba itself, whatever the text, and starting leaves no trace."""

# ruff: noqa: RUF001

import json
import lzma
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.splitters.jieba_words import BATCH_CHARACTERS, split_lines
from isoglot.corpora.splitters.marks import CONTROLS, PLAIN_MARKS

REWRITTEN = PLAIN_MARKS | dict.fromkeys(chain(*CONTROLS), "")
WORDS = "中国 人民 大学生 研究生 生命 的 了 AT&T 卡拉OK T恤 c++ 一千四百万零二千七百六十户"
DICTIONARY_WORDS = WORDS.split(" ")
# Full of words that overlap, and of ways with one score.
TANGLED = "人大学生中国民研究命科的一了不"

han = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)
rare = st.sampled_from("㐀䶵𠀀𪚥龥鿕鿖〇々")
latin = st.text("abzAZ019+#&._%-", min_size=1, max_size=8)
marks = st.sampled_from([*"，。、！？《》“”…—·,;/@", "……", "——"])
spaces = st.sampled_from([*" \t\n\r\v\f\x1c\x1f\x85\xa0\u2028\u3000", "\r\n"])
others = st.sampled_from([*"\x00\x7f\xad\u200b\ufeff\ue000éжगि한かカγ１Ａ％", "👨‍👩‍👧", "❤️"])
tangled = st.text(TANGLED, max_size=12)
repeated = st.builds(str.__mul__, st.sampled_from(TANGLED), st.integers(1, 9))
pieces = st.one_of(st.sampled_from(DICTIONARY_WORDS), han, rare, latin, marks, spaces, others, tangled, repeated)
lines_of_pieces = st.lists(st.lists(pieces, max_size=12).map("".join), max_size=5)


def stock_words(jieba: ModuleType, line: str) -> list[str]:
    return [word for piece in jieba.lcut(line) if (word := piece.translate(REWRITTEN).strip())]


@given(lines=lines_of_pieces)
def test_words_are_those_of_jieba(jieba: ModuleType, lines: list[str]) -> None:
    assert split_lines(lines) == [stock_words(jieba, line) for line in lines]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        # 杭研 is in no dictionary.
        ("他来到了网易杭研大厦", "他 来到 了 网易 杭研 大厦"),
        ("他说：“是的……”", '他 说 : " 是 的 ... ... "'),
        ("增长３ 3.14%，1.2.3版", "增长 3 3.14% , 1.2 . 3 版"),
        ("用C++和Python3 写\u3000的\u200b 代码", "用 C++ 和 Python3 写 的 代码"),
        # X begins words but is none, so that it cannot stand alone before the more frequent 光泽.
        ("X光泽", "X光 泽"),
        (" \t\u3000", ""),
    ],
)
def test_splits_worked_by_hand(line: str, words: str) -> None:
    assert split_lines([line]) == [words.split()]


def test_lines_do_not_depend_on_their_batch(jieba: ModuleType) -> None:
    random = np.random.default_rng(0)
    vocabulary = [*DICTIONARY_WORDS, *TANGLED, "，", "Wikipedia", "2026", " "]
    lines = ["".join(random.choice(vocabulary, size)) for size in random.integers(0, 300, 900)]
    lines[0] = "".join(random.choice([*TANGLED], 3000))
    assert sum(map(len, lines)) > 2 * BATCH_CHARACTERS
    split = split_lines(lines)
    some = range(0, len(lines), 9)
    assert [split[i] for i in some] == [split_lines([lines[i]])[0] for i in some]
    assert [split[i] for i in some] == [stock_words(jieba, lines[i]) for i in some]


PROGRAM = """
import json, sys
from isoglot.corpora.splitters.jieba_words import split_lines
json.dump(split_lines(json.load(sys.stdin)), sys.stdout)
assert "jieba" not in sys.modules
"""


@pytest.mark.campaign
def test_processes_that_start_at_once_agree_and_leave_no_trace(tmp_path: Path) -> None:
    lines = ["他来到了网易杭研大厦", "人人人人", "研究生命的起源。Python3"] * 20
    (tmp_path / "folder").mkdir()
    folders = (tmp_path / "folder", tmp_path / "folder", tmp_path / "no such folder")
    runs = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": str(seed), "TMPDIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, folder in enumerate(folders)
    ]
    answers = [run.communicate(json.dumps(lines)) for run in runs]
    assert [(json.loads(output), complaint) for output, complaint in answers] == [(split_lines(lines), "")] * len(runs)
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
def test_wikipedia_is_split_as_by_jieba(jieba: ModuleType) -> None:
    with lzma.open(DATA / "text/wiki.zh.txt.xz", "rt", encoding="utf-8") as file:
        lines = [line for line, _ in zip(file, range(5000), strict=False)]
    assert split_lines(lines) == [stock_words(jieba, line) for line in lines]
