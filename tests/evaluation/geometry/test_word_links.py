import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.evaluation.geometry.word_alignment import Link, pharaoh_line, pharaoh_links


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
def test_links_come_back_from_their_line(links: list[Link]) -> None:
    assert pharaoh_links(pharaoh_line(links)) == links


def test_lines_as_programs_write_them() -> None:
    assert pharaoh_line([(0, 0), (1, 2)]) == "0-0 1-2"
    assert pharaoh_links(" 0-0  12-3 \r") == [(0, 0), (12, 3)]
    assert pharaoh_links("") == []


@pytest.mark.parametrize("line", ["0", "0-", "-1-2", "0-1-2", "a-b", "0-0,1-1", "\u0660-\u0660", "0-0 1-", "0--1"])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no line such as"):
        pharaoh_links(line)
