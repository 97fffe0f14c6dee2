import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.word_types import LINE_END, concatenated_ranges, numbered_words


def test_types_are_numbered_as_they_come_up() -> None:
    words, type_N = numbered_words(["b a b", "", "a c"], language="x")
    assert words == ["b", "a", "c"]
    assert type_N.tolist() == [1, 2, 1, LINE_END, LINE_END, 2, 3, LINE_END]


@given(st.lists(st.lists(st.sampled_from("abcd"))))
def test_words_can_be_read_back(lines: list[list[str]]) -> None:
    words, type_N = numbered_words((" ".join(line) for line in lines), language="x")
    assert len(set(words)) == len(words)
    spelled = ["\n", *words]
    assert [spelled[number] for number in type_N] == [word for line in lines for word in (*line, "\n")]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_ranges_follow_each_other(ranges: list[tuple[int, int]]) -> None:
    start_R, length_R = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    expected = [number for start, length in ranges for number in range(start, start + length)]
    assert concatenated_ranges(start_R, length_R).tolist() == expected
