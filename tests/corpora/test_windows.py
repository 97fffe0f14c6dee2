from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.streams import Windows
from isoglot.errors import IsoglotError
from tests.oracles import windows_one_by_one


def stream(tokens: int) -> np.ndarray:
    return np.arange(100, 100 + tokens, dtype=np.uint16)


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 60), st.integers(0, 60), st.integers(0, 2**31))
def test_windows_are_those_of_a_walk_one_by_one(length: int, extra: int, position: int, count: int, seed: int) -> None:
    ids = stream(length + extra)
    taken = Windows(ids, length=length, seed=seed, name="fr").take(position, count)
    walk = windows_one_by_one(ids.tolist(), length=length, seed=seed, name="fr")
    assert taken.shape == (count, length)
    assert taken.dtype == np.int64
    assert taken.tolist() == list(islice(walk, position, position + count))


def test_order_is_fresh_for_each_pass_seed_and_language() -> None:
    def order(position: int, **settings: object) -> tuple[int, ...]:
        windows = Windows(stream(100), **{"length": 1, "seed": 0, "name": "fr", **settings})  # type: ignore[arg-type]
        return tuple(windows.take(position, 100).ravel().tolist())

    in_stream_order = tuple(range(100, 200))
    assert len({in_stream_order, order(0), order(100), order(200), order(0, seed=1), order(0, name="en")}) == 6


@given(st.lists(st.integers(0, 7), max_size=12))
def test_resuming_at_a_position_continues_the_same_windows(counts: list[int]) -> None:
    whole = Windows(stream(23), length=4, seed=3, name="fr").take(0, sum(counts))
    position = 0
    for count in counts:
        resumed = Windows(stream(23), length=4, seed=3, name="fr")
        assert resumed.take(position, count).tolist() == whole[position : position + count].tolist()
        position += count


def test_a_stream_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(IsoglotError, match="'fr' has 3 tokens, less than one window of 4"):
        Windows(stream(3), length=4, seed=0, name="fr")
