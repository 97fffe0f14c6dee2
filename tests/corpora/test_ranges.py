import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.numbered_text import concatenated_ranges


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6))))
def test_ranges_follow_each_other(ranges: list[tuple[int, int]]) -> None:
    start_R, length_R = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    expected = [number for start, length in ranges for number in range(start, start + length)]
    assert concatenated_ranges(start_R, length_R).tolist() == expected
