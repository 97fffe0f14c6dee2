import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.bpe_learning import numbered_symbols, without_overlaps, word_symbols


def test_symbols_of_words_are_numbered() -> None:
    symbols, number_S, end_W = numbered_symbols(["ab", "b"])
    assert symbols == ["a", "b", "a</w>", "b</w>"]
    assert (number_S.tolist(), end_W.tolist()) == ([0, 3, 3], [2, 3])


@given(st.lists(st.text(st.characters(), min_size=1, max_size=6), max_size=6))
def test_numbers_stand_for_the_symbols_of_each_word(words: list[str]) -> None:
    symbols, number_S, end_W = numbered_symbols(words)
    spelled = [symbols[number] for number in number_S.tolist()]
    assert [spelled[start:end] for start, end in zip([0, *end_W.tolist()], end_W.tolist(), strict=False)] == [
        word_symbols(word) for word in words
    ]
    assert len(set(symbols)) == len(symbols)


@given(st.lists(st.booleans(), max_size=30))
def test_of_places_that_overlap_every_second_is_left_out(holds: list[bool]) -> None:
    at = [place for place, held in enumerate(holds) if held]
    expected = []
    for place in at:
        expected.append(not (expected and place - 1 in at and expected[-1]))
    at_P = np.array(at, dtype=np.int64)
    assert without_overlaps(at_P, next_P=at_P + 1).tolist() == expected
