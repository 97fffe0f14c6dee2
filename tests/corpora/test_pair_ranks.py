import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.bpe_learning import NO_RANK, PairRanks, packed

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
